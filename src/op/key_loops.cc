// SPDX-License-Identifier: Apache-2.0
// Compiles the loops between elements and keys for each instruction set.
#include "op/key_loops.h"

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/key_loops.inc"
#include "base/simd_targets.h"

}  // namespace

template <class T>
void keys_of(const T* values, SortKey<T>* keys, int64_t n, SortKey<T> flip) {
  MX_SIMD_CALL(keys_of<T>)(values, keys, n, flip);
}

template <class T>
void keyed_of(const T* values, Keyed<SortKey<T>>* keys, int64_t n, SortKey<T> flip) {
  MX_SIMD_CALL(keyed_of<T>)(values, keys, n, flip);
}

template <class T>
void values_of(const SortKey<T>* keys, T* values, int64_t n, SortKey<T> flip) {
  MX_SIMD_CALL(values_of<T>)(keys, values, n, flip);
}

#define MX_INSTANTIATE(T)                                                    \
  template void keys_of(const T*, SortKey<T>*, int64_t, SortKey<T>);         \
  template void keyed_of(const T*, Keyed<SortKey<T>>*, int64_t, SortKey<T>); \
  template void values_of(const SortKey<T>*, T*, int64_t, SortKey<T>);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
MX_INSTANTIATE(float16)
MX_INSTANTIATE(bfloat16)
MX_INSTANTIATE(uint8_t)
MX_INSTANTIATE(int8_t)
MX_INSTANTIATE(int32_t)
MX_INSTANTIATE(int64_t)
MX_INSTANTIATE(bool)
#undef MX_INSTANTIATE

}  // namespace mxnet
