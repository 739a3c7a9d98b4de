// SPDX-License-Identifier: Apache-2.0
// An array cut along one dimension.
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "op/inline_vector.h"
#include "op/length.h"
#include "op/op_builder.h"
#include "op/run/gpu.h"
#include "op/shape/joining.h"

namespace mxnet {
namespace {

struct SliceChannelParams {
  int32_t num_outputs;
  int32_t axis;
  bool squeeze_axis;

  int count() const { return num_outputs; }
};

// Cut at given positions, or into a number of sections.
struct SplitParams {
  std::vector<std::optional<int64_t>> indices;  // more of them than a Shape takes
  int32_t axis;
  bool squeeze_axis;
  int32_t sections;

  int count() const { return sections > 0 ? sections : static_cast<int>(indices.size()); }
};

// How an operator finds its dimension.
enum class SplitAxis : uint8_t { kParameter, kHorizontal, kDepth };

template <SplitAxis which, class P>
int split_axis(const P& params, int ndim, const char* tag) {
  if constexpr (which == SplitAxis::kHorizontal) return ndim == 1 ? 0 : 1;
  if constexpr (which == SplitAxis::kDepth) return 2;
  return normalize_axis(params.axis, ndim, tag);
}

// Length of piece i of a dimension of `size`.
int64_t piece_length(const SliceChannelParams& params, int, InferArg data, int axis) {
  const int64_t size = data.dim(axis);
  if (size % params.num_outputs != 0) {
    data.fail(fmt::format("a size in dimension {} that num_outputs {} divides", axis,
                          params.num_outputs));
  }
  return size / params.num_outputs;
}

int64_t piece_length(const SplitParams& params, int i, InferArg data, int axis) {
  const int64_t size = data.dim(axis);
  if (params.sections > 0)  // the first ones take what remains of the division
    return size / params.sections + (i < size % params.sections ? 1 : 0);
  const auto cut = [&](int at) {  // -1 where None is given
    return params.indices[static_cast<std::size_t>(at)].value_or(-1);
  };
  const int64_t first = cut(i), last = i + 1 < params.count() ? cut(i + 1) : size;
  if (first < 0 || first > last || last > size || cut(0) != 0) {
    data.fail(fmt::format(
        "a size in dimension {} to cut at rising indices from 0, not from {} to {} of {}", axis,
        first, last, size));
  }
  return last - first;
}

// From the pieces to what is cut: its shape, where all are known.
template <SplitAxis which, class P>
void infer_backwards(const P& params, Infer& infer, const char* tag) {
  if (which != SplitAxis::kParameter || params.squeeze_axis) return;
  Shape whole = infer.out(0).shape();
  if (!whole.rank_known() || whole.ndim() == 0) return;
  const int axis = normalize_axis(params.axis, whole.ndim(), tag);
  int64_t total = 0;
  for (int i = 0; i < infer.num_out(); ++i) {
    const Shape& piece = infer.out(i).shape();
    const bool fits = piece.ndim() == whole.ndim();
    total = length::plus(total, fits ? piece[axis] : Shape::kUnknownDim);
  }
  whole[axis] = total;
  infer.in(0).set_shape(whole);
}

template <SplitAxis which, class P>
void infer_pieces(const P& params, Infer& infer, const char* tag) {
  InferArg data = infer.in(0);
  for (int i = 0; i < infer.num_out(); ++i) data.same_dtype(infer.out(i));
  if (infer.num_out() == 0) infer.fail("given neither indices nor sections, expected one of them");
  if (!data.known()) infer_backwards<which>(params, infer, tag);
  if (!data.rank_known()) return;
  if (which == SplitAxis::kHorizontal && data.ndim() < 1) data.fail("at least one dimension");
  if (which == SplitAxis::kDepth && data.ndim() < 3) data.fail("at least three dimensions");
  const int axis = split_axis<which>(params, data.ndim(), tag);
  for (int i = 0; i < infer.num_out(); ++i) {
    const Shape& piece = infer.out(i).shape();
    if (piece.ndim() != data.ndim() - (params.squeeze_axis ? 1 : 0)) continue;
    for (int d = 0, from = 0; d < data.ndim(); ++d) {
      if (d != axis && data.dim(d) < 0) data.set_dim(d, piece[from]);
      if (d != axis || !params.squeeze_axis) ++from;
    }
  }
  if (data.dim(axis) < 0) return;
  for (int i = 0; i < infer.num_out(); ++i) {
    const int64_t length = piece_length(params, i, data, axis);
    if (params.squeeze_axis && length != 1)
      data.fail(fmt::format("pieces of 1 in dimension {} to squeeze it", axis));
    Shape piece = Shape::scalar();
    for (int d = 0; d < data.ndim(); ++d) {
      if (d != axis) {
        piece.push_back(data.dim(d));
      } else if (!params.squeeze_axis) {
        piece.push_back(length);
      }
    }
    infer.out(i).set_shape(piece);
  }
}

// The operator named `kName` and its gradient, _backward_<kName>: the array, for its shape, then
// the gradients of the pieces.
template <SplitAxis which, class P, const char* kName>
struct Definition {
  static void split(const P& params, KernelContext& context) {
    InlineVector<Tensor, 8> pieces;
    for (int i = 0; i < context.num_out(); ++i) pieces.push_back(context.out(i));
    const Tensor& whole = context.in(0);
    copy_parts(whole, split_axis<which>(params, whole.ndim(), kName), pieces.span(),
               PartsCopy::kSplit, context);
  }
  static void join(const P& params, KernelContext& context) {
    InlineVector<Tensor, 8> pieces;
    for (int i = 1; i < context.num_in(); ++i) pieces.push_back(context.in(i));
    const Tensor& whole = context.out(0);
    copy_parts(whole, split_axis<which>(params, whole.ndim(), kName), pieces.span(),
               PartsCopy::kJoin, context);
  }
  static Gradients gradient(const P& params, Grad& grad) {
    std::vector<Value> inputs{grad.in(0)};
    for (int i = 0; i < params.count(); ++i) inputs.push_back(grad.dout(i));
    return {apply(std::string("_backward_") + kName, inputs, grad.attrs())};
  }
  static Gradients gradient_of_gradient(const P& params, Grad& grad) {
    const Value pieces = apply(kName, {grad.dout(0)}, grad.attrs());
    Gradients result(1);
    for (int i = 0; i < params.count(); ++i) result.push_back(output(pieces, i));
    return result;
  }
  static void infer(const P& params, Infer& infer) { infer_pieces<which>(params, infer, kName); }

