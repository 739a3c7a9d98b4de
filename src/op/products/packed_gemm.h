// SPDX-License-Identifier: Apache-2.0
// Matrix products whose right factor is packed once and used many times (the weights of a recurrent
// layer, a step at a time) or whose factors lie anywhere in memory (heads of attention). All of it
// runs on the calling thread; callers split rows or columns with op/run/parallel.h.
#pragma once
#include <cstdint>

#include "op/kernel.h"

namespace mxnet::packed_gemm {

// A matrix in place: element (i, j) is data[i * row + j * column].
template <class T>
struct View {
  const T* data;
  int64_t row, column;
};

// Whether tiles of float32 are as high as registers allow, so that weights are better read by few
// threads for many rows than by all: on a Cascade Lake, where tiles of eight rows wait for the
// third-level cache and for the processor to take their instructions (docs/recurrent_layers.md).
// Later processors of Intel were not measured.
bool has_tall_tiles();

// Columns of a panel, the unit in which packed columns can be addressed; a power of two.
template <class T>
int64_t panel_columns();
// Elements of a packed matrix of k rows and n columns.
template <class T>
int64_t packed_size(int64_t k, int64_t n);

// Packs columns [first, last) of b (k x n); `first` is a multiple of panel_columns(), `last` too or
// n. The memory of `packed` is aligned to a vector (64 bytes).
template <class T>
void pack(const View<T>& b, int64_t k, int64_t n, int64_t first, int64_t last, T* packed);

// Columns [first, last) of c (m rows, `ldc` apart) become a times packed, or have it added. Bounds
// as above. Any k, zero included.
template <class T>
void multiply(int64_t m, int64_t n, int64_t k, const View<T>& a, const T* packed, T* c, int64_t ldc,
              bool add, int64_t first, int64_t last);

// c = a b or c += a b in all threads: large products (way.h). Both factors are packed, slices of
// their depth one after the other.
template <class T>
void multiply_in_slices(int64_t m, int64_t n, int64_t k, const View<T>& a, const View<T>& b, T* c,
                        int64_t ldc, bool add);

// One packed panel, all of whose columns there are: c (m rows, `ldc` apart) becomes a (rows `row`
// apart) times it, or has it added. `next` of the same size is fetched meanwhile.
void multiply_panel(int64_t m, int64_t k, const float* a, int64_t row, const float* panel,
                    const float* next, float* c, int64_t ldc, bool add);

// Numbers that the caller reads after products, at 64 bytes: fetched into the first-level cache
// during the last of these, where there is time for it.
struct Later {
  const float* at = nullptr;
  int64_t count = 0;
};
// `count` panels one after the other, each with rows of its own, m of k numbers, `a_step` apart;
// their products are `c_step` apart. `next` is fetched during the last one.
void multiply_panels(int64_t count, int64_t m, int64_t k, const float* a, int64_t a_step,
                     const float* panels, const float* next, float* c, int64_t c_step, int64_t ldc,
                     const Later& later = {});

// c = a b or c += a b in all threads, with scratch from `context`.
template <class T>
void product(int64_t m, int64_t n, int64_t k, const View<T>& a, const View<T>& b, T* c, int64_t ldc,
             bool add, KernelContext& context);

}  // namespace mxnet::packed_gemm
