// SPDX-License-Identifier: Apache-2.0
// Splits sparse products over threads by their work. Each element of a result is summed by one
// thread in the order of the entries: the same bits for any number of threads.
#include <algorithm>
#include <vector>

#include "op/run/parallel.h"
#include "op/sparse/column_blocks.h"
#include "op/sparse/products.h"

namespace mxnet {
namespace {

// Up to this many columns for each entry, counting them all is cheaper than sorting entries.
constexpr int64_t kColumnsPerEntry = 8;
// Blocks of rows of a product by a vector, at most, and the entries that each has for a column.
constexpr int64_t kMostBlocks = 8, kEntriesPerSum = 16;

// fn(first, last) on rows, in parts of about equal numbers of entries.
template <class F>
void parallel_rows(int64_t rows, const int64_t* begins, double cost, const F& fn) {
  const auto row_at = [&](int64_t work) {  // work counts entries and rows
    int64_t low = 0, high = rows;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      begins[middle] - begins[0] + middle < work ? low = middle + 1 : high = middle;
    }
    return low;
  };
  const int64_t work = rows == 0 ? 0 : begins[rows] - begins[0] + rows;
  parallel_for(work, cost, [&](int64_t first, int64_t last) {
    const int64_t begin = row_at(first), end = last == work ? rows : row_at(last);
    if (begin < end) fn(begin, end);
  });
}

}  // namespace

bool has_few_columns(const CsrView& csr) { return csr.columns <= kColumnsPerEntry * csr.stored; }

std::vector<char> used_columns(const CsrView& csr) {
  std::vector<char> used(static_cast<std::size_t>(csr.columns));
  char* const all = used.data();
  std::for_each(csr.indices, csr.indices + csr.stored, [all](int64_t column) { all[column] = 1; });
  return used;
}

StoredColumns stored_columns(const SparseContext& context, const CsrView& csr) {
  StoredColumns result{{}, csr.indices};
  std::vector<int64_t>& columns = result.columns;
  const int64_t *const begin = csr.indices, *const end = begin + csr.stored;
  if (has_few_columns(csr)) {
    const std::vector<char> used = used_columns(csr);
    const auto count = static_cast<std::size_t>(std::count(used.begin(), used.end(), 1));
    columns.resize(count + 1);
    std::vector<int64_t> slot_of(used.size());
    std::size_t slot = 0;
    for (std::size_t c = 0; c < used.size(); ++c) {  // a column that is not used is written over
      slot_of[c] = static_cast<int64_t>(slot);
      columns[slot] = static_cast<int64_t>(c);
      slot += used[c] > 0 ? 1 : 0;
    }
    columns.pop_back();
    if (count == used.size()) return result;
    auto* const slots = context.workspace_of<int64_t>(csr.stored);
    std::transform(begin, end, slots, [all = slot_of.data()](int64_t c) { return all[c]; });
    result.slots = slots;
    return result;
  }
  columns.assign(begin, end);
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  auto* const slots = context.workspace_of<int64_t>(csr.stored);
  std::transform(begin, end, slots, [&](int64_t c) {
    return std::lower_bound(columns.begin(), columns.end(), c) - columns.begin();
  });
  result.slots = slots;
  return result;
}

template <class T>
void combine_rows(const Coefficients<T>& c, const MatrixRows<T>& dense, T* out) {
  const CsrLoops<T> loops = csr_loops<T>();
  const bool vector = dense.width == 1;
  parallel_rows(
      c.rows, c.begins, static_cast<double>(dense.width), [&](int64_t first, int64_t last) {
        if (vector) {
          return loops.gathered_rows(last - first, c.begins + first, c.indices, c.values,
                                     dense.data, out + first);
        }
        for (int64_t i = first; i < last; ++i) {
          const int64_t begin = c.begins[i], count = c.begins[i + 1] - begin;
          loops.combine(c.values + begin, c.indices + begin, count, dense, out + i * dense.width);
        }
      });
}

template <class T>
void transposed_times_rows(const CsrView& csr, const T* values, const int64_t* slots,
                           int64_t height, const int64_t* sources, const MatrixRows<T>& dense,
                           T* out) {
  const int64_t width = dense.width;
  const int64_t block =
      std::max<int64_t>(1, kCachedBytes / (width * static_cast<int64_t>(sizeof(T))));
  const double work = static_cast<double>(csr.stored + height) * static_cast<double>(width);
  const double cost = work / static_cast<double>(height);
  // Threads, too, have a stretch each: asking every entry whether it is theirs takes as long as a
  // narrow row.
  const int64_t threads = threads_for(height, cost);
  const int64_t stretches = std::max(height / block, threads);
  const bool blocks = (block < height || threads > 1) && has_column_blocks(csr, stretches);
  parallel_for(height, cost, [&](int64_t first, int64_t last) {
    const auto scatter = [&](const int64_t* begins, const int64_t* ends, int64_t from, int64_t to) {
      std::fill(out + from * width, out + to * width, T{0});
      csr_loops<T>().scatter_rows({csr.rows, begins, ends, slots, values, sources, from, to}, dense,
                                  out);
    };
    if (blocks) return for_column_blocks(csr, slots, first, last, block, scatter);
    scatter(csr.indptr, csr.indptr + 1, first, last);
  });
}

