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

int split_axis(SplitAxis which, int axis, int ndim, const char* tag) {
  if (which == SplitAxis::kHorizontal) return ndim == 1 ? 0 : 1;
  if (which == SplitAxis::kDepth) return 2;
  return normalize_axis(axis, ndim, tag);
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

// A call of an operator, or of its gradient, whatever its parameters are.
struct Cut {
  SplitAxis which;
  const char* name;  // of the operator
  int32_t axis;
  bool squeeze_axis;
  int count;
  const void* params;
  int64_t (*length_of)(const void* params, int i, InferArg data, int axis);

  int axis_of(int ndim) const { return split_axis(which, axis, ndim, name); }
};
template <class P>
Cut cut_of(SplitAxis which, const char* name, const P& params) {
  return {which,
          name,
          params.axis,
          params.squeeze_axis,
          params.count(),
          &params,
          [](const void* same, int i, InferArg data, int axis) {
            return piece_length(*static_cast<const P*>(same), i, data, axis);
          }};
}

// From the pieces to what is cut: its shape, where all are known.
void infer_backwards(const Cut& cut, Infer& infer) {
  if (cut.which != SplitAxis::kParameter || cut.squeeze_axis) return;
  Shape whole = infer.out(0).shape();
  if (!whole.rank_known() || whole.ndim() == 0) return;
  const int axis = cut.axis_of(whole.ndim());
  int64_t total = 0;
  for (int i = 0; i < infer.num_out(); ++i) {
    const Shape& piece = infer.out(i).shape();
    const bool fits = piece.ndim() == whole.ndim();
    total = length::plus(total, fits ? piece[axis] : Shape::kUnknownDim);
  }
  whole[axis] = total;
  infer.in(0).set_shape(whole);
}

void infer_pieces(const Cut& cut, Infer& infer) {
  InferArg data = infer.in(0);
  for (int i = 0; i < infer.num_out(); ++i) data.same_dtype(infer.out(i));
  if (infer.num_out() == 0) infer.fail("given neither indices nor sections, expected one of them");
  if (!data.known()) infer_backwards(cut, infer);
  if (!data.rank_known()) return;
  if (cut.which == SplitAxis::kHorizontal && data.ndim() < 1) data.fail("at least one dimension");
  if (cut.which == SplitAxis::kDepth && data.ndim() < 3) data.fail("at least three dimensions");
  const int axis = cut.axis_of(data.ndim());
  for (int i = 0; i < infer.num_out(); ++i) {
    const Shape& piece = infer.out(i).shape();
    if (piece.ndim() != data.ndim() - (cut.squeeze_axis ? 1 : 0)) continue;
    for (int d = 0, from = 0; d < data.ndim(); ++d) {
      if (d != axis && data.dim(d) < 0) data.set_dim(d, piece[from]);
      if (d != axis || !cut.squeeze_axis) ++from;
    }
  }
  if (data.dim(axis) < 0) return;
  for (int i = 0; i < infer.num_out(); ++i) {
    const int64_t length = cut.length_of(cut.params, i, data, axis);
    if (cut.squeeze_axis && length != 1)
      data.fail(fmt::format("pieces of 1 in dimension {} to squeeze it", axis));
    Shape piece = Shape::scalar();
    for (int d = 0; d < data.ndim(); ++d) {
      if (d != axis) {
        piece.push_back(data.dim(d));
      } else if (!cut.squeeze_axis) {
        piece.push_back(length);
      }
    }
    infer.out(i).set_shape(piece);
  }
}

void split_pieces(const Cut& cut, KernelContext& context) {
  InlineVector<Tensor, 8> pieces;
  for (int i = 0; i < context.num_out(); ++i) pieces.push_back(context.out(i));
  const Tensor& whole = context.in(0);
  copy_parts(whole, cut.axis_of(whole.ndim()), pieces.span(), PartsCopy::kSplit, context);
}
Gradients split_gradient(const Cut& cut, Grad& grad) {
  std::vector<Value> inputs{grad.in(0)};
  for (int i = 0; i < cut.count; ++i) inputs.push_back(grad.dout(i));
  return {apply(std::string("_backward_") + cut.name, inputs, grad.attrs())};
}

// The gradient, _backward_<name>: the array, for its shape, then the gradients of the pieces.
void infer_back(const Cut& cut, Infer& infer) {
  if (cut.count == 0) infer.fail("given neither indices nor sections, expected one of them");
  const InferArg data[] = {infer.in(0)};
  InlineVector<InferArg, 8> pieces;
  for (int i = 1; i < infer.num_in(); ++i) pieces.push_back(infer.in(i));
  infer.follow([&](Infer& forward) { infer_pieces(cut, forward); }, data, pieces.span());
  for (int i = 2; i < infer.num_in(); ++i) infer.in(1).same_dtype(infer.in(i));
  infer.out(0).same_shape(infer.in(0)).same_dtype(infer.in(1));
}
void join_pieces(const Cut& cut, KernelContext& context) {
  InlineVector<Tensor, 8> pieces;
  for (int i = 1; i < context.num_in(); ++i) pieces.push_back(context.in(i));
  const Tensor& whole = context.out(0);
  copy_parts(whole, cut.axis_of(whole.ndim()), pieces.span(), PartsCopy::kJoin, context);
}
Gradients gradient_of_gradient(const Cut& cut, Grad& grad) {
  const Value pieces = apply(cut.name, {grad.dout(0)}, grad.attrs());
  Gradients result(1);
  for (int i = 0; i < cut.count; ++i) result.push_back(output(pieces, i));
  return result;
}

// The operator named `kName` and its gradient.
template <SplitAxis which, class P, const char* kName>
OpBuilder<P> define(const char* doc, void (*declare)(OpBuilder<P>&)) {
  OpBuilder<P> op(kName);
  op.doc(doc).input("data", "The array.");
  declare(op);
  op.outputs([](const P& p) { return p.count(); })
      .infer([](const P& p, Infer& infer) { infer_pieces(cut_of(which, kName, p), infer); })
      .cpu([](const P& p, KernelContext& call) { split_pieces(cut_of(which, kName, p), call); })
      .grad([](const P& p, Grad& grad) { return split_gradient(cut_of(which, kName, p), grad); });
  OpBuilder<P> back((std::string("_backward_") + kName).c_str());
  back.doc("Gradient of the operator after whose name it is called.")
      .input("data", "The array; only its shape matters.")
      .input("head_grads", "Gradients of the pieces.")
      .num_inputs([](const P& p) { return 1 + std::min(p.count(), INT32_MAX - 1); })
      .type_only(0)
      .infer([](const P& p, Infer& infer) { infer_back(cut_of(which, kName, p), infer); })
      .cpu([](const P& p, KernelContext& call) { join_pieces(cut_of(which, kName, p), call); })
      .grad([](const P& p, Grad& grad) {
        return gradient_of_gradient(cut_of(which, kName, p), grad);
      });
  declare(back);
  mark_portable(kName);
  mark_portable(std::string("_backward_") + kName);
  return op;
}

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
  define<SplitAxis::kParameter, SliceChannelParams, kSliceChannel>(
      "The array cut into equal pieces.", slice_channel_params)
      .alias("split")
      .output("output0");  // an only piece is numbered, too
  define<SplitAxis::kParameter, SplitParams, kSplit>("The array cut at positions or into sections.",
                                                     split_params)
      .alias("_npi_split");
  define<SplitAxis::kHorizontal, SplitParams, kHsplit>(
      "The array cut along its second dimension, or its only one.", split_params);
  define<SplitAxis::kDepth, SplitParams, kDsplit>("The array cut along its third dimension.",
                                                  split_params);
  return true;
}();

}  // namespace
}  // namespace mxnet
