// SPDX-License-Identifier: Apache-2.0
// From pixels of an image to numbers of a batch, (channels, height, width).
#pragma once
#include <vector>

#include "base/dtype.h"
#include "io/image.h"
#include "io/image_params.h"
#include "io/sample_random.h"

namespace mxnet::io {

// Pixels stay what they are.
void set_no_normalization(ImageNormalizeParams* params);

// Immutable: any number of threads may use one.
class ImageNormalizer {
 public:
  // kUInt8 is pixels as they are, kInt8 what is left of them without the means, as whole numbers,
  // the nearest that the type has; numbers of other types are normalized. A standard deviation of 0
  // divides by nothing. Throws Error(kValue) for a mean image that does not have the shape.
  ImageNormalizer(const ImageNormalizeParams& params, const Shape& data_shape, DType dtype);

  // Writes data_shape.size() elements: ((pixel - mean) * contrast + illumination) * scale /
  // deviation. What lies below and to the right of an image that is smaller are black pixels.
  void operator()(const Image& image, SampleRandom& random, void* out) const;

 private:
  const ImageNormalizeParams params_;
  const Shape shape_;
  const DType dtype_;
  std::vector<float> mean_image_;  // or empty
};

}  // namespace mxnet::io
