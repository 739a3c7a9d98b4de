// SPDX-License-Identifier: Apache-2.0
// A function an element size: all that it needs is in registers.
#include "op/sparse/csr_merge.h"

#include <algorithm>

#include "op/run/element_size.h"

namespace mxnet {
namespace {

// Without a branch an element: which operand comes next is anybody's guess. Places are counted up
// to zero, so that one question tells whether both have elements left. That columns ascend is seen
// by the way: looking at all of them before takes a quarter of the time.
template <class Item, Align align>
int64_t merge(const Line& left, const Line& right, const Merged& to, int64_t limit) {
  const int64_t *const left_end = left.columns + left.count, *const right_end =
                                                                 right.columns + right.count;
  const auto* left_values = reinterpret_cast<const Item*>(left.values) + left.count;
  const auto* right_values = reinterpret_cast<const Item*>(right.values) + right.count;
  int64_t* const columns = to.columns;
  auto *to_left = reinterpret_cast<Item*>(to.left), *to_right = reinterpret_cast<Item*>(to.right);
  int64_t i = -left.count, j = -right.count, n = 0, last = -1;
  bool ascending = true;
  while ((i & j) < 0) {
    const int64_t a = left_end[i], b = right_end[j];
    const auto of_left = -static_cast<int64_t>(a <= b), of_right = -static_cast<int64_t>(b <= a);
    const int64_t column = std::min(a, b);
    ascending &= column > last;
    last = column;
    columns[n] = column;
    to_left[n] = static_cast<Item>(left_values[i] & static_cast<Item>(of_left));
    to_right[n] = static_cast<Item>(right_values[j] & static_cast<Item>(of_right));
    i -= of_left;
    j -= of_right;
    n += align == Align::kAny ? 1 : of_left & of_right & 1;
  }
  // One of them has some left.
  const bool of_left = i < 0;
  const int64_t* const rest = of_left ? left_end : right_end;
  const Item* const values = of_left ? left_values : right_values;
  Item *const taken = of_left ? to_left : to_right, *const lacking = of_left ? to_right : to_left;
  for (i |= j; i < 0; ++i) {
    ascending &= rest[i] > last;
    last = rest[i];
    if (align == Align::kBoth) continue;
    columns[n] = last;
    taken[n] = values[i];
    lacking[n++] = 0;
  }
  return ascending && last < limit ? n : -1;
}

}  // namespace

MergeLines merge_of(std::size_t item, Align align) {
  MergeLines result = nullptr;
  dispatch_bytes(item, [&]<class Item>(Item) {
    result = align == Align::kAny ? merge<Item, Align::kAny> : merge<Item, Align::kBoth>;
  });
  return result;
}

}  // namespace mxnet
