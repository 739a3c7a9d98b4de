// SPDX-License-Identifier: Apache-2.0
// The mean image, out of an array file.
#include "io/mean_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ndarray/byte_source.h"
#include "ndarray/load.h"
#include "ndarray/save.h"

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

void write_mean_image(const std::string& path, const Shape& shape, BatchSource& images) {
  std::vector<double> sums(static_cast<std::size_t>(shape.size()));
  int64_t count = 0;
  Batch batch;
  while (images.next(&batch)) {
    const int64_t here = batch.data.shape()[0] - batch.pad;
    const float* pixel = batch.data.data_as<float>();
    for (int64_t i = 0; i < here; ++i)
      for (double& sum : sums) sum += *pixel++;
    count += here;
  }
  if (count == 0)
    throw Error(ErrorCode::kValue, "mean_img",
                "given no images, expected some to take the mean of");
  NDArray mean(shape, DType::kFloat32, Device::cpu());
  std::transform(sums.begin(), sums.end(), mean.data_as<float>(),
                 [&](double sum) { return static_cast<float>(sum / static_cast<double>(count)); });
  const std::array<std::string, 1> names{"mean_img"};
  save_file(path, {&mean, 1}, names, false);
}

}  // namespace mxnet::io
