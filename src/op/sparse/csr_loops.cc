// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set.
#include "op/sparse/csr_loops.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/simd.h"

namespace mxnet {
namespace {

template <class T, int kBytes>
struct VectorOf;
#define MX_VECTOR_OF(bytes)                             \
  template <class T>                                    \
  struct VectorOf<T, bytes> {                           \
    typedef T type __attribute__((vector_size(bytes))); \
  };
MX_VECTOR_OF(16)
MX_VECTOR_OF(32)
MX_VECTOR_OF(64)
#undef MX_VECTOR_OF

#define MX_SIMD_FILE "op/sparse/csr_loops.inc"
#include "base/simd_targets.h"

}  // namespace

template <class T>
CsrLoops<T> csr_loops() {
  return MX_SIMD_CALL(csr_loops<T>)();
}
template CsrLoops<float> csr_loops();
template CsrLoops<double> csr_loops();

}  // namespace mxnet
