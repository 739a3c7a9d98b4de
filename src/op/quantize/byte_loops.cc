// SPDX-License-Identifier: Apache-2.0
// Compiles the loops between bytes and numbers for each instruction set.
#include "op/quantize/byte_loops.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/simd.h"

namespace mxnet::quantize {
namespace {

#define MX_SIMD_FILE "op/quantize/byte_loops.inc"
#include "base/simd_targets.h"

using Widen = void (*)(const int8_t*, float*, int64_t, float);

void widen_unsigned(const int8_t* in, float* to, int64_t n, float factor) {
  MX_SIMD_CALL(widen<uint8_t>)(reinterpret_cast<const uint8_t*>(in), to, n, factor);
}

Widen widen_loop(bool is_signed) {
  return is_signed ? MX_SIMD_CALL(widen<int8_t>) : widen_unsigned;
}

}  // namespace

#define MX_SCALE scale<From, To>
template <class From, class To>
ScaleLoop<From, To> scale_loop() {
  return MX_SIMD_CALL(MX_SCALE);
}
#undef MX_SCALE
template ScaleLoop<float, int8_t> scale_loop();
template ScaleLoop<float, uint8_t> scale_loop();
template ScaleLoop<int32_t, int8_t> scale_loop();
template ScaleLoop<int32_t, uint8_t> scale_loop();

void widen_bytes(const int8_t* in, bool is_signed, float* to, int64_t n, float factor) {
  widen_loop(is_signed)(in, to, n, factor);
}

// Blocks of floats in the first-level cache: a loop for each pair of types would be four times as
// many.
template <class T>
void sum_bytes(const int8_t* a, bool a_signed, const int8_t* b, bool b_signed, T* to, int64_t n,
               const SumFactors& factors) {
  constexpr int64_t kBlock = 1024;
  std::array<float, kBlock> lhs, rhs;
  const Widen widen_a = widen_loop(a_signed), widen_b = widen_loop(b_signed);
  const auto add_up = MX_SIMD_CALL(add<T>);
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = std::min(kBlock, n - i);
    widen_a(a + i, lhs.data(), count, factors.lhs);
    widen_b(b + i, rhs.data(), count, factors.rhs);
    add_up(lhs.data(), rhs.data(), to + i, count);
  }
}
template void sum_bytes(const int8_t*, bool, const int8_t*, bool, int8_t*, int64_t,
                        const SumFactors&);
template void sum_bytes(const int8_t*, bool, const int8_t*, bool, uint8_t*, int64_t,
                        const SumFactors&);
template void sum_bytes(const int8_t*, bool, const int8_t*, bool, int32_t*, int64_t,
                        const SumFactors&);

}  // namespace mxnet::quantize
