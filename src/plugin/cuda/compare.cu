// SPDX-License-Identifier: Apache-2.0
// Kernels of the comparing rows: results have the arguments' type, or are bool.
#include "plugin/cuda/binary_functions.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace row_words::binary_functions;  // NOLINT(google-build-using-namespace)

template <class F>
struct One {  // 1 where true
  F f;
  template <class T>
  MX_DEVICE uint8_t operator()(T a, T b) const {
    return static_cast<uint8_t>(f(a, b) ? 1 : 0);
  }
};

template <class F>
void arrays(NativeStream* stream, const char* name, const Tensor& a, const Tensor& b,
            const Tensor& y) {
  for_dtype(a.dtype, name, [&](auto type) {
    using T = decltype(type);
    if (y.dtype == DType::kBool)
      run_binary<One<F>, T, bool>(stream, name, a, b, y);
    else
      run_binary<One<F>, T, T>(stream, name, a, b, y);
  });
}
template <class F>
void scalar(NativeStream* stream, const char* name, const Tensor& a, double number, bool left,
            const Tensor& y) {
  for_dtype(a.dtype, name, [&](auto type) {
    using T = decltype(type);
    if (y.dtype == DType::kBool)
      run_scalar<One<F>, T, bool>(stream, name, a, number, left, y);
    else
      run_scalar<One<F>, T, T>(stream, name, a, number, left, y);
  });
}

#define MX_ENTRY(name, ...) {#name, arrays<Value_##name>, scalar<Value_##name>},
constexpr BinaryEntry kEntries[] = {MX_COMPARE_ROWS(MX_ENTRY)};
#undef MX_ENTRY

}  // namespace

const BinaryEntry& compare_entry(int row) { return kEntries[row]; }

}  // namespace cuda
}  // namespace mxnet
