// SPDX-License-Identifier: Apache-2.0
// Scratch memory of trials. Ways to do one thing are tried one behind the other on one stream, each
// with arrays of its own: they take the same memory in turn, and more only where one needs more
// than those before it.
#pragma once
#include <cstddef>
#include <vector>

namespace mxnet::cuda {

// Not thread-safe. What was taken lives as long as what `make` has made.
class TrialMemory {
 public:
  // The next way begins: the memory of those before is its, in the order in which they took it.
  void rewind() { next_ = 0; }

  // Null for no bytes. make(bytes) gives more where the ways before have not taken as much; what
  // that replaces stays with whom it was made by.
  template <class Make>
  void* take(std::size_t bytes, const Make& make) {
    if (next_ == blocks_.size()) blocks_.emplace_back();
    Block& block = blocks_[next_++];
    if (block.bytes < bytes) block = {make(bytes), bytes};
    return bytes == 0 ? nullptr : block.data;
  }

 private:
  struct Block {
    void* data = nullptr;
    std::size_t bytes = 0;
  };
  std::vector<Block> blocks_;
  std::size_t next_ = 0;  // of the way under way
};

}  // namespace mxnet::cuda
