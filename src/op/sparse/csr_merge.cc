// SPDX-License-Identifier: Apache-2.0
// A function an element size: all that it needs is in registers.
#include "op/sparse/csr_merge.h"

#include <algorithm>
#include <limits>

#include "base/simd.h"
#include "base/simd_intrinsics.h"
#include "op/run/element_size.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/sparse/csr_merge.inc"
#include "base/simd_targets.h"

// Without a branch an element: which operand comes next is anybody's guess. Places are counted up
// to zero, so that one question tells whether both have elements left.
template <class Item, Align align>
int64_t merge(const Lines& left, const Lines& right, int64_t rows, const Merged& to, int64_t* ends,
              int64_t first) {
  int64_t* const columns = to.columns;
  auto *const to_left = reinterpret_cast<Item*>(to.left), *const to_right =
                                                              reinterpret_cast<Item*>(to.right);
  int64_t n = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t left_last = left.ends[row + 1], right_last = right.ends[row + 1];
    const int64_t *const left_end = left.columns + left_last, *const right_end =
                                                                  right.columns + right_last;
    const auto* left_values = reinterpret_cast<const Item*>(left.values) + left_last;
    const auto* right_values = reinterpret_cast<const Item*>(right.values) + right_last;
    int64_t i = left.ends[row] - left_last, j = right.ends[row] - right_last;
    while ((i & j) < 0) {
      const int64_t a = left_end[i], b = right_end[j];
      const auto of_left = -static_cast<int64_t>(a <= b), of_right = -static_cast<int64_t>(b <= a);
      columns[n] = std::min(a, b);
      to_left[n] = static_cast<Item>(left_values[i] & static_cast<Item>(of_left));
      to_right[n] = static_cast<Item>(right_values[j] & static_cast<Item>(of_right));
      i -= of_left;
      j -= of_right;
      n += align == Align::kAny ? 1 : of_left & of_right & 1;
    }
    if (align == Align::kAny) {  // one of them has some left
      const bool of_left = i < 0;
      const int64_t* const rest = of_left ? left_end : right_end;
      const Item* const values = of_left ? left_values : right_values;
      Item *const taken = of_left ? to_left : to_right, *const lacking =
                                                            of_left ? to_right : to_left;
      for (i |= j; i < 0; ++i, ++n) {
        columns[n] = rest[i];
        taken[n] = values[i];
        lacking[n] = 0;
      }
    }
    ends[row + 1] = first + n;
  }
  return n;
}

template <class Item, Align align>
MergeLines any_merge(int64_t limit) {
  const MergeLines vectors = limit <= std::numeric_limits<int32_t>::max()
                                 ? MX_SIMD_AT(simd_level(), vector_merge<Item, align>)()
                                 : nullptr;
  return vectors != nullptr ? vectors : merge<Item, align>;
}

}  // namespace

MergeLines merge_of(std::size_t item, Align align, int64_t limit) {
  MergeLines result = nullptr;
  dispatch_bytes(item, [&]<class Item>(Item) {
    result = align == Align::kAny ? any_merge<Item, Align::kAny>(limit)
                                  : any_merge<Item, Align::kBoth>(limit);
  });
  return result;
}

bool ascend(const Lines& lines, int64_t rows, int64_t limit) {
  const int64_t* const columns = lines.columns;
  // Those that do not ascend are as many as rows that begin with such a one.
  int64_t descents =
      MX_SIMD_CALL(count_descents)(columns + lines.ends[0], lines.ends[rows] - lines.ends[0]);
  bool inside = true;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t begin = lines.ends[row], end = lines.ends[row + 1];
    if (begin == end) continue;
    inside &= columns[begin] >= 0 && columns[end - 1] < limit;
    if (begin > lines.ends[0])
      descents -= static_cast<int64_t>(columns[begin] <= columns[begin - 1]);
  }
  return inside && descents == 0;
}

}  // namespace mxnet
