// SPDX-License-Identifier: Apache-2.0
// Compiles the search among edges for each instruction set.
#include "op/reduce/edge_search.h"

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/reduce/edge_search.inc"
#include "base/simd_targets.h"

}  // namespace

template <class C>
void search_edges(const C* x, int64_t n, const C* edges, int64_t bins, BinOf<C>* bin) {
  MX_SIMD_CALL(search_edges<C>)(x, n, edges, bins, bin);
}

#define MX_INSTANTIATE(C) \
  template void search_edges(const C*, int64_t, const C*, int64_t, BinOf<C>*);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
MX_INSTANTIATE(int32_t)
MX_INSTANTIATE(int64_t)
#undef MX_INSTANTIATE

}  // namespace mxnet
