// SPDX-License-Identifier: Apache-2.0
// Conversion and range rules of indices.
#include "op/moving/positions.h"

#include <fmt/format.h>

#include "base/error.h"
#include "op/loops/convert.h"
#include "op/moving/position_loops.h"
#include "op/run/dispatch.h"

namespace mxnet {
namespace {

using Converter = void (*)(const void* from, int64_t* to, int64_t n);

Converter converter(DType dtype, const char* tag) {
  return dispatch_dtype(dtype, tag, [&]<class T>(TypeTag<T>) -> Converter {
    return [](const void* from, int64_t* to, int64_t n) {
      convert_array(static_cast<const T*>(from), to, n);
    };
  });
}

[[noreturn]] void fail(const char* tag, int64_t index, int64_t low, int64_t extent) {
  throw Error(ErrorCode::kIndex, tag,
              fmt::format("given index {}, expected one in [{}, {})", index, low, extent));
}

}  // namespace

Positions::Positions(const Tensor& indices, int64_t extent, OutOfRange rule, const char* tag)
    : indices_(indices),
      convert_(converter(indices.dtype, tag)),
      count_(indices.size()),
      extent_(extent),
      rule_(rule),
      tag_(tag) {
  if (extent == 0 && count_ > 0) {
    throw Error(ErrorCode::kIndex, tag,
                fmt::format("given {} indices into nothing, expected none", count_));
  }
}

void Positions::read(int64_t first, int64_t n, int64_t* to) const {
  const std::size_t skipped = static_cast<std::size_t>(first) * dtype_size(indices_.dtype);
  const char* const from = indices_.as<const char>() + skipped;
  if (rule_ == OutOfRange::kClip && indices_.dtype == DType::kInt64)
    return clip_positions(reinterpret_cast<const int64_t*>(from), to, n, extent_);
  if (rule_ == OutOfRange::kClip && indices_.dtype == DType::kInt32)
    return clip_positions(reinterpret_cast<const int32_t*>(from), to, n, extent_);
  convert_(from, to, n);
  switch (rule_) {
    case OutOfRange::kClip:
      clip_positions(to, to, n, extent_);
      break;
    case OutOfRange::kWrap:
      if (all_within(to, n, 0, extent_)) break;
      for (int64_t i = 0; i < n; ++i) {
        if (to[i] >= 0 && to[i] < extent_) continue;  // spares the division
        to[i] %= extent_;
        if (to[i] < 0) to[i] += extent_;
      }
      break;
    case OutOfRange::kRaise:
      if (all_within(to, n, 0, extent_)) break;
      for (int64_t i = 0; i < n; ++i)
        if (to[i] < 0 || to[i] >= extent_) fail(tag_, to[i], 0, extent_);
      break;
    case OutOfRange::kFromBack:
      if (all_within(to, n, 0, extent_)) break;
      for (int64_t i = 0; i < n; ++i) {
        if (to[i] < -extent_ || to[i] >= extent_) fail(tag_, to[i], -extent_, extent_);
        if (to[i] < 0) to[i] += extent_;
      }
      break;
  }
}

void read_int64(const Tensor& tensor, int64_t first, int64_t n, int64_t* to) {
  const auto offset = static_cast<std::size_t>(first) * dtype_size(tensor.dtype);
  converter(tensor.dtype, "index")(tensor.as<const char>() + offset, to, n);
}

void read_truth(const Tensor& tensor, int64_t first, int64_t n, bool* to) {
  if (tensor.dtype == DType::kBool) {
    // Whoever filled the array may have left other bytes than 0 and 1, or nothing at all.
    const uint8_t* const bytes = tensor.as<const uint8_t>() + first;
    for (int64_t i = 0; i < n; ++i) to[i] = bytes[i] != 0;
    return;
  }
  dispatch_dtype(tensor.dtype, "mask",
                 [&]<class T>(TypeTag<T>) { convert_array(tensor.as<const T>() + first, to, n); });
}

}  // namespace mxnet
