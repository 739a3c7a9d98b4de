// SPDX-License-Identifier: Apache-2.0
// The bins of many elements between any edges, by the widest instructions that the CPU has.
#pragma once
#include <cstdint>
#include <type_traits>

namespace mxnet {

// As wide as an element.
template <class C>
using BinOf = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;
// Elements at a time: they and their bins stay in the first-level cache.
inline constexpr int64_t kSearched = 512;
// Bins, so that a BinOf counts them.
inline constexpr int64_t kMostSearched = int64_t{1} << 30;

// bin[i] = bin_between(x[i], bins, edges), n <= kSearched. bins <= kMostSearched. C: float,
// double, int32_t, int64_t.
template <class C>
void search_edges(const C* x, int64_t n, const C* edges, int64_t bins, BinOf<C>* bin);

}  // namespace mxnet
