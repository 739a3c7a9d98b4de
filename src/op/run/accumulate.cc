// SPDX-License-Identifier: Apache-2.0
// The loop of additions, for all element types.
#include "op/run/accumulate.h"

#include <type_traits>

#include "op/loops/blockwise.h"
#include "op/rows/binary_loops.h"
#include "op/rows/row_math.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"
#include "op/run/parallel_each.h"

namespace mxnet {

void accumulate(const Tensor& target, const Tensor& addend) {
  dispatch_dtype(target.dtype, "add", [&]<class T>(TypeTag<T>) {
    T* to = target.as<T>();
    const T* from = addend.as<T>();
    if constexpr (std::is_same_v<T, bool>) {
      parallel_each(target.size(), 1.0, [=](int64_t i) { to[i] = row_math::plus(to[i], from[i]); });
    } else {
      using Sum = std::conditional_t<kIsHalf<T>, float, T>;
      const auto add = binary_loop<Sum, Sum>(BinaryRow::add).arrays;
      parallel_for(target.size(), 1.0, [=](int64_t first, int64_t last) {
        T* const sum = to + first;
        if constexpr (kIsHalf<T>)
          through_float(add, sum, last - first, sum, from + first);
        else
          add(sum, from + first, sum, last - first);
      });
    }
  });
}

}  // namespace mxnet
