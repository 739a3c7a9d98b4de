// SPDX-License-Identifier: Apache-2.0
// Splits sparse products over threads by their work. Each element of a result is summed by one
// thread in the order of the entries: the same bits for any number of threads.
#include <algorithm>
#include <numeric>

#include "op/run/parallel.h"
#include "op/sparse/products.h"

namespace mxnet {
namespace {

// Up to this many columns for each entry, counting them all is cheaper than sorting entries.
constexpr int64_t kColumnsPerEntry = 8;

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

Transposed transpose(const CsrView& csr) {
  Transposed result;
  const auto count = static_cast<std::size_t>(csr.stored);
  result.rows.resize(count);
  result.order.resize(count);
  std::vector<int64_t> row_of(count);
  for (int64_t row = 0; row < csr.rows; ++row)
    std::fill(row_of.begin() + csr.begin(row), row_of.begin() + csr.end(row), row);
  if (csr.columns <= kColumnsPerEntry * csr.stored) {
    std::vector<int64_t> next(static_cast<std::size_t>(csr.columns) + 1);
    for (int64_t k = 0; k < csr.stored; ++k) ++next[static_cast<std::size_t>(csr.indices[k]) + 1];
    for (int64_t c = 0; c < csr.columns; ++c) {
      const auto at = static_cast<std::size_t>(c);
      if (next[at + 1] > 0) {
        result.columns.push_back(c);
        result.begins.push_back(next[at]);
      }
      next[at + 1] += next[at];
    }
    for (int64_t k = 0; k < csr.stored; ++k)
      result.order[static_cast<std::size_t>(next[static_cast<std::size_t>(csr.indices[k])]++)] = k;
  } else {
    std::iota(result.order.begin(), result.order.end(), int64_t{0});
    std::stable_sort(result.order.begin(), result.order.end(),
                     [&](int64_t a, int64_t b) { return csr.indices[a] < csr.indices[b]; });
    for (std::size_t k = 0; k < count; ++k) {
      const int64_t column = csr.indices[result.order[k]];
      if (!result.columns.empty() && result.columns.back() == column) continue;
      result.columns.push_back(column);
      result.begins.push_back(static_cast<int64_t>(k));
    }
  }
  result.begins.push_back(csr.stored);
  for (std::size_t k = 0; k < count; ++k)
    result.rows[k] = row_of[static_cast<std::size_t>(result.order[k])];
  return result;
}

template <class T>
void combine_rows(const Coefficients<T>& c, const MatrixRows<T>& dense, T* out) {
  const CsrLoops<T> loops = csr_loops<T>();
  const bool vector = dense.width == 1;
  parallel_rows(
      c.rows, c.begins, static_cast<double>(dense.width), [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t begin = c.begins[i], count = c.begins[i + 1] - begin;
          T* row = out + (c.targets == nullptr ? i : c.targets[i]) * dense.width;
          if (vector) {
            *row = loops.gathered_dot(c.values + begin, c.indices + begin, count, dense.data);
          } else {
            loops.combine(c.values + begin, c.indices + begin, count, dense, row);
          }
        }
      });
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
            const int64_t begin = csr.begin(rows[static_cast<std::size_t>(j)]);
            const int64_t end = csr.end(rows[static_cast<std::size_t>(j)]);
            out[i * width + j] = loops.gathered_dot(values + begin, csr.indices + begin,
                                                    end - begin, dense + i * csr.columns);
          }
        }
      },
      1);
}

#define MX_CSR_PRODUCTS(T)                                                                       \
  template void combine_rows(const Coefficients<T>&, const MatrixRows<T>&, T*);                  \
  template void dense_times_csr(const T*, int64_t, const CsrView&, const T*, const int64_t*, T*, \
                                int64_t);                                                        \
  template void dense_times_csr_rows(const T*, int64_t, const CsrView&, const T*,                \
                                     std::span<const int64_t>, T*);
MX_CSR_PRODUCTS(float)
MX_CSR_PRODUCTS(double)
#undef MX_CSR_PRODUCTS

}  // namespace mxnet
