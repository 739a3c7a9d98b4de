// SPDX-License-Identifier: Apache-2.0
// The shared way to hand a loop over elements to lanes and threads.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/simd.h"
#include "op/run/parallel.h"

namespace mxnet {

// fn(i) for each i of [0, count), none of which meets another. `fn` holds what it needs by value
// ([=]): the loop works on a copy of it that nothing points to, and so need not read a factor or a
// pointer again after each number that it writes, which may lie anywhere for all a compiler knows.
// With that, loops over bytes, too, become vectors.
template <class F>
void parallel_each(int64_t count, double cost, const F& fn) {
  static_assert(std::is_trivially_copyable_v<F>, "numbers and pointers, by value");
  parallel_for(count, cost, [&fn](int64_t first, int64_t last) {
    const F own = fn;
    MX_INDEPENDENT_STEPS
    for (int64_t i = first; i < last; ++i) own(i);
  });
}

}  // namespace mxnet
