// SPDX-License-Identifier: Apache-2.0
// Each conversion counts first, so that the result is sized exactly, then fills. What is moved are
// bytes; the test for zero is of an element's bits.
#include "ndarray/sparse_convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "ndarray/sparse_check.h"
#include "ndarray/sparse_index.h"

namespace mxnet {
namespace {

// An array seen as a matrix: its first dimension by all the others.
struct Geometry {
  int64_t rows, columns;
  std::size_t item;  // bytes of an element
  explicit Geometry(const NDArray& array)
      : rows(array.shape()[0]),
        columns(array.shape().size(1, array.shape().ndim())),
        item(dtype_size(array.dtype())) {}
  std::size_t row_bytes() const { return static_cast<std::size_t>(columns) * item; }
};

char* at_item(void* data, int64_t i, std::size_t item) {
  return static_cast<char*>(data) + static_cast<std::size_t>(i) * item;
}
const char* at_item(const void* data, int64_t i, std::size_t item) {
  return static_cast<const char*>(data) + static_cast<std::size_t>(i) * item;
}

// fn(mask) with an unsigned integer of the element's width: the bits of which one is set unless the
// element is zero. A sign alone is zero, too.
template <class F>
void with_bits(DType dtype, const F& fn) {
  const auto bits = [&]<class Word>(Word all) {
    fn(static_cast<Word>(is_floating(dtype) ? all >> 1 : all));
  };
  switch (dtype_size(dtype)) {
    case 1:
      return bits(uint8_t{0xff});
    case 2:
      return bits(uint16_t{0xffff});
    case 4:
      return bits(~uint32_t{0});
    default:
      MX_ASSERT(dtype_size(dtype) == 8);
      return bits(~uint64_t{0});
  }
}

template <class Word>
int64_t count_nonzero(const Word* from, int64_t n, Word mask) {
  constexpr int64_t kBlock = int64_t{1} << 20;  // narrow counters fit more often into a register
  int64_t count = 0;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t end = std::min(n, start + kBlock);
    uint32_t some = 0;
    for (int64_t i = start; i < end; ++i) some += (from[i] & mask) != 0;
    count += some;
  }
  return count;
}

// Whether any of n elements is not zero: of a short row all are read, without a branch between.
template <class Word>
bool any_nonzero(const Word* from, int64_t n, Word mask) {
  constexpr int64_t kBlock = 64;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t end = std::min(n, start + kBlock);
    Word all = 0;
    for (int64_t i = start; i < end; ++i) all |= from[i];
    if ((all & mask) != 0) return true;
  }
  return false;
}

// The `stored` elements of a row that are not zero, and their columns. Each element is written, and
// the next one over it if it was zero: nothing is guessed.
template <class Word, class Index>
void pack_row(const Word* __restrict from, int64_t columns, Word mask, int64_t stored,
              Word* __restrict values, Index* __restrict indices) {
  if (stored == columns) {
    std::copy_n(from, columns, values);
    for (int64_t column = 0; column < columns; ++column)
      indices[column] = static_cast<Index>(column);
    return;
  }
  for (int64_t column = 0, k = 0; k < stored; ++column) {
    const Word word = from[column];
    values[k] = word;
    indices[k] = static_cast<Index>(column);
    k += (word & mask) != 0;
  }
}

void dense_to_csr(const NDArray& from, const NDArray& to) {
  const Geometry g(from);
  with_bits(from.dtype(), [&]<class Word>(Word mask) {
    const auto* data = static_cast<const Word*>(from.data());
    std::vector<int64_t> ends(static_cast<std::size_t>(g.rows));
    int64_t stored = 0;
    for (int64_t row = 0; row < g.rows; ++row) {
      stored += count_nonzero(data + row * g.columns, g.columns, mask);
      ends[static_cast<std::size_t>(row)] = stored;
    }
    SparseStore& store = to.sparse();
    store.resize(stored, to.device());
    const IndexWriter indptr(store, SparseStore::kIndptr), indices(store, SparseStore::kIndices);
    int64_t begin = 0;
    indptr.set(0, 0);
    for (int64_t row = 0; row < g.rows; ++row) {
      const int64_t end = ends[static_cast<std::size_t>(row)];
      indices.with_array([&](auto* array) {
        pack_row(data + row * g.columns, g.columns, mask, end - begin,
                 static_cast<Word*>(store.values()) + begin, array + begin);
      });
      begin = end;
      indptr.set(row + 1, end);
    }
  });
}

