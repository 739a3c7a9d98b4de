// SPDX-License-Identifier: Apache-2.0
// What ImageDetRecordIter does to an image and its objects: docs/image_iterators.md.
#pragma once
#include <vector>

#include "base/shape.h"
#include "io/detection_label.h"
#include "io/image.h"
#include "io/sample_random.h"

namespace mxnet::io {

enum class CropEmitMode : uint8_t { kCenter, kOverlap };
enum class ResizeMode : uint8_t { kForce, kShrink, kFit };

struct DetectionAugmentParams {
  int32_t resize;
  float rand_crop_prob;
  std::vector<float> min_crop_scales, max_crop_scales;
  std::vector<float> min_crop_aspect_ratios, max_crop_aspect_ratios;
  std::vector<float> min_crop_overlaps, max_crop_overlaps;
  std::vector<float> min_crop_sample_coverages, max_crop_sample_coverages;
  std::vector<float> min_crop_object_coverages, max_crop_object_coverages;
  int32_t num_crop_sampler;
  CropEmitMode crop_emit_mode;
  float emit_overlap_thresh;
  Shape max_crop_trials;
  float rand_pad_prob, max_pad_scale;
  int32_t max_random_hue;
  float random_hue_prob;
  int32_t max_random_saturation;
  float random_saturation_prob;
  int32_t max_random_illumination;
  float random_illumination_prob;
  float max_random_contrast, random_contrast_prob;
  float rand_mirror_prob;
  int32_t fill_value, inter_method;
  ResizeMode resize_mode;
};

// Immutable: any number of threads may use one.
class DetectionAugmenter {
 public:
  // Throws Error(kValue) for lists that do not have one value, or one a crop sampler.
  DetectionAugmenter(const char* tag, const DetectionAugmentParams& params, int64_t height,
                     int64_t width);

  // An image of height x width, or with another resize_mode than force a part of that, and its
  // objects.
  Image operator()(Image image, DetectionLabel* label, SampleRandom& random) const;

 private:
  void recolour(Image* image, SampleRandom& random) const;
  Image padded(const Image& image, DetectionLabel* label, SampleRandom& random) const;
  Image cut(const Image& image, DetectionLabel* label, SampleRandom& random) const;
  // A part that meets what sampler number `i` asks for; false if the trials find none.
  bool find_part(std::size_t i, const Image& image, const DetectionLabel& label,
                 SampleRandom& random, Box* part) const;
  Image fitted(const Image& image, SampleRandom& random) const;
  Image resized_to(const Image& image, int64_t height, int64_t width, SampleRandom& random) const;

  const DetectionAugmentParams params_;
  const int64_t height_, width_;
};

}  // namespace mxnet::io
