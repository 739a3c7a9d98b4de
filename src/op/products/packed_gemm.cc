// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of packed products for each instruction set, and splits whole products over
// threads.
#include "op/products/packed_gemm.h"

#include <algorithm>
#include <utility>

#include "base/processor_facts.h"
#include "base/simd.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "storage/scoped_block.h"

namespace mxnet::packed_gemm {
namespace {

// Deepest slice of multiply_in_slices(). Errors grow with it: at 512 those of 1024 floats were
// larger than OpenBLAS's.
template <class T>
constexpr int64_t kSliceDepth = 384;
// Rows of it that are packed together.
template <class T>
constexpr int64_t kRowsAtOnce = sizeof(T) == sizeof(float) ? 96 : 72;

#define MX_SIMD_FILE "op/products/packed_gemm.inc"
#include "base/simd_targets.h"

}  // namespace

bool has_tall_tiles() { return processor_facts().gains_by_tall_tiles; }

template <class T>
int64_t panel_columns() {
  return MX_SIMD_CALL(panel_width<T>)();
}

template <class T>
int64_t packed_size(int64_t k, int64_t n) {
  const int64_t lanes = MX_SIMD_CALL(lane_count<T>)();
  return k * ((n + lanes - 1) / lanes * lanes);
}

template <class T>
void pack(const View<T>& b, int64_t k, int64_t n, int64_t first, int64_t last, T* packed) {
  MX_SIMD_CALL(pack_panels<T>)(b, k, n, first, last, packed);
}

template <class T>
void multiply(int64_t m, int64_t n, int64_t k, const View<T>& a, const T* packed, T* c, int64_t ldc,
              bool add, int64_t first, int64_t last) {
  MX_SIMD_CALL(multiply<T>)(m, n, k, a, packed, c, ldc, add, first, last, has_tall_tiles());
}

void multiply_panel(int64_t m, int64_t k, const float* a, int64_t row, const float* panel,
                    const float* next, float* c, int64_t ldc, bool add) {
  MX_SIMD_CALL(multiply_panel)(m, k, a, row, panel, next, c, ldc, add, has_tall_tiles());
}

void multiply_panels(int64_t count, int64_t m, int64_t k, const float* a, int64_t a_step,
                     const float* panels, const float* next, float* c, int64_t c_step, int64_t ldc,
                     const Later& later) {
  MX_SIMD_CALL(multiply_panels)(count, m, k, a, a_step, panels, next, c, c_step, ldc, later);
}

template <class T>
void multiply_in_slices(int64_t m, int64_t n, int64_t k, const View<T>& a, const View<T>& b, T* c,
                        int64_t ldc, bool add) {
  // Panels that stay in the third-level cache; slices about equal, of whole vectors.
  constexpr int64_t kColumns = 2048, kStep = 16;
  const int64_t slices = (k + kSliceDepth<T> - 1) / kSliceDepth<T>;
  const int64_t most = (k + slices * kStep - 1) / (slices * kStep) * kStep;
  const int64_t panel = panel_columns<T>();
  const int64_t room = packed_size<T>(std::min(most, k), std::min(n, kColumns));
  const ScopedBlock memory(static_cast<std::size_t>(room) * sizeof(T), "workspace");
  T* const packed = memory.as<T>();
  for (int64_t column = 0; column < n; column += kColumns) {
    const int64_t columns = std::min(kColumns, n - column);
    for (int64_t start = 0; start < k; start += most) {
      const int64_t depth = std::min(most, k - start);
      const bool adds = add || start > 0;
      const View<T> left{a.data + start * a.column, a.row, a.column};
      const View<T> right{b.data + start * b.row + column * b.column, b.row, b.column};
      const auto multiply_rows = [&](int64_t first, int64_t last, const View<T>* unpacked) {
        MX_SIMD_CALL(multiply_slice<T>)
        (last - first, columns, depth, {left.data + first * left.row, left.row, left.column},
         unpacked, packed, c + first * ldc + column, ldc, adds);
      };
      // A sixteenth of a fused multiplication and addition is about the unit of the cost model.
      const double flops = static_cast<double>(depth) / 16;
      const double of_row = flops * static_cast<double>(columns);
      if (m <= kRowsAtOnce<T> && m < n) {  // each thread packs what nobody else needs
        parallel_for(
            columns, flops * static_cast<double>(m),
            [&](int64_t first, int64_t last) {
              const View<T> of_part{right.data + first * right.column, right.row, right.column};
              MX_SIMD_CALL(multiply_slice<T>)
              (m, last - first, depth, left, &of_part, packed + first * depth, c + column + first,
               ldc, adds);
            },
            panel);
      } else if (threads_for(m, of_row) == 1) {
        multiply_rows(0, m, &right);
      } else {
        parallel_for(
            columns, cost_of_moving(2.0 * static_cast<double>(depth) * sizeof(T)),
            [&](int64_t first, int64_t last) { pack(right, depth, columns, first, last, packed); },
            panel);
        parallel_for(
            m, of_row, [&](int64_t first, int64_t last) { multiply_rows(first, last, nullptr); },
            12);
      }
    }
  }
}

template <class T>
void product(int64_t m, int64_t n, int64_t k, const View<T>& a, const View<T>& b, T* c, int64_t ldc,
             bool add, KernelContext& context) {
  if (m == 0 || n == 0) return;
  T* packed = context.workspace_of<T>(packed_size<T>(k, n));
  const int64_t panel = panel_columns<T>();
  parallel_for(
      n, static_cast<double>(k),
      [&](int64_t first, int64_t last) { pack(b, k, n, first, last, packed); }, panel);
  // A sixteenth of a fused multiplication and addition is about the unit of the cost model.
  const double flops = static_cast<double>(k) / 16;
  if (m >= n) {
    parallel_for(
        m, flops * static_cast<double>(n),
        [&](int64_t first, int64_t last) {
          multiply(last - first, n, k, {a.data + first * a.row, a.row, a.column}, packed,
                   c + first * ldc, ldc, add, 0, n);
        },
        12);
  } else {
    parallel_for(
        n, flops * static_cast<double>(m),
        [&](int64_t first, int64_t last) {
          multiply(m, n, k, a, packed, c, ldc, add, first, last);
        },
        panel);
  }
}

#define MX_INSTANTIATE(T)                                                                         \
  template int64_t panel_columns<T>();                                                            \
  template int64_t packed_size<T>(int64_t, int64_t);                                              \
  template void pack(const View<T>&, int64_t, int64_t, int64_t, int64_t, T*);                     \
  template void multiply(int64_t, int64_t, int64_t, const View<T>&, const T*, T*, int64_t, bool,  \
                         int64_t, int64_t);                                                       \
  template void multiply_in_slices(int64_t, int64_t, int64_t, const View<T>&, const View<T>&, T*, \
                                   int64_t, bool);                                                \
  template void product(int64_t, int64_t, int64_t, const View<T>&, const View<T>&, T*, int64_t,   \
                        bool, KernelContext&);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
#undef MX_INSTANTIATE

}  // namespace mxnet::packed_gemm
