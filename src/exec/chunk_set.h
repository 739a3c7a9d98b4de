// SPDX-License-Identifier: Apache-2.0
// Which pieces of memory a few arrays use.
#pragma once
#include <algorithm>
#include <bitset>
#include <cstdint>
#include <vector>

#include "ndarray/chunk.h"

namespace mxnet {

// A set of chunks that answers "certainly not" from one bit.
class ChunkSet {
 public:
  explicit ChunkSet(std::size_t expected) { chunks_.reserve(expected); }
  void insert(const Chunk* chunk) {
    bits_.set(hash(chunk));
    chunks_.push_back(chunk);
  }
  bool contains(const Chunk* chunk) const {
    return bits_.test(hash(chunk)) &&
           std::find(chunks_.begin(), chunks_.end(), chunk) != chunks_.end();
  }

 private:
  static std::size_t hash(const Chunk* chunk) {
    return reinterpret_cast<uintptr_t>(chunk) * 0x9E3779B97F4A7C15 >> 52;
  }
  std::bitset<4096> bits_;
  std::vector<const Chunk*> chunks_;
};

}  // namespace mxnet
