// SPDX-License-Identifier: Apache-2.0
// By shuffles of vectors of 16 bytes, whose tables are made for the call: any number of bytes, any
// count.
#include "op/moving/repeat_elements.h"

#include <array>
#include <cstring>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet {
namespace {

constexpr int64_t kVector = 16;

#define MX_SIMD_FILE "op/moving/repeat_elements.inc"
#include "base/simd_wide_targets.h"

void repeat_one_by_one(const char* in, char* out, int64_t n, int64_t width, int64_t count) {
  const auto bytes = static_cast<std::size_t>(width);
  for (int64_t i = 0; i < n; ++i, in += width)
    for (int64_t j = 0; j < count; ++j, out += width) std::memcpy(out, in, bytes);
}

}  // namespace

void repeat_elements(const char* in, char* out, int64_t n, int64_t width, int64_t count) {
  const auto run = MX_SIMD_WIDE_AT(simd_level(), repeat_vectors);
  const int64_t vectors = run == nullptr ? 0 : n * width / kVector;
  if (vectors > 0) {
    alignas(16) std::array<unsigned char, kLeastSpread * kVector> order;
    for (int64_t i = 0; i < count * kVector; ++i)
      order[static_cast<std::size_t>(i)] =
          static_cast<unsigned char>(i / (width * count) * width + i % width);
    run(in, out, vectors, count, order.data());
  }
  const int64_t done = vectors * kVector;
  repeat_one_by_one(in + done, out + done * count, n - done / width, width, count);
}

}  // namespace mxnet
