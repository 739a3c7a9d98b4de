// SPDX-License-Identifier: Apache-2.0
// One loop for all element types.
#include "op/run/accumulate.h"

#include "op/loops/blockwise.h"
#include "op/rows/row_math.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"
#include "op/run/parallel_each.h"

namespace mxnet {

void accumulate(const Tensor& target, const Tensor& addend) {
  dispatch_dtype(target.dtype, "add", [&]<class T>(TypeTag<T>) {
    T* to = target.as<T>();
    const T* from = addend.as<T>();
    if constexpr (kIsHalf<T>) {
      parallel_for(target.size(), 1.0, [=](int64_t first, int64_t last) {
        const auto add = [](const float* a, const float* b, float* sum, int64_t n) {
          for (int64_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
        };
        through_float(add, to + first, last - first, to + first, from + first);
      });
    } else {
      parallel_each(target.size(), 1.0, [=](int64_t i) { to[i] = row_math::plus(to[i], from[i]); });
    }
  });
}

}  // namespace mxnet
