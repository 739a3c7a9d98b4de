// SPDX-License-Identifier: Apache-2.0
// Augmentations that keep objects in step with their image.
#include "io/detection_augment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "io/image_color.h"

namespace mxnet::io {
namespace {

// One value for all samplers, or each its own.
float of(const std::vector<float>& values, std::size_t i) {
  return values[values.size() == 1 ? 0 : i];
}

bool within(float value, float low, float high) { return value >= low && value <= high; }

}  // namespace

DetectionAugmenter::DetectionAugmenter(const char* tag, const DetectionAugmentParams& params,
                                       int64_t height, int64_t width)
    : params_(params), height_(height), width_(width) {
  const auto samplers = static_cast<std::size_t>(std::max(params.num_crop_sampler, 0));
  const auto expect_count = [&](const char* name, std::size_t count) {
    if (count == 1 || count == samplers) return;
    throw Error(ErrorCode::kValue, tag,
                fmt::format("given {} values for {}, expected 1 or num_crop_sampler = {}", count,
                            name, samplers));
  };
  expect_count("min_crop_scales", params.min_crop_scales.size());
  expect_count("max_crop_scales", params.max_crop_scales.size());
  expect_count("min_crop_aspect_ratios", params.min_crop_aspect_ratios.size());
  expect_count("max_crop_aspect_ratios", params.max_crop_aspect_ratios.size());
  expect_count("min_crop_overlaps", params.min_crop_overlaps.size());
  expect_count("max_crop_overlaps", params.max_crop_overlaps.size());
  expect_count("min_crop_sample_coverages", params.min_crop_sample_coverages.size());
  expect_count("max_crop_sample_coverages", params.max_crop_sample_coverages.size());
  expect_count("min_crop_object_coverages", params.min_crop_object_coverages.size());
  expect_count("max_crop_object_coverages", params.max_crop_object_coverages.size());
  expect_count("max_crop_trials", static_cast<std::size_t>(params.max_crop_trials.ndim()));
  if (params.fill_value < 0 || params.fill_value > 255 || params.inter_method < 0 ||
      (params.inter_method > 4 && params.inter_method != 9 && params.inter_method != 10)) {
    throw Error(ErrorCode::kValue, tag,
                fmt::format("given fill_value {} and inter_method {}, expected 0 to 255 and 0 to "
                            "4, 9 or 10",
                            params.fill_value, params.inter_method));
  }
}

Image DetectionAugmenter::resized_to(const Image& image, int64_t height, int64_t width,
                                     SampleRandom& random) const {
  const int choice = params_.inter_method == 10 ? static_cast<int>(random.integer(0, 4)) : 0;
  return resized(image, std::max<int64_t>(height, 1), std::max<int64_t>(width, 1),
                 params_.inter_method, choice);
}

Image DetectionAugmenter::operator()(Image image, DetectionLabel* label,
                                     SampleRandom& random) const {
  if (params_.resize > 0) {
    const int64_t side = params_.resize;
    const bool tall = image.height > image.width;
    image = tall ? resized_to(image, image.height * side / image.width, side, random)
                 : resized_to(image, side, image.width * side / image.height, random);
  }
  recolour(&image, random);
  if (params_.rand_mirror_prob > 0 && random.coin(params_.rand_mirror_prob)) {
    mirror(&image);
    label->mirror();
  }
  if (params_.rand_pad_prob > 0 && params_.max_pad_scale > 1 && random.coin(params_.rand_pad_prob))
    image = padded(image, label, random);
  if (params_.rand_crop_prob > 0 && params_.num_crop_sampler > 0 &&
      random.coin(params_.rand_crop_prob))
    image = cut(image, label, random);
  return fitted(image, random);
}

void DetectionAugmenter::recolour(Image* image, SampleRandom& random) const {
  const auto amount = [&random](int32_t most, float probability) {
    if (most <= 0 || !random.coin(probability)) return 0;
    return static_cast<int>(random.integer(-most, most));
  };
  const int hue = amount(params_.max_random_hue, params_.random_hue_prob);
  const int saturation = amount(params_.max_random_saturation, params_.random_saturation_prob);
  const int light = amount(params_.max_random_illumination, params_.random_illumination_prob);
  if (hue != 0 || saturation != 0 || light != 0) shift_hls(image, hue, light, saturation);
  const float contrast = params_.max_random_contrast;
  if (contrast > 0 && random.coin(params_.random_contrast_prob))
    change_contrast(image, 1 + random.uniform(-contrast, contrast));
}

Image DetectionAugmenter::padded(const Image& image, DetectionLabel* label,
                                 SampleRandom& random) const {
  const double scale = random.uniform(1.0, static_cast<double>(params_.max_pad_scale));
  const auto height = static_cast<int64_t>(scale * static_cast<double>(image.height));
  const auto width = static_cast<int64_t>(scale * static_cast<double>(image.width));
  const int64_t top = random.integer(0, height - image.height);
  const int64_t left = random.integer(0, width - image.width);
  const auto w = static_cast<float>(image.width), h = static_cast<float>(image.height);
  const Box window{-static_cast<float>(left) / w, -static_cast<float>(top) / h,
                   static_cast<float>(width - left) / w, static_cast<float>(height - top) / h};
  label->view(window, [](const Box&) { return true; });
  return bordered(image, top, height - image.height - top, left, width - image.width - left,
                  static_cast<uint8_t>(params_.fill_value));
}

bool DetectionAugmenter::find_part(std::size_t i, const Image& image, const DetectionLabel& label,
                                   SampleRandom& random, Box* part) const {
  const Shape& trials = params_.max_crop_trials;
  const int64_t most = trials[trials.ndim() == 1 ? 0 : static_cast<int>(i)];
  const float image_aspect = static_cast<float>(image.width) / static_cast<float>(image.height);
  for (int64_t trial = 0; trial < most; ++trial) {
    const float scale =
        random.uniform(of(params_.min_crop_scales, i), of(params_.max_crop_scales, i));
    const float aspect = random.uniform(of(params_.min_crop_aspect_ratios, i),
                                        of(params_.max_crop_aspect_ratios, i));
    if (!(scale > 0) || !(aspect > 0)) continue;
    // The scale is that of the sides; the aspect ratio is in pixels.
    const float root = std::sqrt(aspect / image_aspect);
    const float width = scale * root, height = scale / root;
    if (width > 1 || height > 1) continue;
    const float left = random.uniform(0.0F, 1 - width), top = random.uniform(0.0F, 1 - height);
    const Box candidate{left, top, left + width, top + height};
    const bool fits = std::any_of(
        label.objects().begin(), label.objects().end(), [&](const DetectionLabel::Object& object) {
          const float common = intersection(candidate, object.box).area();
          const float own = object.box.area(), all = candidate.area() + own - common;
          if (own <= 0 || all <= 0) return false;
          return within(common / all, of(params_.min_crop_overlaps, i),
                        of(params_.max_crop_overlaps, i)) &&
                 within(common / candidate.area(), of(params_.min_crop_sample_coverages, i),
                        of(params_.max_crop_sample_coverages, i)) &&
                 within(common / own, of(params_.min_crop_object_coverages, i),
                        of(params_.max_crop_object_coverages, i));
        });
    if (!fits) continue;
    *part = candidate;
    return true;
  }
  return false;
}

Image DetectionAugmenter::cut(const Image& image, DetectionLabel* label,
                              SampleRandom& random) const {
  const auto sampler = static_cast<std::size_t>(random.integer(0, params_.num_crop_sampler - 1));
  Box part;
  if (!find_part(sampler, image, *label, random, &part)) return image;
  const auto w = static_cast<float>(image.width), h = static_cast<float>(image.height);
  const auto left = static_cast<int64_t>(part.left * w), top = static_cast<int64_t>(part.top * h);
  const int64_t width =
      std::clamp<int64_t>(static_cast<int64_t>(part.width() * w), 1, image.width - left);
  const int64_t height =
      std::clamp<int64_t>(static_cast<int64_t>(part.height() * h), 1, image.height - top);
  const Box window{static_cast<float>(left) / w, static_cast<float>(top) / h,
                   static_cast<float>(left + width) / w, static_cast<float>(top + height) / h};
  label->view(window, [&](const Box& box) {
    if (params_.crop_emit_mode == CropEmitMode::kCenter) {
      const float x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
      return within(x, window.left, window.right) && within(y, window.top, window.bottom);
    }
    return box.area() > 0 &&
           intersection(box, window).area() / box.area() > params_.emit_overlap_thresh;
  });
  return cropped(image, top, left, height, width);
}

Image DetectionAugmenter::fitted(const Image& image, SampleRandom& random) const {
  if (params_.resize_mode == ResizeMode::kForce) return resized_to(image, height_, width_, random);
  // In float, as in 1.x: of sides that should come out even its rounding takes a line from some.
  float scale = std::min(static_cast<float>(height_) / static_cast<float>(image.height),
                         static_cast<float>(width_) / static_cast<float>(image.width));
  if (params_.resize_mode == ResizeMode::kShrink) scale = std::min(scale, 1.0F);
  const auto side = [scale](int64_t old, int64_t most) {
    return std::clamp<int64_t>(static_cast<int64_t>(scale * static_cast<float>(old)), 1, most);
  };
  const int64_t height = side(image.height, height_), width = side(image.width, width_);
  return resized_to(image, height, width, random);
}

}  // namespace mxnet::io
