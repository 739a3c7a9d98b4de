// SPDX-License-Identifier: Apache-2.0
// Means, deviations and types.
#include "io/image_normalize.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "io/mean_image.h"
#include "ndarray/convert_elements.h"

namespace mxnet::io {

namespace {

// One line of one channel, whose pixels are `step` bytes apart.
struct Line {
  const uint8_t* in;
  int64_t step, count;
};

void copy_pixels(const Line& line, uint8_t* out) {
  for (int64_t i = 0; i < line.count; ++i) out[i] = line.in[i * line.step];
}

void shift_pixels(const Line& line, int32_t mean, int8_t* out) {
  for (int64_t i = 0; i < line.count; ++i)
    out[i] = static_cast<int8_t>(std::clamp(line.in[i * line.step] - mean, -128, 127));
}

// A whole number; further from 0 than a pixel, all are the same.
int32_t whole_mean(float mean) {
  return static_cast<int32_t>(std::round(std::fmin(std::fmax(mean, -1000.0F), 1000.0F)));
}

}  // namespace

void set_no_normalization(ImageNormalizeParams* params) {
  *params = {};
  params->std_r = params->std_g = params->std_b = params->std_a = params->scale = 1;
}

ImageNormalizer::ImageNormalizer(const ImageNormalizeParams& params, const Shape& data_shape,
                                 DType dtype)
    : params_(params), shape_(data_shape), dtype_(dtype) {
  if (!params.mean_img.empty()) mean_image_ = read_mean_image(params.mean_img, data_shape);
}

void ImageNormalizer::operator()(const Image& image, SampleRandom& random, void* out) const {
  const int64_t height = shape_[1], width = shape_[2];
  if (image.height < height || image.width < width) {
    const Image whole = bordered(image, 0, height - image.height, 0, width - image.width, 0);
    return (*this)(whole, random, out);
  }
  const ImageNormalizeParams& p = params_;
  float contrast = 1, light = 0;
  if (p.max_random_contrast > 0)
    contrast += random.uniform(-p.max_random_contrast, p.max_random_contrast);
  if (p.max_random_illumination > 0)
    light = random.uniform(-p.max_random_illumination, p.max_random_illumination);
  const std::array<float, 3> means{p.mean_r, p.mean_g, p.mean_b}, stds{p.std_r, p.std_g, p.std_b};
  const std::size_t item = dtype_size(dtype_);
  std::vector<float> numbers(dtype_ == DType::kFloat32 ? 0 : static_cast<std::size_t>(width));
  for (int64_t c = 0; c < image.channels; ++c) {
    const auto channel = static_cast<std::size_t>(c);
    const float factor = stds[channel] == 0 ? p.scale : p.scale / stds[channel];
    for (int64_t y = 0; y < image.height; ++y) {
      const Line line{image.row(y) + c, image.channels, image.width};
      const int64_t first = (c * height + y) * width;
      char* const target = static_cast<char*>(out) + static_cast<std::size_t>(first) * item;
      if (dtype_ == DType::kUInt8) {
        copy_pixels(line, reinterpret_cast<uint8_t*>(target));
        continue;
      }
      if (dtype_ == DType::kInt8) {
        shift_pixels(line, whole_mean(means[channel]), reinterpret_cast<int8_t*>(target));
        continue;
      }
      float* const to = numbers.empty() ? reinterpret_cast<float*>(target) : numbers.data();
      for (int64_t x = 0; x < line.count; ++x) {
        const float mean =
            mean_image_.empty() ? means[channel] : mean_image_[static_cast<std::size_t>(first + x)];
        to[x] = ((static_cast<float>(line.in[x * line.step]) - mean) * contrast + light) * factor;
      }
      if (!numbers.empty()) convert_elements(target, dtype_, to, DType::kFloat32, line.count);
    }
  }
}

}  // namespace mxnet::io
