// SPDX-License-Identifier: Apache-2.0
// Sums of arrays in host memory in one pass over it: each input is read once, each output written
// once, past the caches where it would not stay in them anyway.
#pragma once
#include <cstdint>
#include <span>

#include "base/dtype.h"

namespace mxnet::kvstore {

// The order of floating additions, which decides the last bits of a sum. Every addition rounds to
// the arrays' type. Both are what existing programs get from the stores of these names.
enum class SumOrder : uint8_t {
  kGrouped,  // local:  a0 + (((a1 + a2) + a3) + a4) + (((a5 + a6) + a7) + a8) + ...
  kLeft,     // device: ((a0 + a1) + a2) + ...
};

struct HostSum {
  std::span<const void* const> in;  // at least one
  std::span<void* const> out;       // all get the sum; may be one of `in`, otherwise no overlaps
  int64_t count = 0;                // elements of each
  DType dtype = DType::kUnknown;
  SumOrder order = SumOrder::kLeft;
  int threads = 1;
};

// The result does not depend on the number of threads.
void sum_on_host(const HostSum& sum);

}  // namespace mxnet::kvstore
