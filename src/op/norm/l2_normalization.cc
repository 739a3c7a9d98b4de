// SPDX-License-Identifier: Apache-2.0
// L2Normalization: length 1, of examples, of positions across channels, or of channels.
#include <cmath>

#include "op/norm/norm_loops.h"
#include "op/norm/row_io.h"
#include "op/norm/row_sums.h"
#include "op/op_builder.h"
#include "op/parallel.h"
#include "op/reduce_engine.h"

namespace mxnet {
namespace {

enum class Mode : uint8_t { kChannel, kInstance, kSpatial };

struct L2Params {
  float eps;
  Mode mode;
};

RowLayout rows_of(const L2Params& params, const Shape& shape) {
  switch (params.mode) {
    case Mode::kChannel:
      return rows_along(shape, 1);
    case Mode::kInstance:
      return rows_behind(shape, 1);
    case Mode::kSpatial:
      return rows_behind(shape, 2);
  }
  return {};
}

// One norm a row: (batch) for examples, (batch, channels) for channels, the data's shape with one
// channel for positions.
void infer_norm(const L2Params& params, InferArg data, InferArg norm) {
  norm.same_dtype(data);
  if (!data.rank_known()) return;
  const int least = params.mode == Mode::kInstance ? 1 : 3;
  if (data.ndim() < least) data.fail("rank " + std::to_string(least) + " or more");
  Shape shape = data.shape();
  if (params.mode == Mode::kChannel) shape[1] = 1;
  if (params.mode == Mode::kInstance) shape = {data.dim(0)};
  if (params.mode == Mode::kSpatial) shape = {data.dim(0), data.dim(1)};
  norm.set_shape(shape);
}

void forward(const L2Params& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0), &norm = context.out(1);
  const RowLayout rows = rows_of(params, in.shape());
  with_row_type(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const NormLoops<C>& loops = norm_loops<C>();
    const bool wide = accumulate_wide();
    map_rows<C>(
        rows, 2.0, out,
        [&](int64_t r, C* y, const C* x) {
          const double square = sum_blocks<C>(rows.length, wide, [&](int64_t at, int64_t n) {
            return loops.dot(x + at, x + at, n);
          });
          const double length = std::sqrt(square + params.eps);
          loops.affine(x, y, rows.length, C(0), static_cast<C>(1.0 / length), C(0));
          write_element(norm, r, length);
        },
        in);
  });
}

// dx = (dy - y * sum(dy * y)) / norm. Inputs: gradient, result, norms.
void backward(const L2Params& params, KernelContext& context) {
  const Tensor &dy = context.in(0), &out = context.in(1), &norm = context.in(2);
  const Tensor& dx = context.out(0);
  const RowLayout rows = rows_of(params, out.shape());
  with_row_type(out.dtype, [&](auto zero) {
    using C = decltype(zero);
    const NormLoops<C>& loops = norm_loops<C>();
    const bool wide = accumulate_wide();
    map_rows<C>(
        rows, 4.0, dx,
        [&](int64_t r, C* to, const C* g, const C* y) {
          const double d = sum_blocks<C>(rows.length, wide, [&](int64_t at, int64_t n) {
            return loops.dot(g + at, y + at, n);
          });
          const double scale = 1.0 / read_element(norm, r);
          loops.affine_grad(g, y, to, rows.length, C(0), static_cast<C>(scale),
                            static_cast<C>(-d * scale), C(0));
        },
        dy, out);
  });
}

OpBuilder<L2Params>& add_params(OpBuilder<L2Params>& op) {
  return op.param("eps", &L2Params::eps, 1e-10f, "Added to the sum of squares.")
      .choice(
          "mode", &L2Params::mode,
          {{"channel", Mode::kChannel}, {"instance", Mode::kInstance}, {"spatial", Mode::kSpatial}},
          "instance",
          "What gets length 1: instance, each example; channel, each position across channels; "
          "spatial, each channel of an example.")
      .dtypes(kFloating);
}

bool define() {
  OpBuilder<L2Params> op("L2Normalization");
  op.doc("The data divided by the root of its sum of squares.").input("data", "The array.");
  add_params(op)
      .outputs([](const L2Params&) { return 2; })
      .visible_outputs([](const L2Params&) { return 1; })
      .output("output")
      .output("norm")
      .inplace(0, 0)
      .infer([](const L2Params& params, Infer& infer) {
        infer.in(0).same_as(infer.out(0));
        infer_norm(params, infer.in(0), infer.out(1));
      })
      .cpu(forward)
      .grad([](const L2Params&, Grad& grad) {
        return Gradients{apply("_backward_L2Normalization",
                               {grad.dout(0), grad.out(0), grad.out(1)}, grad.attrs())};
      });
  OpBuilder<L2Params> back("_backward_L2Normalization");
  back.doc("Gradient of L2Normalization.")
      .input("head_grad", "Gradient of the result.")
      .input("output", "Result of the forward call.")
      .input("norm", "Norms of the forward call.");
  add_params(back)
      .inplace(0, 0)
      .inplace(1, 0)
      .infer([](const L2Params& params, Infer& infer) {
        infer.in(0).same_as(infer.in(1)).same_as(infer.out(0));
        infer_norm(params, infer.in(1), infer.in(2));
      })
      .cpu(backward);
  return true;
}

[[maybe_unused]] const bool defined = define();

}  // namespace
}  // namespace mxnet
