// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 arrays to and from float32, by the widest instructions that the CPU has. Bit
// for bit what half.h does for single values.
#pragma once
#include <cstddef>

#include "base/half.h"

namespace mxnet {

// Any alignment; the ranges must not overlap. Thread-safe.
void convert(const float16* from, float* to, std::size_t count) noexcept;
void convert(const float* from, float16* to, std::size_t count) noexcept;
void convert(const bfloat16* from, float* to, std::size_t count) noexcept;
void convert(const float* from, bfloat16* to, std::size_t count) noexcept;

namespace half_detail {

// One way to convert; all of them give the same bits.
struct BulkPath {
  const char* name;
  void (*half_to_float)(const float16*, float*, std::size_t) noexcept;
  void (*float_to_half)(const float*, float16*, std::size_t) noexcept;
  void (*bfloat_to_float)(const bfloat16*, float*, std::size_t) noexcept;
  void (*float_to_bfloat)(const float*, bfloat16*, std::size_t) noexcept;
};

// Those that this CPU can run, the fastest first; the last is portable. For tests and benchmarks.
struct BulkPaths {
  const BulkPath* begin() const { return paths; }
  const BulkPath* end() const { return paths + count; }
  BulkPath paths[3];
  int count;
};
const BulkPaths& bulk_paths() noexcept;

}  // namespace half_detail

}  // namespace mxnet
