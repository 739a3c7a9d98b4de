// SPDX-License-Identifier: Apache-2.0
// Pad, for images and volumes: 4 or 5 dimensions of which the first two stay as they are.
#include "op/run/read_back.h"
#include "op/shape/pad_op.h"

namespace mxnet {
namespace {

struct PadParams {
  PadMode mode;
  Shape pad_width;  // before and after, for each dimension
  double constant_value;

  std::vector<PadWidth> widths(int ndim) const {
    std::vector<PadWidth> result;
    result.reserve(static_cast<std::size_t>(ndim));
    for (int i = 0; i < ndim; ++i) result.push_back({pad_width[2 * i], pad_width[2 * i + 1]});
    return result;
  }
};

void infer_pad(const PadParams& params, Infer& infer) {
  InferArg data = infer.in(0);
  data.same_dtype(infer.out(0));
  if (!data.rank_known()) return;
  if (data.ndim() != 4 && data.ndim() != 5) data.fail("4 or 5 dimensions");
  const Shape& given = params.pad_width;
  const auto refuse = [&](const char* expected) {
    refuse_widths(infer, to_string(given), expected);
  };
  if (given.ndim() != 2 * data.ndim()) refuse("two numbers for each dimension");
  for (int i = 0; i < given.ndim(); ++i) {
    if (given[i] < 0) refuse("no negative numbers");
    if (i < 4 && given[i] != 0) refuse("the first four numbers 0");
    const int64_t size = data.dim(i / 2);
    if (size < 0) continue;  // not known yet
    if (params.mode == PadMode::kReflect && given[i] > 0 && given[i] >= size)
      refuse("less than the size of each dimension that is reflected");
    if (params.mode == PadMode::kEdge && given[i] > 0 && size == 0)
      refuse("no padding of a dimension of size 0, which has no edge");
  }
  infer.out(0).set_shape(padded_shape(data.shape(), params.widths(data.ndim())));
}

void declare(OpBuilder<PadParams>& op) {
  op.choice("mode", &PadParams::mode,
            Choices<PadMode>{{"constant", PadMode::kConstant},
                             {"edge", PadMode::kEdge},
                             {"reflect", PadMode::kReflect}},
            nullptr, "What the padding shows: a constant, the nearest element, or a mirror image.");
  op.param("pad_width", &PadParams::pad_width,
           "How much before and after each dimension; the first four numbers are 0.");
  op.param("constant_value", &PadParams::constant_value, 0.0, "The constant.");
}

[[maybe_unused]] const OpBuilder<PadParams> defined =
    define_pad("Pad", "Images or volumes with a border.", declare, infer_pad, pad_cpu<PadParams>)
        .alias("pad");
[[maybe_unused]] const bool portable = mark_portable_waiting({"Pad", "_backward_Pad"});

}  // namespace
}  // namespace mxnet
