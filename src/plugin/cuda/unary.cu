// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels. They are bound by memory bandwidth, so all the care goes into moving 16
// bytes at a time.
#include "plugin/cuda/unary.h"

#include <cstring>

#include "plugin/cuda/launch.h"
#include "plugin/cuda/unary_rows.h"

namespace mxnet {
namespace cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kVectorBytes = 16;  // the widest load of one thread

template <class T, int kSize>
struct alignas(sizeof(T) * kSize) Pack {
  T values[kSize];
};

// In place (x == y) is fine: each element is read before it is written, by the same thread.
template <class F, class T, int kSize>
__global__ void __launch_bounds__(kThreads) apply_unary(const T* x, T* y, int64_t n) {
  using Vector = Pack<T, kSize>;
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  const int64_t vectors = n / kSize;
  for (int64_t i = first; i < vectors; i += stride) {
    Vector v = reinterpret_cast<const Vector*>(x)[i];
#pragma unroll
    for (int k = 0; k < kSize; ++k) v.values[k] = F::apply(v.values[k]);
    reinterpret_cast<Vector*>(y)[i] = v;
  }
  for (int64_t i = vectors * kSize + first; i < n; i += stride) y[i] = F::apply(x[i]);
}

bool is_aligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % kVectorBytes == 0; }

template <class F, class T>
void launch_unary(NativeStream* stream, const void* x, void* y, int64_t n) {
  if (n <= 0) return;
  const LaunchScope scope(stream);
  const T* in = static_cast<const T*>(x);
  T* out = static_cast<T*>(y);
  constexpr int kSize = kVectorBytes / sizeof(T);
  if (is_aligned(x) && is_aligned(y)) {
    const unsigned blocks = scope.blocks((n + kSize - 1) / kSize, kThreads);
    apply_unary<F, T, kSize><<<blocks, kThreads, 0, scope.stream()>>>(in, out, n);
  } else {
    apply_unary<F, T, 1><<<scope.blocks(n, kThreads), kThreads, 0, scope.stream()>>>(in, out, n);
  }
  scope.check("apply_unary");
}

template <class T>
constexpr int32_t kDtype = -1;
template <>
constexpr int32_t kDtype<float> = 0;  // the C ABI's number

#define MX_DEFINE(name, type, doc, expression)            \
  struct name##_function {                                \
    using T = type;                                       \
    static __device__ T apply(T x) { return expression; } \
  };
MX_UNARY_ROWS(MX_DEFINE)
#undef MX_DEFINE

struct Entry {
  const char* name;
  int32_t dtype;
  UnaryLauncher launch;
};

#define MX_ENTRY(name, type, doc, expression) \
  {#name, kDtype<type>, launch_unary<name##_function, type>},
constexpr Entry kEntries[] = {MX_UNARY_ROWS(MX_ENTRY)};
#undef MX_ENTRY

}  // namespace

UnaryLauncher find_unary(const char* name, int32_t dtype) noexcept {
  for (const Entry& entry : kEntries) {
    if (entry.dtype == dtype && std::strcmp(entry.name, name) == 0) return entry.launch;
  }
  return nullptr;
}

}  // namespace cuda
}  // namespace mxnet
