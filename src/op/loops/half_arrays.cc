// SPDX-License-Identifier: Apache-2.0
// The processor's conversions, a part of the array for each thread.
#include "op/loops/half_arrays.h"

#include "base/error.h"
#include "base/half_bulk.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

template <class From, class To>
void convert_all(const From* from, To* to, int64_t count) {
  parallel_for(count, 0.25, [&](int64_t first, int64_t last) {
    convert(from + first, to + first, static_cast<std::size_t>(last - first));
  });
}

}  // namespace

void widen(DType dtype, const void* from, float* to, int64_t count) {
  if (dtype == DType::kFloat16) return convert_all(static_cast<const float16*>(from), to, count);
  MX_ASSERT(dtype == DType::kBFloat16);
  convert_all(static_cast<const bfloat16*>(from), to, count);
}

void narrow(const float* from, DType dtype, void* to, int64_t count) {
  if (dtype == DType::kFloat16) return convert_all(from, static_cast<float16*>(to), count);
  MX_ASSERT(dtype == DType::kBFloat16);
  convert_all(from, static_cast<bfloat16*>(to), count);
}

}  // namespace mxnet