void csr_to_dense(const NDArray& from, const NDArray& to) {
  const Geometry g(from);
  const SparseStore& store = from.sparse();
  if (to.bytes() > 0) std::memset(to.data(), 0, to.bytes());
  if (store.stored() == 0) return;
  const IndexReader indptr(store, SparseStore::kIndptr), indices(store, SparseStore::kIndices);
  for (int64_t row = 0; row < g.rows; ++row) {
    char* target = at_item(to.data(), row * g.columns, g.item);
    for (int64_t k = indptr[row]; k < indptr[row + 1]; ++k)
      std::memcpy(at_item(target, indices[k], g.item), at_item(store.values(), k, g.item), g.item);
  }
}

void dense_to_row_sparse(const NDArray& from, const NDArray& to) {
  const Geometry g(from);
  const void* data = from.data();
  std::vector<int64_t> rows;
  with_bits(from.dtype(), [&]<class Word>(Word mask) {
    for (int64_t row = 0; row < g.rows; ++row)
      if (any_nonzero(static_cast<const Word*>(data) + row * g.columns, g.columns, mask))
        rows.push_back(row);
  });
  SparseStore& store = to.sparse();
  store.resize(static_cast<int64_t>(rows.size()), to.device());
  const IndexWriter indices(store, SparseStore::kRows);
  for (int64_t k = 0; k < store.stored(); ++k) {
    const int64_t row = rows[static_cast<std::size_t>(k)];
    indices.set(k, row);
    std::memcpy(at_item(store.values(), k, g.row_bytes()), at_item(data, row, g.row_bytes()),
                g.row_bytes());
  }
}

void row_sparse_to_dense(const NDArray& from, const NDArray& to) {
  const Geometry g(from);
  const SparseStore& store = from.sparse();
  if (to.bytes() > 0) std::memset(to.data(), 0, to.bytes());
  if (g.row_bytes() == 0) return;
  const IndexReader rows(store, SparseStore::kRows);
  for (int64_t k = 0; k < store.stored(); ++k)
    std::memcpy(at_item(to.data(), rows[k], g.row_bytes()),
                at_item(store.values(), k, g.row_bytes()), g.row_bytes());
}

void csr_to_row_sparse(const NDArray& from, const NDArray& to) {
  const Geometry g(from);
  const SparseStore& source = from.sparse();
  SparseStore& target = to.sparse();
  if (source.stored() == 0) return target.resize(0, to.device());
  const IndexReader indptr(source, SparseStore::kIndptr), indices(source, SparseStore::kIndices);
  int64_t stored = 0;
  for (int64_t row = 0; row < g.rows; ++row) stored += indptr[row] < indptr[row + 1];
  target.resize(stored, to.device());
  if (target.part_bytes(SparseStore::kValues) > 0)
    std::memset(target.values(), 0, target.part_bytes(SparseStore::kValues));
  const IndexWriter rows(target, SparseStore::kRows);
  for (int64_t row = 0, k = 0; row < g.rows; ++row) {
    if (indptr[row] == indptr[row + 1]) continue;
    char* values = at_item(target.values(), k, g.row_bytes());
    for (int64_t j = indptr[row]; j < indptr[row + 1]; ++j)
      std::memcpy(at_item(values, indices[j], g.item), at_item(source.values(), j, g.item), g.item);
    rows.set(k++, row);
  }
}

void row_sparse_to_csr(const NDArray& from, const NDArray& to) {
  const Geometry g(from);
  const SparseStore& source = from.sparse();
  with_bits(from.dtype(), [&]<class Word>(Word mask) {
    const auto* data = static_cast<const Word*>(source.values());
    SparseStore& target = to.sparse();
    target.resize(count_nonzero(data, source.stored() * g.columns, mask), to.device());
    if (target.stored() == 0) return;
    const IndexReader rows(source, SparseStore::kRows);
    const IndexWriter indptr(target, SparseStore::kIndptr);
    const IndexWriter indices(target, SparseStore::kIndices);
    int64_t next = 0, k = 0;  // next: the row whose start is to be written
    for (int64_t r = 0; r < source.stored(); ++r, data += g.columns) {
      for (; next <= rows[r]; ++next) indptr.set(next, k);
      const int64_t stored = count_nonzero(data, g.columns, mask);
      indices.with_array([&](auto* array) {
        pack_row(data, g.columns, mask, stored, static_cast<Word*>(target.values()) + k, array + k);
      });
      k += stored;
    }
    for (; next <= g.rows; ++next) indptr.set(next, k);
  });
}

// The same layout, with whatever index types.
void same_layout(const NDArray& from, const NDArray& to) {
  copy_structure(from, to);
  const SparseStore& source = from.sparse();
  if (const std::size_t bytes = source.part_bytes(SparseStore::kValues); bytes > 0)
    std::memcpy(to.sparse().values(), source.values(), bytes);
}

