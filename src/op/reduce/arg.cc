// SPDX-License-Identifier: Apache-2.0
// argmax, argmin and NumPy's; what they are called with, in arg_positions the loops.
#include <optional>

#include "op/op_builder.h"
#include "op/reducing/arg_positions.h"
#include "op/reducing/axes.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"

namespace mxnet {
namespace {

struct ArgParams {
  std::optional<int32_t> axis;
  bool keepdims;
};

template <bool largest, AxisStyle style>
constexpr const char* kName = style == AxisStyle::kNumpy ? (largest ? "_npi_argmax" : "_npi_argmin")
                                                         : (largest ? "argmax" : "argmin");

AxisChoice choice_of(const ArgParams& params, AxisStyle style) {
  AxisChoice choice{std::nullopt, params.keepdims, false, style};
  if (params.axis) choice.axis = Shape{*params.axis};
  return choice;
}

void run_tensor(bool largest, std::optional<int64_t> axis, KernelContext& context,
                const char* tag) {
  const Tensor &in = context.in(0), &out = context.out(0);
  RowLayout rows{1, in.size(), 1};
  if (axis && in.ndim() > 0)  // of a scalar it says nothing
    rows = rows_along(in.shape(), normalize_axis(*axis, in.ndim(), tag));
  if (out.size() == 0) return;
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->arg(context.stream()->native(), largest, in, rows.length, rows.inner, out);
  find_positions(largest, rows, in, out, tag);
}

template <bool largest, AxisStyle style>
void arg_cpu(const ArgParams& params, KernelContext& context) {
  run_tensor(largest, params.axis, context, kName<largest, style>);
}

void check_not_empty(Infer& infer, const AxisChoice& choice, const char* tag) {
  const Shape& shape = infer.in(0).shape();
  if (shape.known() && reduces_nothing(shape, choice.axes(shape.ndim(), tag)))
    infer.in(0).fail("at least one element to choose from");
}

template <bool largest, AxisStyle style>
void infer_arg(const ArgParams& params, Infer& infer) {
  if (style == AxisStyle::kNumpy) {
    infer.out(0).set_dtype(DType::kInt64);
  } else {
    infer.one_dtype();
  }
  if (!infer.in(0).rank_known()) return;
  const AxisChoice choice = choice_of(params, style);
  infer.out(0).set_shape(choice.shape(infer.in(0).shape(), kName<largest, style>));
  check_not_empty(infer, choice, kName<largest, style>);
}

template <bool largest, AxisStyle style>
bool define() {
  OpBuilder<ArgParams>(kName<largest, style>)
      .doc(largest ? "Position of the largest element along an axis."
                   : "Position of the smallest element along an axis.")
      .input("data", "The input array.")
      .param("axis", &ArgParams::axis, std::optional<int32_t>(),
             "The axis; without one, the position in the flattened array.")
      .param("keepdims", &ArgParams::keepdims, false,
             "Whether the reduced axis stays as a dimension of size one.")
      .infer(infer_arg<largest, style>)
      .cpu(arg_cpu<largest, style>)
      .zero_grad();
  return true;
}

[[maybe_unused]] const bool defined =
    define<true, AxisStyle::kArray>() && define<false, AxisStyle::kArray>() &&
    define<true, AxisStyle::kNumpy>() && define<false, AxisStyle::kNumpy>();

MX_OP(argmax_channel, NoParams)
.doc("Position of the largest element along axis 1.")
    .input("data", "The input array.")
    .lenient()
    .infer([](const NoParams&, Infer& infer) {
      infer.one_dtype();
      if (!infer.in(0).rank_known()) return;
      const AxisChoice choice{Shape{1}};
      infer.out(0).set_shape(choice.shape(infer.in(0).shape(), "argmax_channel"));
      check_not_empty(infer, choice, "argmax_channel");
    })
    .cpu([](const NoParams&, KernelContext& context) {
      run_tensor(true, 1, context, "argmax_channel");
    });

[[maybe_unused]] const bool portable =
    mark_portable({"argmax", "argmin", "argmax_channel", "_npi_argmax", "_npi_argmin"});

}  // namespace
}  // namespace mxnet
