// SPDX-License-Identifier: Apache-2.0
// Walks through arrays that are larger than the caches near a core, to and fro: what the last one
// met last is still near, and the next one meets it first.
#pragma once
#include <algorithm>
#include <cstdint>

#include "op/run/parallel.h"

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

// As run_parts, for a body that meets `bytes` of memory for an item and can be called for a few
// items at a time as well, multiples of `align`: each thread walks through its part so.
void run_sweeps(int64_t count, double cost, int64_t bytes, int64_t align, RangeBody body);

// The same for any fn(first, last).
template <class F>
void parallel_sweep(int64_t count, double cost, int64_t bytes, const F& fn, int64_t align) {
  run_sweeps(count, cost, bytes, align, {&fn, [](const void* body, int64_t first, int64_t last) {
                                           (*static_cast<const F*>(body))(first, last);
                                         }});
}

}  // namespace mxnet