  static void infer_back(const P& params, Infer& infer) {
    if (params.count() == 0) infer.fail("given neither indices nor sections, expected one of them");
    const InferArg data[] = {infer.in(0)};
    InlineVector<InferArg, 8> pieces;
    for (int i = 1; i < infer.num_in(); ++i) pieces.push_back(infer.in(i));
    infer.follow([&params](Infer& forward) { Definition::infer(params, forward); }, data,
                 pieces.span());
    for (int i = 2; i < infer.num_in(); ++i) infer.in(1).same_dtype(infer.in(i));
    infer.out(0).same_shape(infer.in(0)).same_dtype(infer.in(1));
  }

  static OpBuilder<P> define(const char* doc, void (*declare)(OpBuilder<P>&)) {
    OpBuilder<P> op(kName);
    op.doc(doc).input("data", "The array.");
    declare(op);
    op.outputs([](const P& p) { return p.count(); }).infer(infer).cpu(split).grad(gradient);
    OpBuilder<P> back((std::string("_backward_") + kName).c_str());
    back.doc("Gradient of the operator after whose name it is called.")
        .input("data", "The array; only its shape matters.")
        .input("head_grads", "Gradients of the pieces.")
        .num_inputs([](const P& p) { return 1 + std::min(p.count(), INT32_MAX - 1); })
        .type_only(0)
        .infer(infer_back)
        .cpu(join)
        .grad(gradient_of_gradient);
    declare(back);
    mark_portable(kName);
    mark_portable(std::string("_backward_") + kName);
    return op;
  }
};

void slice_channel_params(OpBuilder<SliceChannelParams>& op) {
  op.param("num_outputs", &SliceChannelParams::num_outputs, "Number of pieces.")
      .at_least<int32_t>(1);
  op.param("axis", &SliceChannelParams::axis, 1, "The dimension that is cut.");
  op.param("squeeze_axis", &SliceChannelParams::squeeze_axis, false,
           "Whether the dimension, then 1, is removed from the pieces.");
}

void split_params(OpBuilder<SplitParams>& op) {
  op.param("indices", &SplitParams::indices, "Where pieces begin: rising, the first 0.");
  op.param("axis", &SplitParams::axis, 1, "The dimension that is cut.");
  op.param("squeeze_axis", &SplitParams::squeeze_axis, false,
           "Whether the dimension, then 1, is removed from the pieces.");
  op.param("sections", &SplitParams::sections, 0, "Number of pieces; 0 if indices are given.");
}

constexpr char kSliceChannel[] = "SliceChannel";
constexpr char kSplit[] = "_split_v2";
constexpr char kHsplit[] = "_npi_hsplit";
constexpr char kDsplit[] = "_npi_dsplit";

[[maybe_unused]] const bool defined = [] {
  Definition<SplitAxis::kParameter, SliceChannelParams, kSliceChannel>::define(
      "The array cut into equal pieces.", slice_channel_params)
      .alias("split")
      .output("output0");  // an only piece is numbered, too
  Definition<SplitAxis::kParameter, SplitParams, kSplit>::define(
      "The array cut at positions or into sections.", split_params)
      .alias("_npi_split");
  Definition<SplitAxis::kHorizontal, SplitParams, kHsplit>::define(
      "The array cut along its second dimension, or its only one.", split_params);
  Definition<SplitAxis::kDepth, SplitParams, kDsplit>::define(
      "The array cut along its third dimension.", split_params);
  return true;
}();

}  // namespace
}  // namespace mxnet
