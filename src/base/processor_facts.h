// SPDX-License-Identifier: Apache-2.0
// What follows from how a processor was made and not from the instructions that it has: which way
// of doing the same is fastest there. One table for all of the library, in processor_facts.cc: a
// new processor gets its row there, and whoever asks names a fact, never a processor.
#pragma once
#include <cstdint>

namespace mxnet {

enum class ProcessorVendor : uint8_t { kOther, kAmd, kIntel };

// Which processor this is, as far as the table asks.
struct ProcessorId {
  ProcessorVendor vendor = ProcessorVendor::kOther;
  unsigned family = 0, model = 0;     // as CPUID counts them, the extended parts added
  int simd_level = 0;                 // base/simd.h
  bool has_fast_short_moves = false;  // FSRM: short strings are moved fast
};

// No fact changes a result.
struct ProcessorFacts {
  // 512 bits are worked on in halves: loops that wait for memory are faster with vectors of 256.
  bool halves_wide_vectors = false;
  // How many streams of memory a sum reads at once: one may not keep the memory busy.
  int streams_of_sums = 1;
  // Squares of a transposition follow each other along the rows of the result, whose lines are
  // asked for ahead; else down its columns.
  bool turns_along_result = false;
  // `rep movsb` is as fast as any loop, in the caches and out of them.
  bool moves_strings = false;
  // A line that is written whole is read first all the same, unless it is asked for to be written.
  bool reads_what_it_writes = false;
  // So is a line of a large fill that is not near, and it pays to ask for those very far ahead.
  bool fills_far_ahead = false;
  // What one thread repeats is written to memory as fast as to the third-level cache.
  bool repeats_past_caches = false;
  // Products of floats gain by tiles of more rows than others have registers for.
  bool gains_by_tall_tiles = false;
  // Products of floats gain by tiles of twelve rows beside those of OpenBLAS, which may read both
  // factors where they lie.
  bool gains_by_open_tiles = false;
  // Beside those, products of floats gain by packed panels wherever the right factor is large, if
  // there are more than a few rows.
  bool gains_by_packed_panels = false;
  // A large matrix of floats times a vector gains by four rows at once, beside OpenBLAS.
  bool gains_by_rows_at_once = false;
  // A store that compresses takes no longer than to compress in a register and to store that.
  bool stores_compressed = false;
};

// The table: nothing but `id` decides.
ProcessorFacts facts_about(const ProcessorId& id) noexcept;

// This one's, asked for at the first call. Thread-safe.
const ProcessorFacts& processor_facts() noexcept;

}  // namespace mxnet
