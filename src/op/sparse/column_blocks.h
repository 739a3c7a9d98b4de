// SPDX-License-Identifier: Apache-2.0
// Ways through a csr matrix that meet only some columns at a time, so that what is gathered for
// them stays in the caches.
#pragma once
#include <cstdint>

#include "op/sparse_context.h"

namespace mxnet {

// So many bytes stay in the caches while entries add to them here and there.
inline constexpr int64_t kCachedBytes = 1 << 19;

// Of row i of the matrix, the entries [begins[i], ends[i]) are in columns [first, last).
struct BlockBody {
  const void* body;
  void (*run)(const void* body, const int64_t* begins, const int64_t* ends, int64_t first,
              int64_t last);
};
void run_column_blocks(const CsrView& csr, const int64_t* slots, int64_t first, int64_t last,
                       int64_t block, BlockBody body);

// fn(begins, ends, first, last) for all blocks of so many columns of [first, last), one after the
// other. Columns are those of `slots` (csr.indices, or what stands for them). REQUIRES: slots
// ascend in each row.
template <class F>
void for_column_blocks(const CsrView& csr, const int64_t* slots, int64_t first, int64_t last,
                       int64_t block, const F& fn) {
  run_column_blocks(
      csr, slots, first, last, block,
      {&fn, [](const void* body, const int64_t* begins, const int64_t* ends, int64_t from,
               int64_t to) { (*static_cast<const F*>(body))(begins, ends, from, to); }});
}

// Whether rows have so many entries in each of so many blocks that these are worth being looked
// for, and whether columns ascend.
bool has_column_blocks(const CsrView& csr, int64_t blocks);

}  // namespace mxnet
