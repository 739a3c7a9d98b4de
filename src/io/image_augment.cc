// SPDX-License-Identifier: Apache-2.0
// The default sequence of augmentations.
#include "io/image_augment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.h"
#include "io/image_color.h"

namespace mxnet::io {
namespace {

void expect_order(const char* tag, const char* what, double low, double high) {
  if (low <= high) return;
  throw Error(ErrorCode::kValue, tag,
              fmt::format("given min_{} {} above max_{} {}", what, low, what, high));
}

}  // namespace

ImageAugmenter::ImageAugmenter(const char* tag, const ImageAugmentParams& params, int64_t height,
                               int64_t width)
    : params_(params), height_(height), width_(width) {
  expect_order(tag, "random_scale", params.min_random_scale, params.max_random_scale);
  expect_order(tag, "random_area", params.min_random_area, params.max_random_area);
  expect_order(tag, "img_size", params.min_img_size, params.max_img_size);
  if (params.min_aspect_ratio)
    expect_order(tag, "aspect_ratio", *params.min_aspect_ratio, params.max_aspect_ratio);
  if (params.max_crop_size != -1 || params.min_crop_size != -1) {
    if (params.min_crop_size < 1)
      throw Error(ErrorCode::kValue, tag, "given min_crop_size below 1, expected both sizes");
    expect_order(tag, "crop_size", params.min_crop_size, params.max_crop_size);
  }
  if (params.random_resized_crop &&
      (params.rand_crop || params.max_crop_size != -1 || params.min_crop_size != -1 ||
       params.max_random_scale != 1 || params.min_random_scale != 1)) {
    throw Error(ErrorCode::kValue, tag,
                "given random_resized_crop with rand_crop, min_ or max_crop_size, or min_ or "
                "max_random_scale, expected none of these with it");
  }
  const bool known = (params.inter_method >= 0 && params.inter_method <= 4) ||
                     params.inter_method == 9 || params.inter_method == 10;
  if (!known) {
    throw Error(
        ErrorCode::kValue, tag,
        fmt::format("given inter_method {}, expected 0 to 4, 9 or 10", params.inter_method));
  }
  if (params.fill_value < 0 || params.fill_value > 255 || params.pad < 0)
    throw Error(ErrorCode::kValue, tag,
                fmt::format("given fill_value {} and pad {}, expected 0 to 255 and 0 or more",
                            params.fill_value, params.pad));
}

Image ImageAugmenter::operator()(Image image, SampleRandom& random) const {
  if (params_.resize > 0) {
    const int64_t side = params_.resize;
    const bool tall = image.height > image.width;
    const int64_t height = tall ? image.height * side / image.width : side;
    const int64_t width = tall ? side : image.width * side / image.height;
    image = fitted(image, std::max<int64_t>(height, 1), std::max<int64_t>(width, 1), random);
  }
  if (turns()) image = turned(image, random);
  if (params_.pad > 0) {
    const int64_t pad = params_.pad;
    image = bordered(image, pad, pad, pad, pad, static_cast<uint8_t>(params_.fill_value));
  }
  image = cut(image, random);
  recolour(&image, random);
  return image;
}

Image ImageAugmenter::fitted(const Image& image, int64_t height, int64_t width,
                             SampleRandom& random) const {
  const int choice = params_.inter_method == 10 ? static_cast<int>(random.integer(0, 4)) : 0;
  return resized(image, height, width, params_.inter_method, choice);
}

// With random_resized_crop the aspect ratio belongs to the cut.
bool ImageAugmenter::turns() const {
  return params_.max_rotate_angle > 0 || params_.rotate > 0 || params_.max_shear_ratio > 0 ||
         params_.max_random_scale != 1 || params_.min_random_scale != 1 ||
         params_.max_img_size != kAnySize || params_.min_img_size != 0 ||
         (!params_.random_resized_crop && params_.max_aspect_ratio > 0);
}

Image ImageAugmenter::turned(const Image& image, SampleRandom& random) const {
  const auto degrees = static_cast<double>(
      params_.rotate > 0 ? params_.rotate
                         : random.integer(-params_.max_rotate_angle, params_.max_rotate_angle));
  const double shear = random.uniform(-params_.max_shear_ratio, params_.max_shear_ratio);
  const double scale = random.uniform(params_.min_random_scale, params_.max_random_scale);
  double aspect = 1;
  if (!params_.random_resized_crop)
    aspect += random.uniform(-params_.max_aspect_ratio, params_.max_aspect_ratio);
  // Height and width change by factors whose mean is the scale and whose ratio is the aspect.
  const double tall = 2 * scale / (1 + aspect), wide = aspect * tall;
  const double angle = degrees * std::numbers::pi / 180;
  const double c = std::cos(angle), s = std::sin(angle);
  // New place of an old one, about the centres: shear, then turn, then stretch.
  const double xx = tall * c - shear * s * wide, xy = tall * s + shear * c * wide;
  const double yx = -s * wide, yy = c * wide;
  const auto limited = [this](double size) {
    return static_cast<int64_t>(std::clamp(size, static_cast<double>(params_.min_img_size),
                                           static_cast<double>(params_.max_img_size)));
  };
  const auto old_width = static_cast<double>(image.width);
  const auto old_height = static_cast<double>(image.height);
  const int64_t width = std::max<int64_t>(limited(scale * old_width), 1);
  const int64_t height = std::max<int64_t>(limited(scale * old_height), 1);
  const double x0 = (static_cast<double>(width) - (xx * old_width + xy * old_height)) / 2;
  const double y0 = (static_cast<double>(height) - (yx * old_width + yy * old_height)) / 2;
  const double determinant = xx * yy - xy * yx;
  if (std::fabs(determinant) < 1e-9) return image;  // flattened to a line: nothing to see
  const Affine to_old{yy / determinant,  -xy / determinant, (xy * y0 - yy * x0) / determinant,
                      -yx / determinant, xx / determinant,  (yx * x0 - xx * y0) / determinant};
  return warped(image, to_old, height, width, static_cast<uint8_t>(params_.fill_value));
}

bool ImageAugmenter::cut_by_area(const Image& image, SampleRandom& random, Image* result) const {
  constexpr int kTrials = 10;
  const auto area = static_cast<double>(image.height * image.width);
  for (int trial = 0; trial < kTrials; ++trial) {
    const double target = area * random.uniform(params_.min_random_area, params_.max_random_area);
    double aspect = 1;
    if (params_.min_aspect_ratio) {
      aspect = random.uniform(*params_.min_aspect_ratio, params_.max_aspect_ratio);
    } else {
      aspect += random.uniform(-params_.max_aspect_ratio, params_.max_aspect_ratio);
    }
    if (!(aspect > 0)) continue;
    auto width = static_cast<int64_t>(std::lround(std::sqrt(target * aspect)));
    auto height = static_cast<int64_t>(std::lround(std::sqrt(target / aspect)));
    if (random.coin(0.5)) std::swap(width, height);
    if (width < 1 || height < 1 || width > image.width || height > image.height) continue;
    const int64_t left = random.integer(0, image.width - width);
    const int64_t top = random.integer(0, image.height - height);
    *result = fitted(cropped(image, top, left, height, width), height_, width_, random);
    return true;
  }
  return false;
}

Image ImageAugmenter::cut(const Image& image, SampleRandom& random) const {
  Image result;
  if (params_.random_resized_crop && cut_by_area(image, random, &result)) return result;
  const auto place = [&](int64_t room) {
    return params_.rand_crop ? random.integer(0, room) : room / 2;
  };
  if (params_.max_crop_size != -1 || params_.min_crop_size != -1) {
    const int64_t least = std::min({image.height, image.width, int64_t{params_.min_crop_size}});
    const int64_t most = std::min({image.height, image.width, int64_t{params_.max_crop_size}});
    const int64_t side = random.integer(least, most);
    const int64_t top = place(image.height - side), left = place(image.width - side);
    return fitted(cropped(image, top, left, side, side), height_, width_, random);
  }
  if (image.height == height_ && image.width == width_) return image;
  // What is too small is enlarged, in its proportions: until the height suffices, then the width.
  Image large;
  const Image* source = &image;
  if (source->height < height_) {
    const int64_t width = std::max<int64_t>(source->width * height_ / source->height, 1);
    large = fitted(*source, height_, width, random);
    source = &large;
  }
  if (source->width < width_) {
    large = fitted(*source, source->height * width_ / source->width, width_, random);
    source = &large;
  }
  const int64_t top = place(source->height - height_), left = place(source->width - width_);
  return cropped(*source, top, left, height_, width_);
}

void ImageAugmenter::recolour(Image* image, SampleRandom& random) const {
  if (params_.brightness > 0)
    change_brightness(image, 1 + random.uniform(-params_.brightness, params_.brightness));
  if (params_.contrast > 0)
    change_contrast(image, 1 + random.uniform(-params_.contrast, params_.contrast));
  if (params_.saturation > 0)
    change_saturation(image, 1 + random.uniform(-params_.saturation, params_.saturation));
  if (params_.pca_noise > 0) {
    float strength[3];
    for (float& s : strength) s = static_cast<float>(random.normal()) * params_.pca_noise;
    add_lighting(image, strength);
  }
  if (params_.random_h > 0 || params_.random_s > 0 || params_.random_l > 0) {
    const auto h = static_cast<int>(random.integer(-params_.random_h, params_.random_h));
    const auto s = static_cast<int>(random.integer(-params_.random_s, params_.random_s));
    const auto l = static_cast<int>(random.integer(-params_.random_l, params_.random_l));
    shift_hls(image, h, l, s);
  }
}

}  // namespace mxnet::io
