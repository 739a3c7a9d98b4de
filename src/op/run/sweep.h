// SPDX-License-Identifier: Apache-2.0
// Walks through arrays that are larger than the caches near a core, to and fro: what the last one
// met last is still near, and the next one meets it first.
#pragma once
#include <algorithm>
#include <cstdint>

namespace mxnet {

// The next walk of the calling thread over so many bytes, read and written together. No result may
// depend on its direction.
class Sweep {
 public:
  // What is read or written before the direction counts again.
  static constexpr int64_t kBlockBytes = int64_t{1} << 18;
  // Bytes of a result of which a walk may be worth turning round.
  static constexpr int64_t kLeastWritten = int64_t{1} << 19;

  explicit Sweep(int64_t bytes) noexcept;

  bool back() const { return back_; }
  // fn(first, n) for [0, count), blocks of `block`, but for the last one.
  template <class F>
  void blocks(int64_t count, int64_t block, const F& fn) const {
    const int64_t blocks = (count + block - 1) / block;
    for (int64_t i = 0; i < blocks; ++i) {
      const int64_t first = (back_ ? blocks - 1 - i : i) * block;
      fn(first, std::min(block, count - first));
    }
  }

 private:
  bool back_;
};

}  // namespace mxnet