// Threads take blocks of rows, whose number depends on sizes alone; their sums are added in order.
template <class T>
void transposed_times_vector(const SparseContext& context, const CsrView& csr, const T* values,
                             const T* x, T* sums) {
  const int64_t columns = csr.columns;
  // In blocks of columns the order of additions is the same as below, so that it may depend on what
  // is known.
  const int64_t block = kCachedBytes / 8 / static_cast<int64_t>(sizeof(T));
  const auto in_blocks = [&](int64_t first, int64_t last) {
    for_column_blocks(csr, csr.indices, first, last, block,
                      [&](const int64_t* begins, const int64_t* ends, int64_t from, int64_t to) {
                        std::fill(sums + from, sums + to, -T{0});
                        csr_loops<T>().sum_columns(csr.rows, begins, ends, csr.indices, values, x,
                                                   sums);
                      });
  };
  // What bringing them together takes is then a fraction of the entries.
  const int64_t blocks =
      std::clamp<int64_t>(csr.stored / (kEntriesPerSum * std::max<int64_t>(1, columns)), 1,
                          std::min(kMostBlocks, std::max<int64_t>(1, csr.rows)));
  if (blocks == 1 && csr.known_ascending && columns > block &&
      has_column_blocks(csr, columns / block))
    return parallel_for(
        columns, 4.0 * static_cast<double>(csr.stored + columns) / static_cast<double>(columns),
        in_blocks);
  auto* const more_sums = context.workspace_of<T>((blocks - 1) * columns);
  const auto row_of = [&](int64_t block) -> int64_t {
    const int64_t *const begins = csr.indptr, *const end = begins + csr.rows;
    if (block == blocks) return csr.rows;
    return std::lower_bound(begins, end, csr.stored * block / blocks) - begins;
  };
  const auto sums_of = [&](int64_t b) { return b == 0 ? sums : more_sums + (b - 1) * columns; };
  parallel_for(
      blocks, 4.0 * static_cast<double>(csr.stored + columns) / static_cast<double>(blocks),
      [&](int64_t first, int64_t last) {
        for (int64_t b = first; b < last; ++b) {
          std::fill_n(sums_of(b), columns, -T{0});
          const int64_t row = row_of(b);
          csr_loops<T>().sum_columns(row_of(b + 1) - row, csr.indptr + row, csr.indptr + row + 1,
                                     csr.indices, values, x + row, sums_of(b));
        }
      },
      1);
  for (int64_t b = 1; b < blocks; ++b)
    for (int64_t c = 0; c < columns; ++c) sums[c] += sums_of(b)[c];
}

template <class T>
void dense_times_csr(const T* dense, int64_t m, const CsrView& csr, const T* values,
                     const int64_t* slots, T* out, int64_t width) {
  const CsrLoops<T> loops = csr_loops<T>();
  parallel_for(
      m, static_cast<double>(csr.stored + csr.rows + width),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          T* row = out + i * width;
          std::fill_n(row, width, T{0});
          for (int64_t k = 0; k < csr.rows; ++k) {
            const int64_t begin = csr.begin(k);
            loops.scatter_add(dense[i * csr.rows + k], values + begin, slots + begin,
                              csr.end(k) - begin, row);
          }
        }
      },
      1);
}

template <class T>
void dense_times_csr_rows(const T* dense, int64_t m, const CsrView& csr, const T* values,
                          std::span<const int64_t> rows, T* out) {
  const CsrLoops<T> loops = csr_loops<T>();
  const auto width = static_cast<int64_t>(rows.size());
  parallel_for(
      m, static_cast<double>(csr.stored + width),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          for (int64_t j = 0; j < width; ++j) {
            loops.gathered_rows(1, csr.indptr + rows[static_cast<std::size_t>(j)], csr.indices,
                                values, dense + i * csr.columns, out + i * width + j);
          }
        }
      },
      1);
}

#define MX_CSR_PRODUCTS(T)                                                                        \
  template void combine_rows(const Coefficients<T>&, const MatrixRows<T>&, T*);                   \
  template void transposed_times_rows(const CsrView&, const T*, const int64_t*, int64_t,          \
                                      const int64_t*, const MatrixRows<T>&, T*);                  \
  template void transposed_times_vector(const SparseContext&, const CsrView&, const T*, const T*, \
                                        T*);                                                      \
  template void dense_times_csr(const T*, int64_t, const CsrView&, const T*, const int64_t*, T*,  \
                                int64_t);                                                         \
  template void dense_times_csr_rows(const T*, int64_t, const CsrView&, const T*,                 \
                                     std::span<const int64_t>, T*);
MX_CSR_PRODUCTS(float)
MX_CSR_PRODUCTS(double)
#undef MX_CSR_PRODUCTS

}  // namespace mxnet
