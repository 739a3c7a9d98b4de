// SPDX-License-Identifier: Apache-2.0
// What ImageRecordIter does to an image: sizes, cuts, turns and colours, in the order of
// docs/image_iterators.md.
#pragma once
#include "io/image.h"
#include "io/image_params.h"
#include "io/sample_random.h"

namespace mxnet::io {

// Immutable: any number of threads may use one.
class ImageAugmenter {
 public:
  // Throws Error(kValue) for parameters that no image can satisfy.
  ImageAugmenter(const char* tag, const ImageAugmentParams& params, int64_t height, int64_t width);

  // An image of exactly height x width.
  Image operator()(Image image, SampleRandom& random) const;

 private:
  bool turns() const;
  Image turned(const Image& image, SampleRandom& random) const;
  Image cut(const Image& image, SampleRandom& random) const;
  bool cut_by_area(const Image& image, SampleRandom& random, Image* result) const;
  Image fitted(const Image& image, int64_t height, int64_t width, SampleRandom& random) const;
  void recolour(Image* image, SampleRandom& random) const;

  const ImageAugmentParams params_;
  const int64_t height_, width_;
};

}  // namespace mxnet::io
