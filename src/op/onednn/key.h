// SPDX-License-Identifier: Apache-2.0
// What tells one compiled primitive from another: shapes, types, attributes, thread count. Built on
// the stack at each call, so that finding a primitive allocates nothing.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "op/inline_vector.h"
#include "op/kernel.h"

namespace mxnet::onednn {

// Words in the order in which they were added; a list is preceded by its length, so that different
// lists never read alike.
class Key {
 public:
  // The number of threads is part of every primitive.
  Key();
  Key& add(int64_t word) {
    words_.push_back(word);
    return *this;
  }
  Key& add(std::span<const int64_t> words) {
    add(static_cast<int64_t>(words.size()));
    for (int64_t word : words) add(word);
    return *this;
  }
  Key& add(const Tensor& tensor) {
    return add(static_cast<int64_t>(tensor.dtype)).add(tensor.shape().dims());
  }

  std::span<const int64_t> words() const { return words_.span(); }
  std::size_t hash() const {
    uint64_t h = 0x9e3779b97f4a7c15;
    for (int64_t word : words_.span()) {
      h = (h ^ static_cast<uint64_t>(word)) * 0xff51afd7ed558ccd;
      h ^= h >> 32;
    }
    return h;
  }

 private:
  InlineVector<int64_t, 48> words_;
};

}  // namespace mxnet::onednn
