// SPDX-License-Identifier: Apache-2.0
// Parts of an array: slice, slice_axis, slice_like and Crop. Each says which box it means; reading
// it, and writing a gradient back into zeros, is common to all.
#include <fmt/format.h>

#include <type_traits>

#include "base/error.h"

#include "base/leaked.h"
#include "op/index/slice_params.h"
#include "op/inline_vector.h"
#include "op/numbered_names.h"
#include "op/op_builder.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

struct SliceAxisParams {
  int32_t axis, begin;
  std::optional<int32_t> end;
};

struct SliceLikeParams {
  Shape axes;
};

struct CropParams {
  int32_t num_args;
  Shape offset, h_w;
  bool center_crop;
};

// box_of(params, shape of data, shape of the pattern if there is one) for each operator.
SliceBox box_of(const SliceParams& params, const Shape& data, const Shape&) {
  return slice_box(params, data);
}

SliceBox box_of(const SliceAxisParams& params, const Shape& data, const Shape&) {
  const int axis = normalize_axis(params.axis, data.ndim(), "slice_axis");
  const int64_t size = data[axis];
  const int64_t begin = params.begin < 0 ? params.begin + size : params.begin;
  int64_t end = params.end.value_or(static_cast<int32_t>(0));
  end = params.end ? (end < 0 ? end + size : end) : size;
  const bool all_of_nothing = size == 0 && begin == 0 && end == 0;
  if (!all_of_nothing && (begin < 0 || begin >= end || end > size)) {
    throw Error(ErrorCode::kValue, "slice_axis",
                fmt::format("given begin {} and end {} on axis {} of {}, expected 0 <= begin < end "
                            "<= {}",
                            begin, end, axis, to_string(data), size));
  }
  SliceBox box(data);
  box.set(axis, {begin, 1, end - begin});
  return box;
}

SliceBox box_of(const SliceLikeParams& params, const Shape& data, const Shape& like) {
  SliceBox box(data);
  const auto limit = [&](int axis, int like_axis) {
    if (like[like_axis] > data[axis]) {
      throw Error(ErrorCode::kValue, "slice_like",
                  fmt::format("given data {} and shape_like {}, expected data to be at least as "
                              "large on axis {}",
                              to_string(data), to_string(like), axis));
    }
    box.set(axis, {0, 1, like[like_axis]});
  };
  if (params.axes.empty()) {
    if (data.ndim() != like.ndim()) {
      throw Error(ErrorCode::kValue, "slice_like",
                  fmt::format("given data {} and shape_like {} without axes, expected as many "
                              "dimensions",
                              to_string(data), to_string(like)));
    }
    for (int i = 0; i < data.ndim(); ++i) limit(i, i);
  }
  for (const int64_t axis : params.axes.dims()) {
    limit(normalize_axis(axis, data.ndim(), "slice_like"),
          normalize_axis(axis, like.ndim(), "slice_like"));
  }
  return box;
}

SliceBox box_of(const CropParams& params, const Shape& data, const Shape& like) {
  SliceBox box(data);
  if (data.ndim() != 4 || params.offset.ndim() != 2 || params.h_w.ndim() != 2 ||
      (like.rank_known() && like.ndim() != 4)) {
    throw Error(ErrorCode::kValue, "Crop",
                fmt::format("given data {}, offset {}, h_w {}, expected four dimensions and pairs",
                            to_string(data), to_string(params.offset), to_string(params.h_w)));
  }
  for (int i = 0; i < 2; ++i) {
    const int64_t size = data[i + 2];
    const int64_t count = like.rank_known() ? like[i + 2] : params.h_w[i];
    const int64_t begin = params.center_crop ? (size - count) / 2 : params.offset[i];
    if (count <= 0 || count > size || begin < 0 || begin + count > size) {
      throw Error(ErrorCode::kValue, "Crop",
                  fmt::format("given {} elements from {} on axis {} of {}, expected them inside",
                              count, begin, i + 2, to_string(data)));
    }
    box.set(i + 2, {begin, 1, count});
  }
  return box;
}

const Shape& unknown() {
  static Leaked<Shape> none;
  return *none;
}

const Shape& pattern(const Tensor* like) { return like == nullptr ? unknown() : like->shape(); }

template <class P>
void slice_cpu(const P& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Tensor* like = context.num_in() > 1 ? &context.in(1) : nullptr;
  box_of(params, in.shape(), pattern(like))
      .read(in.data, context.out(0).data, dtype_size(in.dtype), context);
}

