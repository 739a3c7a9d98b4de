// SPDX-License-Identifier: Apache-2.0
// Images into the bytes of files.
#include <fmt/format.h>

#include <string>

#include "c_api/guard.h"
#include "c_api/ndarray_handle.h"
#include "mxnet/c_api_ext.h"
#include "op/image/codec.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

[[noreturn]] void wrong(const std::string& given_and_expected) {
  throw Error(ErrorCode::kValue, "MXImageEncode", given_and_expected);
}

std::string encoded(const NDArray& image, std::string_view format, int quality) {
  const Shape& shape = image.shape();
  const int channels = shape.ndim() == 3 ? static_cast<int>(shape[2]) : 1;
  if (image.dtype() != DType::kUInt8 || (shape.ndim() != 2 && shape.ndim() != 3) ||
      (channels != 1 && channels != 3) || shape.size() == 0) {
    wrong(fmt::format("given {} {}, expected uint8 (height, width, 1 or 3)",
                      dtype_name(image.dtype()), to_string(shape)));
  }
  const image::Size size{shape[0], shape[1]};
  image::expect_size(size);
  const auto* const pixels = static_cast<const uint8_t*>(image.data());
  if (format == ".png") {
    if (quality < 0 || quality > 9)
      wrong(fmt::format("given quality {} for PNG, expected 0 to 9", quality));
    return image::encode_png(pixels, size, channels, quality);
  }
  if (format != ".jpg" && format != ".jpeg")
    wrong(fmt::format("given format '{}', expected .jpg, .jpeg or .png", format));
  if (quality < 1 || quality > 100)
    wrong(fmt::format("given quality {} for JPEG, expected 1 to 100", quality));
  return image::encode_jpeg(pixels, size, channels, quality);
}

}  // namespace

int MXImageEncode(NDArrayHandle image, const char* format, int quality, const char** out_bytes,
                  size_t* out_size) {
  return guarded([&] {
    const char* const function = "MXImageEncode";
    const NDArray& array = array_of(image, function);
    require(format, function, "format");
    require(out_bytes, function, "out_bytes");
    require(out_size, function, "out_size");
    require_dense(array, function);
    const NDArray host = array.device().is_gpu() ? array.copy(Device::cpu()) : array;
    host.wait_to_read();
    std::string& bytes = ndarray_returns().bytes;
    bytes = encoded(host, format, quality);
    *out_bytes = bytes.data();
    *out_size = bytes.size();
  });
}
