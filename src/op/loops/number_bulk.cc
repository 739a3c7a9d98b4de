// SPDX-License-Identifier: Apache-2.0
// Compiles the conversions of numbers for each instruction set.
#include "op/loops/number_bulk.h"

#include <bit>

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/loops/number_bulk.inc"
#include "base/simd_targets.h"

}  // namespace

// A template argument list with a comma cannot stand in a macro's argument.
#define MX_LOOPS convert_array<From, To>
template <class From, class To>
void convert_numbers(const From* from, To* to, int64_t n) {
  // Only AVX-512 has instructions for int64.
  if constexpr (!kIsWideNumber<From> || std::is_same_v<From, int64_t> ||
                std::is_same_v<To, int64_t>) {
    MX_SIMD_CALL(MX_LOOPS)(from, to, n);
  } else {
    MX_SIMD_CALL_FOR_TRAFFIC(MX_LOOPS)(from, to, n);
  }
}
#undef MX_LOOPS

#define MX_PAIR(From, To) template void convert_numbers(const From*, To*, int64_t);
#define MX_FROM_BYTE(From) \
  MX_PAIR(From, float)     \
  MX_PAIR(From, double)    \
  MX_PAIR(From, int32_t)   \
  MX_PAIR(From, uint32_t)  \
  MX_PAIR(From, int64_t)
#define MX_BOTH_WAYS(A, B) MX_PAIR(A, B) MX_PAIR(B, A)
MX_FROM_BYTE(uint8_t)
MX_FROM_BYTE(int8_t)
MX_BOTH_WAYS(float, double)
MX_BOTH_WAYS(float, int32_t)
MX_BOTH_WAYS(float, int64_t)
MX_BOTH_WAYS(double, int32_t)
MX_BOTH_WAYS(double, int64_t)
MX_BOTH_WAYS(int32_t, int64_t)
MX_BOTH_WAYS(bfloat16, int32_t)
MX_BOTH_WAYS(bfloat16, int8_t)
MX_PAIR(uint8_t, bfloat16)
MX_PAIR(bfloat16, double)
MX_PAIR(bfloat16, bool)
MX_PAIR(uint8_t, bool)
MX_PAIR(float, bool)
MX_PAIR(int32_t, bool)
MX_PAIR(float, int8_t)
MX_PAIR(double, int8_t)
MX_PAIR(int32_t, int8_t)
MX_PAIR(int32_t, uint8_t)
#undef MX_BOTH_WAYS
#undef MX_FROM_BYTE
#undef MX_PAIR

}  // namespace mxnet