// Inputs: gradient, data, perhaps the pattern.
template <class P>
void backward_slice_cpu(const P& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const Tensor* like = context.num_in() > 2 ? &context.in(2) : nullptr;
  const std::size_t bytes = dtype_size(out.dtype);
  clear_memory(context, out.data, static_cast<std::size_t>(out.size()) * bytes);
  box_of(params, out.shape(), pattern(like)).write(out.data, context.in(0).data, bytes, context);
}

// The shape of the box where some dimensions of data are unknown: these count as endless. What is
// left of them is unknown again, but for operators that refuse data that is too short.
template <class P>
Shape known_of_box(const P& params, const Shape& data, const Shape& like) {
  if (data.known()) return box_of(params, data, like).shape();
  constexpr int64_t kEndless = int64_t{1} << 40;
  constexpr bool kShortens = std::is_same_v<P, SliceParams>;
  Shape endless = data;
  for (int i = 0; i < data.ndim(); ++i)
    if (data[i] < 0) endless[i] = kEndless;
  Shape shape = box_of(params, endless, like).shape();
  for (int i = 0; i < data.ndim(); ++i)
    if (data[i] < 0 && (kShortens || shape[i] >= kEndless / 2)) shape[i] = -1;
  return shape;
}

// Which dimension of the pattern says how long one of the result is; -1 = none does.
int pattern_axis(const SliceLikeParams& params, int axis, const Shape& data, const Shape& like) {
  if (params.axes.empty()) return data.ndim() == like.ndim() ? axis : -1;
  for (const int64_t named : params.axes.dims()) {
    if (normalize_axis(named, data.ndim(), "slice_like") == axis)
      return normalize_axis(named, like.ndim(), "slice_like");
  }
  return -1;
}
int pattern_axis(const CropParams&, int axis, const Shape& data, const Shape& like) {
  return axis >= 2 && data.ndim() == like.ndim() ? axis : -1;
}

// What a pattern says that is known in part: the dimensions that it gives are the result's, and
// those that it does not name the data's. Whether they fit is seen when all is known.
template <class P>
Shape known_of_pattern(const P& params, const Shape& data, const Shape& like) {
  Shape shape = data;
  for (int i = 0; i < data.ndim(); ++i) {
    const int from = pattern_axis(params, i, data, like);
    if (from >= 0) shape[i] = like[from];
  }
  return shape;
}

template <class P>
void infer_slice(const P& params, Infer& infer) {
  infer.in(0).same_dtype(infer.out(0));
  if (infer.num_in() > 1 && infer.in(1).dtype() == DType::kUnknown)
    infer.in(1).set_dtype(infer.in(0).dtype());
  const Shape& like = infer.num_in() > 1 ? infer.in(1).shape() : unknown();
  const Shape& data = infer.in(0).shape();
  if (!data.rank_known() || (infer.num_in() > 1 && !like.rank_known())) return;
  if constexpr (requires { pattern_axis(params, 0, data, like); }) {
    if (infer.num_in() > 1 && !like.known()) {
      infer.out(0).set_shape(known_of_pattern(params, data, like));
      return;
    }
  }
  infer.out(0).set_shape(known_of_box(params, data, like));
}

// Inputs: gradient of the result, then what was sliced and the pattern, if there is one.
template <class P>
void infer_backward(const P& params, Infer& infer) {
  InlineVector<InferArg, 2> given;
  for (int i = 1; i < infer.num_in(); ++i) given.push_back(infer.in(i));
  const InferArg result[] = {infer.in(0)};
  infer.follow([&params](Infer& forward) { infer_slice(params, forward); }, given.span(), result);
  infer.out(0).same_as(infer.in(1));
  infer.in(0).same_dtype(infer.out(0));
}

// `op` takes the gradient on: of a slice it is the backward operator, which wants data and pattern
// too for their shapes; of that one it is the same slice again, to which those from input 2 on go.
Gradients gradient(const char* op, int first_kept, Grad& grad) {
  Gradients result(static_cast<std::size_t>(grad.num_in()));
  if (!grad.wants(0)) return result;
  std::vector<Value> inputs{grad.dout(0)};
  for (int i = first_kept; i < grad.num_in(); ++i) inputs.push_back(grad.in(i));
  result[0] = apply(op, inputs, grad.attrs());
  return result;
}

