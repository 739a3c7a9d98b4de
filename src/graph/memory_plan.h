// SPDX-License-Identifier: Apache-2.0
// Where tensors of known sizes and lifetimes lie in one arena. Knows nothing of graphs:
// memory_plan_graph.h finds the lifetimes.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace mxnet {

// Offsets and sizes are multiples of this: a cache line, and the widest vector.
inline constexpr std::size_t kArenaAlignment = 64;

constexpr std::size_t arena_bytes(std::size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

// Memory that is needed from step `first` to step `last`, both included.
struct MemoryInterval {
  std::size_t bytes = 0;
  int first = 0, last = 0;
};

struct PackingOptions {
  // Two tensors may use the same bytes only if neither is more than this many times the other's
  // size; 0 = no two share (NNVM_EXEC_MATCH_RANGE).
  int match_range = 16;
  // Also tries the powers of two below match_range (NNVM_AUTO_SEARCH_MATCH_RANGE).
  bool search_match_range = false;
};

struct Packing {
  std::vector<std::size_t> offsets;  // one per interval
  std::size_t bytes = 0;             // of the arena
};

// The smallest packing that several orders of placement find. Deterministic.
Packing pack_intervals(std::span<const MemoryInterval> intervals, const PackingOptions& options);

// The most bytes that are needed at one step: no packing can be smaller.
std::size_t most_live_bytes(std::span<const MemoryInterval> intervals);

}  // namespace mxnet
