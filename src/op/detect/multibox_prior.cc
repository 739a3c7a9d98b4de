// SPDX-License-Identifier: Apache-2.0
// Anchors of several sizes and ratios at each place of a feature map.
#include <cmath>

#include "op/computed.h"
#include "op/detect/boxes.h"
#include "op/op_builder.h"

namespace mxnet::detect {
namespace {

struct PriorParams {
  std::vector<float> sizes, ratios;
  bool clip;
  std::vector<float> steps, offsets;
};

void infer_prior(const PriorParams& params, Infer& infer) {
  infer.one_dtype();
  infer.in(0).set_shape(Shape{-1, -1, -1, -1});
  if (params.sizes.empty() || params.ratios.empty())
    infer.fail("given no sizes or no ratios, expected one or more of each");
  if (params.steps.size() != 2 || params.offsets.size() != 2)
    infer.fail("expected two steps and two offsets: of y and of x");
  const int64_t height = infer.in(0).dim(2), width = infer.in(0).dim(3);
  if (height < 0 || width < 0) return;
  const auto each = static_cast<int64_t>(params.sizes.size() + params.ratios.size()) - 1;
  infer.out(0).set_shape(Shape{1, height * width * each, 4});
}

// Halves of width and height: all sizes with the first ratio, then the first size with the others.
template <class T>
std::vector<std::pair<T, T>> half_extents(const PriorParams& params, T aspect) {
  std::vector<std::pair<T, T>> extents;
  const auto add = [&](float size, float ratio) {
    const T root = std::sqrt(static_cast<T>(ratio));
    extents.emplace_back(T(size) * aspect * root / 2, T(size) / root / 2);
  };
  for (const float size : params.sizes) add(size, params.ratios[0]);
  for (std::size_t i = 1; i < params.ratios.size(); ++i) add(params.sizes[0], params.ratios[i]);
  return extents;
}

void prior_cpu(const PriorParams& params, KernelContext& context) {
  const int64_t height = context.in(0).dim(2), width = context.in(0).dim(3);
  if (height == 0 || width == 0) return;
  compute(context.out(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    T* out = arrays.out(0);
    const auto extents =
        half_extents(params, static_cast<T>(height) / static_cast<T>(width));
    const bool given = params.steps[0] > 0 && params.steps[1] > 0;
    const T step_y = given ? T(params.steps[0]) : T{1} / static_cast<T>(height);
    const T step_x = given ? T(params.steps[1]) : T{1} / static_cast<T>(width);
    for (int64_t i = 0; i < height; ++i) {
      const T y = (static_cast<T>(i) + T(params.offsets[0])) * step_y;
      for (int64_t j = 0; j < width; ++j) {
        const T x = (static_cast<T>(j) + T(params.offsets[1])) * step_x;
        for (const auto& [w, h] : extents) {
          write_box<T>({x - w, y - h, x + w, y + h}, BoxFormat::kCorner, out);
          if (params.clip) {
            for (int k = 0; k < 4; ++k) out[k] = std::clamp(out[k], T{0}, T{1});
          }
          out += 4;
        }
      }
    }
  });
}

MX_OP(_contrib_MultiBoxPrior, PriorParams)
    .alias("_npx_multibox_prior")
    .doc("Anchors (corners, relative to the image) at each place of a feature map.")
    .input("data", "Feature map, (batch, channels, height, width).")
    .param("sizes", &PriorParams::sizes, std::vector<float>{1.0f}, "Sizes of anchors.")
    .param("ratios", &PriorParams::ratios, std::vector<float>{1.0f},
           "Ratios of their width by their height.")
    .param("clip", &PriorParams::clip, false, "Whether anchors end with the image.")
    .param("steps", &PriorParams::steps, std::vector<float>{-1.0f, -1.0f},
           "Distance of places, y and x; as the feature map has it if negative.")
    .param("offsets", &PriorParams::offsets, std::vector<float>{0.5f, 0.5f},
           "Where in its cell an anchor's centre is, y and x.")
    .type_only(0)
    .dtypes(kFloating)
    .infer(infer_prior)
    .cpu(prior_cpu)
    .zero_grad();

}  // namespace
}  // namespace mxnet::detect