template <class P>
void add_params(OpBuilder<P>& op);

template <>
void add_params(OpBuilder<SliceParams>& op) {
  add_slice_params(op);
}
template <>
void add_params(OpBuilder<SliceAxisParams>& op) {
  op.param("axis", &SliceAxisParams::axis, "The axis; negative ones count from the last.")
      .param("begin", &SliceAxisParams::begin, "First position; negative ones count from the end.")
      .param("end", &SliceAxisParams::end, "Position after the last, or None.");
}
template <>
void add_params(OpBuilder<SliceLikeParams>& op) {
  op.param("axes", &SliceLikeParams::axes, Shape::scalar(), "Axes to slice; none means all.")
      .type_text("Shape(tuple), optional, default=[]");
}
template <>
void add_params(OpBuilder<CropParams>& op) {
  op.param("num_args", &CropParams::num_args, "Number of inputs.")
      .template range<int32_t>(1, 2)
      .param("offset", &CropParams::offset, Shape{0, 0}, "First row and column.")
      .param("h_w", &CropParams::h_w, Shape{0, 0}, "Height and width, without a pattern.")
      .param("center_crop", &CropParams::center_crop, false, "Whether to cut from the middle.");
}

// The operator and its gradient; `patterns` inputs after data give only their shape.
#define MX_DEFINE_SLICE(function, P, name, text, patterns)                       \
  bool function() {                                                              \
    OpBuilder<P> op(name);                                                       \
    op.doc(text);                                                                \
    add_inputs(op);                                                              \
    add_params(op);                                                              \
    if (patterns > 0) op.type_only(1);                                           \
    op.infer(infer_slice<P>).cpu(slice_cpu<P>).grad([](const P&, Grad& grad) {   \
      return gradient("_backward_" name, 0, grad);                               \
    });                                                                          \
    OpBuilder<P> backward("_backward_" name);                                    \
    backward.doc("Puts a gradient to where the slice was, into zeros.")          \
        .input("head_grad", "Gradient of the output.")                           \
        .input("data", "Its shape is that of the result.");                      \
    add_params(backward);                                                        \
    backward.type_only(1).type_only(2).num_inputs(backward_inputs);              \
    backward.infer(infer_backward<P>).cpu(backward_slice_cpu<P>);                \
    backward.grad([](const P&, Grad& grad) { return gradient(name, 2, grad); }); \
    return true;                                                                 \
  }                                                                              \
  [[maybe_unused]] const bool done_##function = function()

int backward_inputs(const SliceParams&) { return 2; }
int backward_inputs(const SliceAxisParams&) { return 2; }
int backward_inputs(const SliceLikeParams&) { return 3; }
int backward_inputs(const CropParams& params) { return params.num_args + 1; }

void add_inputs(OpBuilder<SliceParams>& op) {
  op.input("data", "The array.");
  for (const char* alias : {"_npi_slice", "_npx_slice", "_sparse_slice", "crop"}) op.alias(alias);
}
void add_inputs(OpBuilder<SliceAxisParams>& op) { op.input("data", "The array."); }
void add_inputs(OpBuilder<SliceLikeParams>& op) {
  op.input("data", "The array.").input("shape_like", "Its shape says how much is left.");
}
void add_inputs(OpBuilder<CropParams>& op) {
  op.inputs("data", "Images, and perhaps some of the wanted size.", &CropParams::num_args,
            "num_args")
      .input_type("Symbol or Symbol[]")
      // What networks have always called inputs that they do not name.
      .input_names([](const CropParams& params) { return numbered_names("arg", params.num_args); });
}

MX_DEFINE_SLICE(define_slice, SliceParams, "slice",
                "Part of an array: begin, end and step of each of the first axes.", 0);
MX_DEFINE_SLICE(define_slice_axis, SliceAxisParams, "slice_axis", "Part of an array on one axis.",
                0);
MX_DEFINE_SLICE(define_slice_like, SliceLikeParams, "slice_like",
                "The leading part of an array that has the shape of another.", 1);
MX_DEFINE_SLICE(define_crop, CropParams, "Crop", "Part of the height and width of images.", 1);
#undef MX_DEFINE_SLICE

[[maybe_unused]] const bool portable =
    mark_portable({"slice", "slice_axis", "slice_like", "Crop", "_backward_slice",
                   "_backward_slice_axis", "_backward_slice_like", "_backward_Crop"});

}  // namespace
}  // namespace mxnet
