// SPDX-License-Identifier: Apache-2.0
// Head products: on CPUs by packed products, heads divided among the threads.
#include "op/rnn/head_products.h"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "op/loops/computed.h"
#include "op/products/packed_gemm.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

template <class T>
packed_gemm::View<T> view(const T* data, const HeadMatrix& matrix, int64_t head) {
  const T* at = data + matrix.begin + head * matrix.step;
  if (matrix.turned) return {at, 1, matrix.row};
  return {at, matrix.row, 1};
}

template <class T>
void multiply(const HeadProduct& product, int64_t heads, const T* a, const T* b, T* c) {
  const int64_t m = product.m, n = product.n, k = product.k, row = product.c.row;
  if (m == 0 || n == 0) return;
  const T scale = static_cast<T>(product.alpha);
  const double cost =
      static_cast<double>(m) * static_cast<double>(n) * (static_cast<double>(k) / 16 + 1);
  parallel_for(
      heads, cost,
      [&](int64_t first, int64_t last) {
        constexpr std::align_val_t kLine{64};
        const auto bytes = static_cast<std::size_t>(packed_gemm::packed_size<T>(k, n)) * sizeof(T);
        const auto release = [](void* p) { ::operator delete(p, kLine); };
        const std::unique_ptr<void, decltype(release)> memory(::operator new(bytes, kLine),
                                                              release);
        T* packed = static_cast<T*>(memory.get());
        for (int64_t i = first; i < last; ++i) {
          T* result = c + product.c.begin + i * product.c.step;
          packed_gemm::pack(view(b, product.b, i), k, n, 0, n, packed);
          packed_gemm::multiply(m, n, k, view(a, product.a, i), packed, result, row, false, 0, n);
          if (scale == T{1}) continue;
          for (int64_t r = 0; r < m; ++r) {
            for (int64_t j = 0; j < n; ++j) result[r * row + j] *= scale;
          }
        }
      },
      1);
}

void* first_head(const Tensor& tensor, const HeadMatrix& matrix) {
  return tensor.as<std::byte>() + static_cast<std::size_t>(matrix.begin) * dtype_size(tensor.dtype);
}

void multiply_on_gpu(const GpuTable& gpu, KernelContext& context, int64_t heads,
                     const HeadProduct& product) {
  const auto& [m, n, k, alpha, a, b, c] = product;
  gpu.gemm(context.stream()->native(),
           {.dtype = context.out(c.array).dtype,
            .transpose_a = a.turned,
            .transpose_b = b.turned,
            .m = m,
            .n = n,
            .k = k,
            .a = first_head(context.in(a.array), a),
            .lda = a.row,
            .step_a = a.step,
            .b = first_head(context.in(b.array), b),
            .ldb = b.row,
            .step_b = b.step,
            .c = first_head(context.out(c.array), c),
            .ldc = c.row,
            .step_c = c.step,
            .batch = heads,
            .alpha = alpha},
           context);
}

template <class T>
void multiply_on_cpu(Computed<T>& arrays, KernelContext& context, int64_t heads,
                     std::initializer_list<HeadProduct> products, int cleared) {
  std::vector<const T*> in;  // converted once, however many products read them
  std::vector<T*> out;
  in.reserve(static_cast<std::size_t>(context.num_in()));
  out.reserve(static_cast<std::size_t>(context.num_out()));
  for (int i = 0; i < context.num_in(); ++i) in.push_back(arrays.in(i));
  for (int i = 0; i < context.num_out(); ++i) out.push_back(arrays.out(i));
  const auto of = [](const auto& list, const HeadMatrix& matrix) {
    return list[static_cast<std::size_t>(matrix.array)];
  };
  if (cleared >= 0) {
    T* data = out[static_cast<std::size_t>(cleared)];
    std::fill_n(data, context.out(cleared).size(), T{0});
  }
  for (const HeadProduct& product : products)
    multiply(product, heads, of(in, product.a), of(in, product.b), of(out, product.c));
}

}  // namespace

void multiply_heads(KernelContext& context, int64_t heads,
                    std::initializer_list<HeadProduct> products, int cleared) {
  if (const GpuTable* gpu = gpu_table(context)) {
    if (cleared >= 0) {
      const Tensor& tensor = context.out(cleared);
      clear_memory(context, tensor.data,
                   static_cast<std::size_t>(tensor.size()) * dtype_size(tensor.dtype));
    }
    for (const HeadProduct& product : products) multiply_on_gpu(*gpu, context, heads, product);
    return;
  }
  compute(context.out(0).dtype, context,
          [&](auto& arrays, auto) { multiply_on_cpu(arrays, context, heads, products, cleared); });
}

}  // namespace mxnet
