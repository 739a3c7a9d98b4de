// SPDX-License-Identifier: Apache-2.0
// Conversion and range rules of indices.
#include "op/moving/positions.h"

#include <fmt/format.h>

#include <cstring>

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

const char* bytes_at(const Tensor& tensor, int64_t element) {
  return tensor.as<const char>() + element * static_cast<int64_t>(dtype_size(tensor.dtype));
}

[[noreturn]] void fail(const char* tag, int64_t index, int64_t low, int64_t extent) {
  throw Error(ErrorCode::kIndex, tag,
              fmt::format("given index {}, expected one in [{}, {})", index, low, extent));
}

[[noreturn]] void fail_in_nothing(const char* tag, int64_t count) {
  throw Error(ErrorCode::kIndex, tag,
              fmt::format("given {} indices into nothing, expected none", count));
}

}  // namespace

Positions::Positions(const Tensor& indices, int64_t extent, OutOfRange rule, const char* tag)
    : indices_(indices),
      convert_(converter(indices.dtype, tag)),
      count_(indices.size()),
      extent_(extent),
      rule_(rule),
      tag_(tag) {
  if (extent == 0 && count_ > 0) fail_in_nothing(tag, count_);
}

Positions Positions::of_columns(const Tensor& indices, const Shape& box, OutOfRange rule,
                                const char* tag) {
  const auto depth = static_cast<int>(indices.dim(0));
  for (int d = 0; d < depth; ++d) {
    if (box[d] == 0 && indices.size() > 0) fail_in_nothing(tag, indices.size() / depth);
  }
  Positions result(indices, box.size(0, depth), rule, tag);
  result.count_ = indices.shape().size(1, indices.ndim());
  result.box_ = &box;
  return result;
}

void Positions::read(int64_t first, int64_t n, int64_t* to) const {
  if (box_ != nullptr) return read_columns(first, n, to);
  read_line(bytes_at(indices_, first), extent_, n, to);
}

// A block at a time, so that what lines add to it stays in the first-level cache.
void Positions::read_columns(int64_t first, int64_t n, int64_t* to) const {
  std::array<int64_t, kBlock> block;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    read_line(bytes_at(indices_, first + start), (*box_)[0], count, to + start);
    for (int d = 1; d < indices_.dim(0); ++d) {
      read_line(bytes_at(indices_, d * count_ + first + start), (*box_)[d], count, block.data());
      add_positions(block.data(), count, (*box_)[d], to + start);
    }
  }
}

void Positions::read_line(const char* from, int64_t extent, int64_t n, int64_t* to) const {
  if (rule_ == OutOfRange::kClip && indices_.dtype == DType::kInt64)
    return clip_positions(reinterpret_cast<const int64_t*>(from), to, n, extent);
  if (rule_ == OutOfRange::kClip && indices_.dtype == DType::kInt32)
    return clip_positions(reinterpret_cast<const int32_t*>(from), to, n, extent);
  if (indices_.dtype == DType::kInt64) {  // (which is a call and not a loop, element by element)
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(int64_t));
  } else {
    convert_(from, to, n);
  }
  switch (rule_) {
    case OutOfRange::kClip:
      clip_positions(to, to, n, extent);
      break;
    case OutOfRange::kWrap:
      if (all_within(to, n, 0, extent)) break;
      for (int64_t i = 0; i < n; ++i) {
        if (to[i] >= 0 && to[i] < extent) continue;  // spares the division
        to[i] %= extent;
        if (to[i] < 0) to[i] += extent;
      }
      break;
    case OutOfRange::kRaise:
      if (all_within(to, n, 0, extent)) break;
      for (int64_t i = 0; i < n; ++i)
        if (to[i] < 0 || to[i] >= extent) fail(tag_, to[i], 0, extent);
      break;
    case OutOfRange::kFromBack:
      if (all_within(to, n, 0, extent)) break;
      for (int64_t i = 0; i < n; ++i) {
        if (to[i] < -extent || to[i] >= extent) fail(tag_, to[i], -extent, extent);
        if (to[i] < 0) to[i] += extent;
      }
      break;
  }
}

void read_int64(const Tensor& tensor, int64_t first, int64_t n, int64_t* to) {
  converter(tensor.dtype, "index")(bytes_at(tensor, first), to, n);
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
