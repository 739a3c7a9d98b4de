// SPDX-License-Identifier: Apache-2.0
// Reshape with its special codes, Flatten, and reshape_like.
#include <fmt/format.h>

#include "ndarray/reshape_codes.h"
#include "op/length.h"
#include "op/shape/same_elements.h"

namespace mxnet {
namespace {

struct ReshapeParams {
  Shape shape, target_shape;
  bool reverse, keep_highest;
};

// The older form: 0 stands for the dimension that follows from the others.
Shape from_target(const ReshapeParams& params, const Shape& in, Infer& infer) {
  Shape out = params.target_shape;
  if (params.keep_highest) {
    if (in.empty()) infer.in(0).fail("at least one dimension to keep");
    out[0] = in[0];
  }
  int missing = -1;
  int64_t rest = 1;
  for (int i = 0; i < out.ndim(); ++i) {
    const bool kept = i == 0 && params.keep_highest;
    if (out[i] != 0 || kept) {
      rest *= out[i];
    } else if (missing >= 0) {
      infer.fail(fmt::format("given target_shape {}, expected at most one 0",
                             to_string(params.target_shape)));
    } else {
      missing = i;
    }
  }
  if (missing >= 0) out[missing] = rest == 0 ? 0 : in.size() / rest;
  return out;
}

// What the codes say of the result while dimensions of the input are unknown.
void set_partly_reshaped(const ReshapeParams& p, Infer& infer) {
  if (!infer.in(0).rank_known() || p.shape.empty()) return;
  infer.out(0).set_shape(resolve_reshape(infer.in(0).shape(), p.shape.dims(), p.reverse));
}

MX_OP(Reshape, ReshapeParams)
.alias("reshape")
    .doc(
        "The elements of `data` in another shape. In `shape` 0 keeps a dimension, -1 is inferred, "
        "-2 "
        "takes all that remain, -3 merges two, -4 splits one into the two that follow.")
    .input("data", "The array.")
    .param("shape", &ReshapeParams::shape, Shape::scalar(), "The shape, with codes.")
    .param("reverse", &ReshapeParams::reverse, false, "Whether codes are read from right to left.")
    .param("target_shape", &ReshapeParams::target_shape, Shape::scalar(),
           "Older form of `shape` in which 0 is inferred.")
    .param("keep_highest", &ReshapeParams::keep_highest, false,
           "With target_shape: whether the first dimension stays as it is.")
    .inplace(0, 0)
    .infer([](const ReshapeParams& p, Infer& infer) {
      infer.in(0).same_dtype(infer.out(0));
      infer_missing_dim(infer);
      if (!infer.in(0).known()) return set_partly_reshaped(p, infer);
      const Shape& in = infer.in(0).shape();
      if (!p.shape.empty()) {
        set_reshaped(infer, resolve_reshape(in, p.shape.dims(), p.reverse));
      } else if (!p.target_shape.empty()) {
        set_reshaped(infer, from_target(p, in, infer));
      } else if (infer.out(0).known()) {
        set_reshaped(infer, infer.out(0).shape());
      } else {
        infer.fail("given neither shape nor target_shape, expected one of them");
      }
    })
    .cpu(reshape_cpu<ReshapeParams>)
    .grad(reshape_grad<ReshapeParams>);

MX_OP(Flatten, NoParams)
.alias("flatten")
    .alias("_npx_batch_flatten")
    .doc("All dimensions but the first in one.")
    .input("data", "An array of at least one dimension.")
    .lenient()
    .inplace(0, 0)
    .infer([](const NoParams&, Infer& infer) {
      infer.in(0).same_dtype(infer.out(0));
      infer_missing_dim(infer);
      if (!infer.in(0).rank_known()) return;
      const Shape& in = infer.in(0).shape();
      if (in.empty()) infer.in(0).fail("at least one dimension");
      int64_t rest = 1;
      for (int i = 1; i < in.ndim(); ++i) rest = length::times(rest, in[i]);
      infer.out(0).set_shape({in[0], rest});
      infer.in(0).set_dim(0, infer.out(0).dim(0));
    })
    .cpu(reshape_cpu<NoParams>)
    .grad(reshape_grad<NoParams>);

struct ReshapeLikeParams {
  std::optional<int32_t> lhs_begin, lhs_end, rhs_begin, rhs_end;
};

struct Span {
  int begin, end;
};

Span span_of(std::optional<int32_t> begin, std::optional<int32_t> end, InferArg arg) {
  const int ndim = arg.ndim();
  const auto position = [&](int32_t given) {
    const int at = given < 0 ? given + ndim : given;
    if (at < 0 || at > ndim) arg.fail(fmt::format("dimensions up to {}", given));
    return at;
  };
  const Span span{position(begin.value_or(0)), end ? position(*end) : ndim};
  if (span.begin > span.end)
    arg.fail(fmt::format("a range of dimensions, not [{}, {})", span.begin, span.end));
  return span;
}

void infer_reshape_like(const ReshapeLikeParams& params, Infer& infer) {
  InferArg lhs = infer.in(0), rhs = infer.in(1);
  lhs.same_dtype(infer.out(0));
  if (!lhs.known() || !rhs.known()) return;
  const Span from = span_of(params.lhs_begin, params.lhs_end, lhs);
  const Span to = span_of(params.rhs_begin, params.rhs_end, rhs);
  Shape result = Shape::scalar();
  for (int i = 0; i < from.begin; ++i) result.push_back(lhs.dim(i));
  for (int i = to.begin; i < to.end; ++i) result.push_back(rhs.dim(i));
  for (int i = from.end; i < lhs.ndim(); ++i) result.push_back(lhs.dim(i));
  set_reshaped(infer, result);
}

MX_OP(reshape_like, ReshapeLikeParams)
.alias("_npx_reshape_like")
    .doc("The elements of `lhs` in the shape of `rhs`, or with some of its dimensions.")
    .input("lhs", "The array.")
    .input("rhs", "Only its shape matters.")
    .param("lhs_begin", &ReshapeLikeParams::lhs_begin, std::nullopt,
           "First dimension of lhs that is replaced; 0 by default.")
    .param("lhs_end", &ReshapeLikeParams::lhs_end, std::nullopt,
           "Dimension of lhs that is no longer replaced; all by default.")
    .param("rhs_begin", &ReshapeLikeParams::rhs_begin, std::nullopt,
           "First dimension of rhs that is taken; 0 by default.")
    .param("rhs_end", &ReshapeLikeParams::rhs_end, std::nullopt,
           "Dimension of rhs that is no longer taken; all by default.")
    .type_only(1)
    .inplace(0, 0)
    .infer(infer_reshape_like)
    .cpu(reshape_cpu<ReshapeLikeParams>)
    .grad(reshape_grad<ReshapeLikeParams>);

[[maybe_unused]] const bool portable = mark_portable({"Reshape", "Flatten", "reshape_like"});

}  // namespace
}  // namespace mxnet