void slice_now(const NDArray& from, const NDArray& to, int64_t row_begin, int64_t column_begin) {
  require_safe_format(from);
  const SparseStore& source = from.sparse();
  SparseStore& target = to.sparse();
  if (source.stored() == 0) return target.resize(0, to.device());
  const Geometry g(to);
  const IndexReader indptr(source, SparseStore::kIndptr), indices(source, SparseStore::kIndices);
  const auto wanted = [&](int64_t j) {
    return indices[j] >= column_begin && indices[j] < column_begin + g.columns;
  };
  int64_t stored = 0;
  for (int64_t j = indptr[row_begin]; j < indptr[row_begin + g.rows]; ++j) stored += wanted(j);
  target.resize(stored, to.device());
  if (stored == 0) return;
  const IndexWriter out_indptr(target, SparseStore::kIndptr);
  const IndexWriter out_indices(target, SparseStore::kIndices);
  int64_t k = 0;
  out_indptr.set(0, 0);
  for (int64_t row = 0; row < g.rows; ++row) {
    for (int64_t j = indptr[row_begin + row]; j < indptr[row_begin + row + 1]; ++j) {
      if (!wanted(j)) continue;
      std::memcpy(at_item(target.values(), k, g.item), at_item(source.values(), j, g.item), g.item);
      out_indices.set(k++, indices[j] - column_begin);
    }
    out_indptr.set(row + 1, k);
  }
}

}  // namespace

void copy_structure(const NDArray& from, const NDArray& to) {
  const SparseStore& source = from.sparse();
  SparseStore& target = to.sparse();
  target.resize_part(SparseStore::kValues, source.values_shape(), to.device());
  for (int aux = 0; aux < source.num_aux(); ++aux) {
    if (target.share_aux(aux, source, to.device())) continue;
    target.resize_part(1 + aux, source.aux_shape(aux), to.device());
    const IndexReader reader(source, aux);
    const IndexWriter writer(target, aux);
    for (int64_t i = 0; i < reader.size(); ++i) writer.set(i, reader[i]);
  }
}

void convert_storage(const NDArray& from, const NDArray& to) {
  const StorageType source = from.storage_type(), target = to.storage_type();
  // Indices are a caller's data: what lies outside must not be written through.
  if (from.is_sparse()) require_safe_format(from);
  using enum StorageType;
  if (source == target) return same_layout(from, to);
  if (source == kDense)
    return target == kCSR ? dense_to_csr(from, to) : dense_to_row_sparse(from, to);
  if (target == kDense)
    return source == kCSR ? csr_to_dense(from, to) : row_sparse_to_dense(from, to);
  return source == kCSR ? csr_to_row_sparse(from, to) : row_sparse_to_csr(from, to);
}

NDArray cast_storage(const NDArray& from, StorageType type) {
  require_data(from, "cast_storage");
  if (from.storage_type() == type) return from;
  NDArray to = type == StorageType::kDense
                   ? NDArray(from.shape(), from.dtype(), from.device())
                   : NDArray(type, from.shape(), from.dtype(), from.device());
  from.copy_to(to);
  return to;
}

NDArray slice_csr(const NDArray& from, int64_t row_begin, int64_t row_end, int64_t column_begin,
                  int64_t column_end) {
  require_data(from, "slice");
  if (from.storage_type() != StorageType::kCSR) {
    throw Error(ErrorCode::kType, "NDArray",
                fmt::format("slice: given a {} array, expected csr",
                            storage_type_name(from.storage_type())));
  }
  const Shape& shape = from.shape();
  if (row_begin < 0 || row_begin > row_end || row_end > shape[0] || column_begin < 0 ||
      column_begin > column_end || column_end > shape[1]) {
    throw Error(ErrorCode::kIndex, "NDArray",
                fmt::format("slice: given [{}:{}, {}:{}] of shape {}", row_begin, row_end,
                            column_begin, column_end, to_string(shape)));
  }
  if (from.device().is_gpu()) {
    return slice_csr(from.copy(Device::cpu()), row_begin, row_end, column_begin, column_end)
        .copy(from.device());
  }
  NDArray to(StorageType::kCSR, Shape{row_end - row_begin, column_end - column_begin}, from.dtype(),
             from.device(), {from.sparse().aux_dtype(0), from.sparse().aux_dtype(1)});
  const std::array<Var*, 1> reads{from.var()}, writes{to.var()};
  Engine::get().push(
      [from = from.detach(), to, row_begin, column_begin](const RunContext&) {
        slice_now(from, to, row_begin, column_begin);
      },
      {.device = from.device(), .reads = reads, .writes = writes, .name = "SliceCSR"});
  return to;
}

}  // namespace mxnet
