// SPDX-License-Identifier: Apache-2.0
// Means, deviations and types.
#include "io/image_normalize.h"

#include <array>

#include "io/mean_image.h"
#include "ndarray/convert_elements.h"

namespace mxnet::io {

ImageNormalizer::ImageNormalizer(const ImageNormalizeParams& params, const Shape& data_shape)
    : params_(params) {
  if (!params.mean_img.empty()) mean_image_ = read_mean_image(params.mean_img, data_shape);
}

void ImageNormalizer::operator()(const Image& image, SampleRandom& random, void* out,
                                 DType dtype) const {
  if (dtype == DType::kFloat32) return normalize(image, random, static_cast<float*>(out));
  thread_local std::vector<float> numbers;
  numbers.resize(image.pixels.size());
  normalize(image, random, numbers.data());
  convert_elements(out, dtype, numbers.data(), DType::kFloat32,
                   static_cast<int64_t>(numbers.size()));
}

void ImageNormalizer::normalize(const Image& image, SampleRandom& random, float* out) const {
  const ImageNormalizeParams& p = params_;
  float contrast = 1, light = 0;
  if (p.max_random_contrast > 0)
    contrast += random.uniform(-p.max_random_contrast, p.max_random_contrast);
  if (p.max_random_illumination > 0)
    light = random.uniform(-p.max_random_illumination, p.max_random_illumination);
  const std::array<float, 3> means{p.mean_r, p.mean_g, p.mean_b}, stds{p.std_r, p.std_g, p.std_b};
  const int64_t pixels = image.height * image.width;
  for (int64_t c = 0; c < image.channels; ++c) {
    const auto channel = static_cast<std::size_t>(c);
    const float factor = stds[channel] == 0 ? p.scale : p.scale / stds[channel];
    const float mean = means[channel];
    const uint8_t* in = image.pixels.data() + c;
    float* const to = out + c * pixels;
    const float* const place_means = mean_image_.empty() ? nullptr : mean_image_.data() + c * pixels;
    for (int64_t i = 0; i < pixels; ++i, in += image.channels) {
      const float value = static_cast<float>(*in) - (place_means ? place_means[i] : mean);
      to[i] = (value * contrast + light) * factor;
    }
  }
}

}  // namespace mxnet::io
