// SPDX-License-Identifier: Apache-2.0
// One loop for all element types.
#include "op/accumulate.h"

#include "op/dispatch.h"
#include "op/parallel.h"

namespace mxnet {

void accumulate(const Tensor& target, const Tensor& addend) {
  dispatch_dtype(target.dtype, "add", [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    T* to = target.as<T>();
    const T* from = addend.as<T>();
    parallel_for(target.size(), 1.0, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        to[i] = static_cast<T>(static_cast<C>(to[i]) + static_cast<C>(from[i]));
    });
  });
}

}  // namespace mxnet
