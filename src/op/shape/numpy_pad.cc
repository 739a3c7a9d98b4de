// SPDX-License-Identifier: Apache-2.0
// NumPy's pad: any number of dimensions, more modes.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "op/run/dispatch.h"
#include "op/run/read_back.h"
#include "op/shape/pad_extremes.h"
#include "op/shape/pad_op.h"

namespace mxnet {
namespace {

struct NumpyPadParams {
  std::vector<Shape> pad_width;
  PadMode mode;
  double constant_value;
  std::string reflect_type;

  bool is_extreme() const { return mode == PadMode::kMaximum || mode == PadMode::kMinimum; }
  // How the front end of 1.x gives a pair for the only dimension: as two lists of one number.
  bool is_pair_in_two(int ndim) const {
    return ndim == 1 && pad_width.size() == 2 && pad_width[0].ndim() == 1 &&
           pad_width[1].ndim() == 1;
  }
  // As in NumPy, one pair stands for every dimension and one number for a pair.
  std::vector<PadWidth> widths(int ndim) const {
    if (is_pair_in_two(ndim)) return {{pad_width[0][0], pad_width[1][0]}};
    std::vector<PadWidth> result;
    for (int i = 0; i < ndim; ++i) {
      const Shape& pair = pad_width[pad_width.size() == 1 ? 0 : static_cast<std::size_t>(i)];
      result.push_back({pair[0], pair.back()});
    }
    return result;
  }
};

void check_widths(const NumpyPadParams& params, Infer& infer) {
  InferArg data = infer.in(0);
  const auto refuse = [&](const char* expected) {
    refuse_widths(infer, ParamText<std::vector<Shape>>::print(params.pad_width), expected);
  };
  const auto given = static_cast<int>(params.pad_width.size());
  if (given != data.ndim() && given != 1 && !params.is_pair_in_two(data.ndim()))
    refuse("a pair for each dimension");
  for (const Shape& pair : params.pad_width) {
    if (pair.ndim() != 1 && pair.ndim() != 2) refuse("a pair for each dimension");
    for (const int64_t width : pair)
      if (width < 0) refuse("no negative numbers");
  }
  if (params.mode == PadMode::kConstant) return;
  const std::vector<PadWidth> widths = params.widths(data.ndim());
  for (int i = 0; i < data.ndim(); ++i) {
    const PadWidth& width = widths[static_cast<std::size_t>(i)];
    if (data.dim(i) == 0 && width.before + width.after > 0)
      refuse("no padding of a dimension of size 0, which has nothing to show");
  }
}

void infer_pad(const NumpyPadParams& params, Infer& infer) {
  if (params.reflect_type != "even")
    infer.fail(fmt::format("given reflect_type '{}', expected 'even'", params.reflect_type));
  InferArg data = infer.in(0);
  data.same_dtype(infer.out(0));
  if (!data.known()) return;
  check_widths(params, infer);
  infer.out(0).set_shape(padded_shape(data.shape(), params.widths(data.ndim())));
}

void declare(OpBuilder<NumpyPadParams>& op) {
  op.param("pad_width", &NumpyPadParams::pad_width, "How much before and after each dimension.");
  op.choice(
      "mode", &NumpyPadParams::mode,
      Choices<PadMode>{{"constant", PadMode::kConstant},
                       {"edge", PadMode::kEdge},
                       {"maximum", PadMode::kMaximum},
                       {"minimum", PadMode::kMinimum},
                       {"reflect", PadMode::kReflect},
                       {"symmetric", PadMode::kSymmetric}},
      "constant",
      "What the padding shows: a constant, the nearest element, the largest or smallest of the "
      "dimension, or a mirror image without or with the ends.");
  op.param("constant_value", &NumpyPadParams::constant_value, 0.0, "The constant.");
  op.param("reflect_type", &NumpyPadParams::reflect_type, "even",
           "Kind of mirror image: only 'even'.");
}

void numpy_pad_cpu(const NumpyPadParams& params, KernelContext& context) {
  if (!params.is_extreme()) return pad_cpu(params, context);
  const Tensor& in = context.in(0);
  pad_extremes(params.widths(in.ndim()), params.mode == PadMode::kMaximum, in, context.out(0),
               context);
}

// The largest element moves with the values: such a padding is not linear, and the reference has no
// gradient of it either.
Gradients gradient(const NumpyPadParams& params, Grad& grad) {
  if (params.is_extreme()) {
    throw Error(ErrorCode::kNotImplemented, "_npi_pad",
                "given mode maximum or minimum, expected one that has a gradient");
  }
  return {apply("_backward__npi_pad", {grad.dout(0), grad.in(0)}, grad.attrs())};
}

[[maybe_unused]] const OpBuilder<NumpyPadParams> defined =
    define_pad("_npi_pad", "The array with a border.", declare, infer_pad, numpy_pad_cpu)
        .grad(gradient);
[[maybe_unused]] const bool portable = mark_portable_waiting({"_npi_pad", "_backward__npi_pad"});

}  // namespace
}  // namespace mxnet
