// SPDX-License-Identifier: Apache-2.0
// The mean image, out of an array file.
#include "io/mean_image.h"

#include <fmt/format.h>

#include "base/error.h"
#include "ndarray/byte_source.h"
#include "ndarray/load.h"

namespace mxnet::io {

std::vector<float> read_mean_image(const std::string& path, const Shape& shape) {
  FileSource source(path);
  const LoadedArrays loaded = load_arrays(source, NumpyShape::kOff);
  if (loaded.arrays.size() != 1 || loaded.arrays[0].is_sparse() ||
      loaded.arrays[0].dtype() != DType::kFloat32 || loaded.arrays[0].shape() != shape) {
    throw Error(ErrorCode::kValue, "mean_img",
                fmt::format("given '{}' with {} arrays, expected one of float32 and shape {}", path,
                            loaded.arrays.size(), to_string(shape)));
  }
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  loaded.arrays[0].sync_copy_to(values.data(), shape.size());
  return values;
}

}  // namespace mxnet::io
