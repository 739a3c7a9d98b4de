// SPDX-License-Identifier: Apache-2.0
// Parameters of the iterators over images in RecordIO files, in the groups that they share.
#pragma once
#include <optional>
#include <string>

#include "io/batch_params.h"

namespace mxnet::io {

// Which records, and in what order.
struct ImageFileParams {
  std::string path_imglist, path_imgrec, path_imgidx, aug_seq;
  int32_t label_width, preprocess_threads, num_parts, part_index, device_id;
  Shape data_shape;
  bool verbose, shuffle;
  uint64_t shuffle_chunk_size;
  int32_t shuffle_chunk_seed, seed;
  std::optional<int32_t> seed_aug;
};

// Of sides that nobody limits.
constexpr float kAnySize = 1e10F;

// How an image is cut and turned: docs/image_iterators.md.
struct ImageAugmentParams {
  int32_t resize;
  bool rand_crop, random_resized_crop;
  int32_t max_rotate_angle;
  float max_aspect_ratio;
  std::optional<float> min_aspect_ratio;
  float max_shear_ratio;
  int32_t max_crop_size, min_crop_size;
  float max_random_scale, min_random_scale, max_random_area, min_random_area;
  float max_img_size, min_img_size;
  float brightness, contrast, saturation, pca_noise;
  int32_t random_h, random_s, random_l;
  int32_t rotate, fill_value, inter_method, pad;
};

// From pixels to numbers.
struct ImageNormalizeParams {
  bool mirror, rand_mirror;
  std::string mean_img;
  float mean_r, mean_g, mean_b, mean_a, std_r, std_g, std_b, std_a, scale;
  float max_random_contrast, max_random_illumination;
};

}  // namespace mxnet::io
