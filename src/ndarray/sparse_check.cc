// SPDX-License-Identifier: Apache-2.0
// Three questions: do the sizes fit, do the ends, does every entry. The last one is asked once of
// indices that stay as they are.
#include "ndarray/sparse_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "ndarray/sparse_index.h"

namespace mxnet {
namespace {

[[noreturn]] void complain(const NDArray& array, const std::string& what) {
  throw Error(ErrorCode::kValue, "NDArray",
              fmt::format("{} array of shape {}: {}", storage_type_name(array.storage_type()),
                          to_string(array.shape()), what));
}

void check_sizes(const NDArray& array) {
  const SparseStore& store = array.sparse();
  const Shape& values = store.values_shape();
  for (int aux = 0; aux < store.num_aux(); ++aux) {
    if (store.aux_shape(aux).ndim() != 1)
      complain(array, fmt::format("given indices of shape {}, expected one dimension",
                                  to_string(store.aux_shape(aux))));
  }
  if (array.storage_type() == StorageType::kRowSparse) {
    Shape expected = array.shape();
    expected[0] = store.aux_shape(SparseStore::kRows)[0];
    if (values != expected)
      complain(array, fmt::format("given values of shape {} for {} rows, expected {}",
                                  to_string(values), expected[0], to_string(expected)));
    return;
  }
  const int64_t stored = store.aux_shape(SparseStore::kIndices)[0];
  const int64_t pointers = store.aux_shape(SparseStore::kIndptr)[0];
  if (values.ndim() != 1 || values[0] != stored)
    complain(array,
             fmt::format("given values of shape {} for {} indices", to_string(values), stored));
  if (pointers != array.shape()[0] + 1 && !(pointers == 0 && stored == 0))
    complain(array, fmt::format("given an indptr of {} entries, expected {}", pointers,
                                array.shape()[0] + 1));
}

void check_ends(const NDArray& array) {
  const SparseStore& store = array.sparse();
  if (array.storage_type() != StorageType::kCSR) return;
  const IndexReader indptr(store, SparseStore::kIndptr);
  if (indptr.size() == 0) return;
  if (indptr[0] != 0) complain(array, fmt::format("indptr[0] is {}, expected 0", indptr[0]));
  const int64_t last = indptr.size() - 1, stored = store.aux_shape(SparseStore::kIndices)[0];
  if (indptr[last] != stored)
    complain(array, fmt::format("indptr[{}] is {}, expected {}, the number of values", last,
                                indptr[last], stored));
}

// What was found in indices; each holds what those before it hold. csr: kRows is that ends ascend,
// the others are about columns, too. row_sparse knows kInside and kAscending.
enum class Order : unsigned char { kNothing, kRows, kInside, kDistinct, kAscending };

// What an array's memory keeps of such a finding (made_of_values.h). It holds as long as
// 1. the version is the one that was read before the first entry was looked at: each operation that
//    writes the array and each HostWrite counts one when it has written, whatever it has written
//    and however it has ended, and none of them looks at indices after it has changed them;
// 2. nobody outside has an address of the array's memory, nor is it anybody else's: then there is
//    no such list, and no finding holds for longer than the call that has looked.
// Copies and results are arrays of their own, of which nothing is known. Two readers at a time find
// the same.
class Findings {
 public:
  explicit Findings(const NDArray& array)
      : made_(worth_keeping(array) ? array.chunk()->made_of_values() : nullptr),
        version_(made_ == nullptr ? 0 : Engine::get().version(array.var())),
        key_{kKey, array.shape()[0], array.shape().size(1, array.shape().ndim())} {}

  Order known() const {
    bool again = false;
    const auto found = made_ == nullptr ? nullptr : made_->find(version_, key_, &again);
    return found == nullptr ? Order::kNothing : *static_cast<const Order*>(found.get());
  }
  void keep(Order order) const {
    static const Order all[] = {Order::kNothing, Order::kRows, Order::kInside, Order::kDistinct,
                                Order::kAscending};
    // Nobody owns a constant.
    if (made_ != nullptr)
      made_->add(version_, key_, {MadeOfValues::Made(), &all[static_cast<std::size_t>(order)]});
  }

 private:
  static constexpr int64_t kKey = -1;
  // Fewer are looked at in the time in which a finding is looked up.
  static constexpr int64_t kFewIndices = 256;
  static bool worth_keeping(const NDArray& array) {
    const SparseStore& store = array.sparse();
    return store.aux_shape(0).size() + store.aux_shape(store.num_aux() - 1).size() >= kFewIndices;
  }

