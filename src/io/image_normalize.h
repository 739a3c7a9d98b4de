// SPDX-License-Identifier: Apache-2.0
// From pixels of an image to numbers of a batch, (channels, height, width).
#pragma once
#include <vector>

#include "base/dtype.h"
#include "io/image.h"
#include "io/image_params.h"
#include "io/sample_random.h"

namespace mxnet::io {

// Immutable: any number of threads may use one.
class ImageNormalizer {
 public:
  // A standard deviation of 0 divides by nothing. Throws Error(kValue) for a mean image that does
  // not have the shape.
  ImageNormalizer(const ImageNormalizeParams& params, const Shape& data_shape);

  // Writes data_shape.size() elements. REQUIRES: an image of that shape.
  void operator()(const Image& image, SampleRandom& random, void* out, DType dtype) const;

 private:
  // ((pixel - mean) * contrast + illumination) * scale / deviation.
  void normalize(const Image& image, SampleRandom& random, float* out) const;

  const ImageNormalizeParams params_;
  std::vector<float> mean_image_;  // or empty
};

}  // namespace mxnet::io
