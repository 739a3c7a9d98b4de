// SPDX-License-Identifier: Apache-2.0
// Anchors of several sizes and ratios at each place of a feature map.
#include <fmt/format.h>

#include <cmath>

#include "op/detect/multibox.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"

namespace mxnet::detect {
namespace {

void infer_prior(const PriorParams& params, Infer& infer) {
  infer.one_dtype();
  infer.in(0).set_shape(Shape{-1, -1, -1, -1});
  if (params.sizes.empty() || params.ratios.empty()) {
    infer.fail(fmt::format("given {} sizes and {} ratios, expected one or more of each",
                           params.sizes.size(), params.ratios.size()));
  }
  for (const float size : params.sizes) {
    if (!(size >= 0 && std::isfinite(size)))
      infer.fail(fmt::format("given size {}, expected numbers of 0 or more", size));
  }
  for (const float ratio : params.ratios) {
    if (!(ratio > 0 && std::isfinite(ratio)))
      infer.fail(fmt::format("given ratio {}, expected numbers above 0", ratio));
  }
  if (params.steps.size() != 2 || params.offsets.size() != 2) {
    infer.fail(fmt::format("given {} steps and {} offsets, expected two of each: of y and of x",
                           params.steps.size(), params.offsets.size()));
  }
  if (params.steps[0] * params.steps[1] < 0) {
    infer.fail(fmt::format("given steps {} and {}, expected both or none: of y and of x",
                           params.steps[0], params.steps[1]));
  }
  const int64_t height = infer.in(0).dim(2), width = infer.in(0).dim(3);
  if (height < 0 || width < 0) return;
  const auto each = static_cast<int64_t>(params.sizes.size() + params.ratios.size()) - 1;
  infer.out(0).set_shape(Shape{1, height * width * each, 4});
}

void prior_cpu(const PriorParams& params, KernelContext& context) {
  const int64_t height = context.in(0).dim(2), width = context.in(0).dim(3);
  if (height == 0 || width == 0) return;
  compute(context.out(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    T* out = arrays.out(0);
    const auto extents = half_extents(params, static_cast<T>(height), static_cast<T>(width));
    const AnchorPlaces<T> rows(params, 0, height), columns(params, 1, width);
    for (int64_t i = 0; i < height; ++i) {
      const T y = rows(i);
      for (int64_t j = 0; j < width; ++j) {
        const T x = columns(j);
        for (const auto& [w, h] : extents) {
          write_anchor(x, y, w, h, params.clip, out);
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