  MadeOfValues* const made_;
  const uint64_t version_;
  const MadeOfValues::Key key_;
};

// What one loop over all entries tells, without a branch for each.
struct Overview {
  bool inside;       // all are in [0, limit)
  int64_t descents;  // entries that are not larger than the one before
};
Overview look_over(const IndexReader& indices, int64_t limit) {
  return indices.with_array([&](const auto* all) {
    const int64_t count = indices.size();
    const uint64_t most = static_cast<uint64_t>(limit) - 1;
    // With the sign bit where an index is outside; a negative one stays one.
    const auto outside_of = [&](int64_t index) {
      return static_cast<uint64_t>(index) | (most - static_cast<uint64_t>(index));
    };
    uint64_t outside = count > 0 ? outside_of(all[0]) : 0;
    int64_t descents = 0;
    for (int64_t k = 1; k < count; ++k) {
      outside |= outside_of(all[k]);
      descents += static_cast<int64_t>(all[k] <= all[k - 1]);
    }
    return Overview{outside >> 63 == 0, descents};
  });
}

// Entries [begin, end) of an index array against `limit`, and ascending if asked for.
void check_range(const NDArray& array, const IndexReader& indices, int64_t begin, int64_t end,
                 int64_t limit, bool ascending) {
  for (int64_t k = begin; k < end; ++k) {
    const int64_t index = indices[k];
    if (index < 0 || index >= limit)
      complain(array, fmt::format("indices[{}] is {}, expected 0 <= index < {}", k, index, limit));
    if (ascending && k > begin && index <= indices[k - 1])
      complain(array, fmt::format("indices[{}] is {} after {}, expected ascending indices", k,
                                  index, indices[k - 1]));
  }
}

// Entries [begin, end) are different ones.
void check_distinct(const NDArray& array, const IndexReader& indices, int64_t begin, int64_t end) {
  // Rows that ascend, mostly all, cost one look.
  int64_t ascending = begin + 1;
  while (ascending < end && indices[ascending - 1] < indices[ascending]) ++ascending;
  if (ascending >= end) return;
  std::vector<int64_t> sorted;
  for (int64_t k = begin; k < end; ++k) sorted.push_back(indices[k]);
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    complain(array, fmt::format("index {} is there twice in one row, expected once", *twice));
}

// Entry by entry, to say which one is wrong.
void check_rows(const NDArray& array, Order order) {
  const SparseStore& store = array.sparse();
  const IndexReader indptr(store, SparseStore::kIndptr), indices(store, SparseStore::kIndices);
  for (int64_t row = 0; row + 1 < indptr.size(); ++row) {
    if (indptr[row] > indptr[row + 1] || indptr[row + 1] > indices.size())
      complain(array, fmt::format("indptr[{}] is {} after {}, expected ascending up to {}", row + 1,
                                  indptr[row + 1], indptr[row], indices.size()));
    check_range(array, indices, indptr[row], indptr[row + 1], array.shape()[1],
                order == Order::kAscending);
    if (order == Order::kDistinct) check_distinct(array, indices, indptr[row], indptr[row + 1]);
  }
}

// Looks at all rows; what it has found is at least `wanted`.
Order look_at_rows(const NDArray& array, Order wanted) {
  const IndexReader rows(array.sparse(), SparseStore::kRows);
  const int64_t limit = array.shape()[0];
  const Overview overview = look_over(rows, limit);
  const bool ascending = wanted != Order::kInside;
  if (!overview.inside || (ascending && overview.descents > 0))
    check_range(array, rows, 0, rows.size(), limit, ascending);
  return overview.descents == 0 ? Order::kAscending : Order::kInside;
}

Order look_at_csr(const NDArray& array, Order wanted) {
  const SparseStore& store = array.sparse();
  const IndexReader indptr(store, SparseStore::kIndptr), indices(store, SparseStore::kIndices);
  const bool columns = wanted > Order::kRows;
  const Overview overview =
      columns ? look_over(indices, array.shape()[1]) : Overview{true, indices.size()};
  // Where a row begins they may descend.
  bool sound = overview.inside;
  int64_t descents = overview.descents;
  for (int64_t row = 0; row + 1 < indptr.size(); ++row) {
    const int64_t begin = indptr[row], end = indptr[row + 1];
    sound = sound && begin <= end && end <= indices.size();
    if (sound && columns && begin > 0 && begin < end)
      descents -= static_cast<int64_t>(indices[begin] <= indices[begin - 1]);
  }
  if (!sound || (wanted > Order::kInside && descents > 0)) check_rows(array, wanted);
  return columns && descents == 0 ? Order::kAscending : wanted;
}

void check_indices(const NDArray& array, Order wanted) {
  const bool rows = array.storage_type() == StorageType::kRowSparse;
  // Whatever is done to rows needs them distinct, but for a way through all of them.
  if (rows && wanted != Order::kInside) wanted = Order::kAscending;
  const Findings findings(array);
  if (findings.known() >= wanted) return;
  findings.keep(rows ? look_at_rows(array, wanted) : look_at_csr(array, wanted));
}

}  // namespace

void require_safe_format(const NDArray& array) {
  if (!array.is_sparse()) return;
  check_sizes(array);
  check_ends(array);
  check_indices(array, Order::kInside);
}

void require_distinct_format(const NDArray& array) {
  if (!array.is_sparse()) return;
  check_sizes(array);
  check_ends(array);
  check_indices(array, Order::kDistinct);
}

void require_rows_format(const NDArray& array) {
  if (!array.is_sparse()) return;
  check_sizes(array);
  check_ends(array);
  check_indices(array, Order::kRows);
}

bool is_known_ascending(const NDArray& array) {
  return Findings(array).known() == Order::kAscending;
}

void check_format(const NDArray& array, bool full) {
  require_data(array, "check_format");
  if (!array.is_sparse()) return;
  if (array.device().is_gpu()) {
    NDArray host = array.copy(Device::cpu());
    return check_format(host, full);
  }
  array.wait_to_read();
  check_sizes(array);
  check_ends(array);
  if (full) check_indices(array, Order::kAscending);
}

}  // namespace mxnet
