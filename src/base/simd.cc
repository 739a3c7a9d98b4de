// SPDX-License-Identifier: Apache-2.0
// Asks the processor and the configuration once.
#include "base/simd.h"

#include <algorithm>

#include "base/config.h"
#include "base/error.h"
#include "base/processor_facts.h"

namespace mxnet {
namespace {

constexpr int kAVX2 = 1, kAVX512 = 2;

int most_allowed() noexcept {
  try {
    return config().cpu.vector_level.value_or(kAVX512);
  } catch (const Error&) {  // said by whatever asks for more than the level
    return kAVX512;
  }
}

}  // namespace

CpuFeatures within_level(CpuFeatures has, int level) noexcept {
  if (level < kAVX512) {
    has.avx512f = has.avx512bw = has.avx512vl = has.avx512dq = has.avx512cd = false;
    has.avx512vbmi = has.avx512vnni = has.avx512bf16 = has.avx512fp16 = false;
    has.amx_tile = has.amx_int8 = has.amx_bf16 = false;
  }
  if (level < kAVX2) has.avx = has.avx2 = has.f16c = has.fma = false;
  return has;
}

int level_of(const CpuFeatures& has) noexcept {
  if (has.avx512f && has.avx512bw && has.avx512vl && has.avx512dq && has.avx512cd) return kAVX512;
  return has.avx2 && has.fma ? kAVX2 : 0;
}

const CpuFeatures& simd_features() noexcept {
  static const CpuFeatures features = within_level(cpu_features(), most_allowed());
  return features;
}

int simd_level() noexcept {
  static const int level = level_of(simd_features());
  return level;
}

int simd_level_for_traffic() noexcept {
  static const int level =
      processor_facts().halves_wide_vectors ? std::min(simd_level(), kAVX2) : simd_level();
  return level;
}

}  // namespace mxnet
