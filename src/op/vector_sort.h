// SPDX-License-Identifier: Apache-2.0
// Sorting of unsigned keys by the vector instructions of the CPU.
#pragma once
#include <cstdint>

namespace mxnet {

// Sorts keys[0, n) in place and returns true; false, with the keys in any order, where the CPU has
// no instructions that help or the keys defeat every choice of a pivot. `spare` has room for n.
// Thread-safe. K: uint32_t or uint64_t.
template <class K>
bool sort_by_vectors(K* keys, K* spare, int64_t n);

}  // namespace mxnet
