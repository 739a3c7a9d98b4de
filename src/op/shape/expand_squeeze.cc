// SPDX-License-Identifier: Apache-2.0
// Dimensions of one: adding and removing them.
#include <fmt/format.h>

#include <array>

#include "base/numpy_shape.h"
#include "op/shape/same_elements.h"

namespace mxnet {
namespace {

struct ExpandDimsParams {
  int32_t axis;
};

MX_OP(expand_dims, ExpandDimsParams)
.alias("_npi_expand_dims")
    .doc("The array with a new dimension of 1.")
    .input("data", "The array.")
    .param("axis", &ExpandDimsParams::axis, "Position of the new dimension in the result.")
    .inplace(0, 0)
    .infer([](const ExpandDimsParams& p, Infer& infer) {
      InferArg in = infer.in(0), out = infer.out(0);
      in.same_dtype(out);
      if (in.rank_known()) {
        const int ndim = in.ndim() + 1;
        if (p.axis < -ndim || p.axis >= ndim)
          in.fail(fmt::format("more dimensions for a new axis {}", p.axis));
        const int axis = p.axis < 0 ? p.axis + ndim : p.axis;
        Shape result = Shape::scalar();
        for (int i = 0; i < ndim; ++i)
          result.push_back(i == axis ? 1 : in.dim(i < axis ? i : i - 1));
        out.set_shape(result);
      }
      if (out.rank_known() && out.ndim() > 0) {
        const int axis = infer.axis(p.axis, out);
        Shape before = Shape::scalar();
        for (int i = 0; i < out.ndim(); ++i)
          if (i != axis) before.push_back(out.dim(i));
        in.set_shape(before);
      }
    })
    .cpu(reshape_cpu<ExpandDimsParams>)
    .grad(reshape_grad<ExpandDimsParams>);

struct SqueezeParams {
  std::optional<Shape> axis;
};

// `scalars`: whether what has dimensions of one only becomes a scalar, or keeps one of them.
void infer_squeeze(const SqueezeParams& params, Infer& infer, bool scalars) {
  InferArg in = infer.in(0);
  in.same_dtype(infer.out(0));
  if (!in.known()) return;
  std::array<bool, Shape::kMaxDims> removed{};
  if (params.axis) {
    for (const int64_t given : *params.axis) {
      if (in.ndim() == 0 && (given == 0 || given == -1)) continue;  // as reductions take it
      const int axis = infer.axis(given, in);
      if (in.dim(axis) != 1) in.fail(fmt::format("size 1 in dimension {}", axis));
      if (std::exchange(removed[static_cast<std::size_t>(axis)], true))
        infer.fail(fmt::format("given axis {} twice in {}", given, to_string(*params.axis)));
    }
  }
  Shape result = Shape::scalar();
  for (int i = 0; i < in.ndim(); ++i) {
    if (params.axis ? !removed[static_cast<std::size_t>(i)] : in.dim(i) != 1)
      result.push_back(in.dim(i));
  }
  if (result.empty() && !scalars) result.push_back(1);
  infer.out(0).set_shape(result);
}

// Only a scalar stays one, whatever shapes mean.
void infer_legacy(const SqueezeParams& params, Infer& infer) {
  infer_squeeze(params, infer, infer.in(0).ndim() == 0);
}
void infer_numpy(const SqueezeParams& params, Infer& infer) { infer_squeeze(params, infer, true); }

void define_squeeze(const char* name, const char* input,
                    void (*infer)(const SqueezeParams&, Infer&)) {
  OpBuilder<SqueezeParams>(name)
      .doc("The array without its dimensions of 1.")
      .input(input, "The array.")
      .param("axis", &SqueezeParams::axis, std::nullopt,
             "Dimensions to remove; all of size 1 if None.")
      .inplace(0, 0)
      .infer(infer)
      .cpu(reshape_cpu<SqueezeParams>)
      .grad(reshape_grad<SqueezeParams>);
}

[[maybe_unused]] const bool defined = [] {
  define_squeeze("squeeze", "data", infer_legacy);
  define_squeeze("_np_squeeze", "a", infer_numpy);
  return true;
}();

[[maybe_unused]] const bool portable = mark_portable({"expand_dims", "squeeze", "_np_squeeze"});

}  // namespace
}  // namespace mxnet
