// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of the reductions for each instruction set.
#include "op/reducing/reduce_loops.h"

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/half.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12's own intrinsics, not ours

namespace mxnet {
namespace {

template <class T, int N>
struct VectorOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N>
using Vector = typename VectorOf<T, N>::type;

// Where integers wrap, they do so as unsigned numbers.
template <class V>
struct Wrapping {
  using type = V;
};
template <>
struct Wrapping<int64_t> {
  using type = uint64_t;
};
#define MX_WRAPPING(lanes)                  \
  template <>                               \
  struct Wrapping<Vector<int64_t, lanes>> { \
    using type = Vector<uint64_t, lanes>;   \
  };
MX_WRAPPING(2)
MX_WRAPPING(4)
MX_WRAPPING(8)
#undef MX_WRAPPING

template <class A>
constexpr A lowest() {
  if constexpr (std::is_floating_point_v<A>) return -std::numeric_limits<A>::infinity();
  return std::numeric_limits<A>::lowest();
}
template <class A>
constexpr A highest() {
  if constexpr (std::is_floating_point_v<A>) return std::numeric_limits<A>::infinity();
  return std::numeric_limits<A>::max();
}

#define MX_SIMD_FILE "op/reducing/reduce_loops.inc"
#include "base/simd_targets.h"

}  // namespace

// A template argument list with a comma cannot stand in a macro's argument.
#define MX_LOOPS reduce_table<L, A>
template <class L, class A>
const ReduceLoops<L, A>& reduce_loops(Reduction reduction) {
  using Table = const ReduceLoops<L, A>* (*)();
  static const Table table = MX_SIMD_CALL_FOR_TRAFFIC(MX_LOOPS);
  return table()[static_cast<int>(reduction)];
}

template <class L, class A>
void ReduceLoops<L, A>::rows(const L* x, const RowRuns& runs, const A* c, A* values) const {
  if (many_rows != nullptr) return many_rows(x, runs, values);
  for (int64_t i = 0; i < runs.outputs; ++i)
    values[i] = one_row(x + i * runs.step, runs.length, runs.count, runs.stride,
                        c == nullptr ? A(0) : c[i]);
}

#define MX_INSTANTIATE(L, A)         \
  template struct ReduceLoops<L, A>; \
  template const ReduceLoops<L, A>& reduce_loops(Reduction);
MX_INSTANTIATE(float, float)
MX_INSTANTIATE(float16, float)
MX_INSTANTIATE(bfloat16, float)
MX_INSTANTIATE(float, double)
MX_INSTANTIATE(double, double)
MX_INSTANTIATE(int32_t, int64_t)
MX_INSTANTIATE(int64_t, int64_t)
MX_INSTANTIATE(uint8_t, uint8_t)
MX_INSTANTIATE(int8_t, int8_t)
MX_INSTANTIATE(int32_t, int32_t)

}  // namespace mxnet
