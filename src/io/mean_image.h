// SPDX-License-Identifier: Apache-2.0
// The file with the mean of all images of a set.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/shape.h"
#include "io/batch_source.h"
#include "io/image_normalize.h"

namespace mxnet::io {

// An array file with one float32 array of `shape` (channels, height, width): its values. Throws
// Error(kValue) that says what is there instead.
std::vector<float> read_mean_image(const std::string& path, const Shape& shape);

// Parameters of an iterator by which a mean image that is not there yet is made: of its images as
// they are without one. Null where it is there, or none is asked for.
template <class P>
std::optional<P> params_for_mean_image(const P& params) {
  if (params.mean_img.empty() || std::filesystem::exists(params.mean_img)) return {};
  P plain = params;
  set_no_normalization(&plain);
  plain.round_batch = false;
  plain.dtype = DType::kFloat32;
  return plain;
}

// Writes such a file: of one epoch of float32 images of `shape`.
void write_mean_image(const std::string& path, const Shape& shape, BatchSource& images);

}  // namespace mxnet::io
