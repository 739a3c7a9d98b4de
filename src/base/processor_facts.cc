// SPDX-License-Identifier: Apache-2.0
// The measurements behind the rows are in docs/memory_kernels.md.
#include "base/processor_facts.h"

#include "base/simd.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mxnet {
namespace {

ProcessorId this_processor() noexcept {
  ProcessorId id;
  id.simd_level = simd_level();
#if defined(__x86_64__)
  id.vendor = __builtin_cpu_is("amd") != 0     ? ProcessorVendor::kAmd
              : __builtin_cpu_is("intel") != 0 ? ProcessorVendor::kIntel
                                               : ProcessorVendor::kOther;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) {
    const unsigned family = a >> 8 & 0xf;
    id.family = family == 0xf ? family + (a >> 20 & 0xff) : family;
    id.model = (a >> 12 & 0xf0) | (a >> 4 & 0xf);
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    constexpr unsigned kFastShortMoves = 1U << 4;
    id.has_fast_short_moves = (d & kFastShortMoves) != 0;
  }
#endif
  return id;
}

}  // namespace

ProcessorFacts facts_about(const ProcessorId& id) noexcept {
  constexpr unsigned kZen3And4 = 0x19, kZen5 = 0x1A;    // AMD's families
  constexpr unsigned kCore = 6, kSkylakeServer = 0x55;  // Intel's, which Cascade Lake shares
  constexpr int kAvx2 = 1, kAvx512 = 2;
  ProcessorFacts facts;
  if (id.simd_level == kAvx2) facts.streams_of_sums = 4;
  if (id.vendor == ProcessorVendor::kAmd && id.family == kZen3And4) {
    facts.halves_wide_vectors = true;  // Zen 3 has none
    facts.turns_along_result = true;
    if (id.simd_level == kAvx512) facts.streams_of_sums = 2;
  }
  if (id.vendor == ProcessorVendor::kAmd && id.family >= kZen3And4)
    facts.gains_by_open_tiles = facts.gains_by_rows_at_once = id.simd_level == kAvx512;
  if (id.vendor == ProcessorVendor::kAmd && id.family >= kZen5) {
    facts.moves_strings = id.has_fast_short_moves;
    facts.fills_far_ahead = true;
  }
  if (id.vendor == ProcessorVendor::kIntel) {
    facts.stores_compressed = true;
    // After Cascade Lake processors take instructions enough for tiles that address each row.
    // Measured on an Emerald Rapids, but for rows at once, which follow from OpenBLAS's rate.
    if (id.family == kCore && id.model != kSkylakeServer && id.simd_level == kAvx512)
      facts.gains_by_open_tiles = facts.gains_by_packed_panels = facts.gains_by_rows_at_once =
          facts.repeats_past_caches = true;
    // Later servers see by themselves that whole lines are written. A system may keep the vectors
    // from programs that the loops for it use.
    if (id.family == kCore && id.model == kSkylakeServer && id.simd_level >= kAvx2) {
      facts.reads_what_it_writes = true;
      facts.gains_by_tall_tiles = facts.gains_by_rows_at_once = id.simd_level == kAvx512;
    }
  }
  return facts;
}

const ProcessorFacts& processor_facts() noexcept {
  static const ProcessorFacts facts = facts_about(this_processor());
  return facts;
}

}  // namespace mxnet
