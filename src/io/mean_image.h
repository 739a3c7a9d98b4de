// SPDX-License-Identifier: Apache-2.0
// The file with the mean of all images of a set.
#pragma once
#include <string>
#include <vector>

#include "base/shape.h"
#include "io/batch_source.h"

namespace mxnet::io {

// An array file with one float32 array of `shape` (channels, height, width): its values. Throws
// Error(kValue) that says what is there instead.
std::vector<float> read_mean_image(const std::string& path, const Shape& shape);

// Writes such a file: of one epoch of float32 images of `shape`.
void write_mean_image(const std::string& path, const Shape& shape, BatchSource& images);

}  // namespace mxnet::io
