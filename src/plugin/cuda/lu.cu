// SPDX-License-Identifier: Apache-2.0
// Inverses and determinants of matrices (op/matrix/inverse.cc), from their factors.
#include <cmath>

#include "plugin/cuda/families.h"
#include "plugin/cuda/lu.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace lu;  // NOLINT(google-build-using-namespace): what this file is about

template <class T>
struct WriteIdentity {
  T* out;
  int64_t n;
  MX_DEVICE void operator()(int64_t i) const { out[i] = i / n % n == i % n ? T(1) : T(0); }
};
template <class T>
struct ClearSingular {
  const int32_t* pivots;  // of each matrix the first of zero, or 0
  T* out;
  int64_t size;
  MX_DEVICE void operator()(int64_t i) const {
    if (pivots[i / size] != 0) out[i] = T(0);
  }
};
// Solutions for the columns of the identity; they lie row by row, or transposed.
template <class T>
void invert_factored(const T* lu, const int32_t* exchanges, int64_t batch, int64_t n,
                     bool transposed, T* out, const char* op, KernelContext& context) {
  for_each(context.stream()->native(), op, batch * n * n, WriteIdentity<T>{out, n});
  substitute<T>(lu, exchanges, batch, {n, n, !transposed}, out, op, context);
}
// --- inverses ------------------------------------------------------------------------------------

void invert(const char* op, KernelContext& context, int64_t batch, int64_t n) {
  const Tensor& in = context.in(0);
  if (in.size() == 0) return;
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    NativeStream* const stream = arrays.stream();
    T* const lu = copy_of<T>(stream, in, context);
    auto* const exchanges = context.workspace_of<int32_t>(batch * n);
    factorise(lu, exchanges, batch, n, true, op, context);
    invert_factored<T>(lu, exchanges, batch, n, false, arrays.out(0), op, context);
  });
}
void inverse(const void*, KernelContext& context) {
  invert("_linalg_inverse", context, batch_of(context.in(0)), side_of(context.in(0)));
}
// The joined dimensions are a square.
int64_t joined_side(const Tensor& array) {
  return static_cast<int64_t>(std::llround(std::sqrt(static_cast<double>(array.size()))));
}
void tensor_inverse(const void*, KernelContext& context) {
  invert("_npi_tensorinv", context, 1, joined_side(context.in(0)));
}

// Inputs: gradient of the inverse b, b, a (for its shape); da = -b^T db b^T.
void tensor_inverse_slope(const void*, KernelContext& context) {
  const int64_t n = joined_side(context.in(1));
  if (n == 0) return;
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const T *db = arrays.in(0), *b = arrays.in(1);
    T* const left = context.workspace_of<T>(n * n);
    const auto product = [&](bool transpose_a, bool transpose_b, const T* x, const T* y, T* to,
                             double alpha) {
      gemm(arrays.stream(),
           {.dtype = dtype_of<T>,
            .transpose_a = transpose_a,
            .transpose_b = transpose_b,
            .m = n,
            .n = n,
            .k = n,
            .a = x,
            .lda = n,
            .b = y,
            .ldb = n,
            .c = to,
            .ldc = n,
            .alpha = alpha},
           context);
    };
    product(true, false, b, db, left, -1);
    product(false, true, left, b, arrays.out(0), 1);
  });
}

// Inputs: factors, exchanges. A singular matrix gets zeros.
void inverse_transposed(const void*, KernelContext& context) {
  constexpr char kOp[] = "_linalg_inverse";
  const Tensor& lu = context.in(0);
  if (lu.size() == 0) return;
  const int64_t n = side_of(lu), batch = batch_of(lu);
  compute(lu.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    // The result may lie where the factors are.
    const T* factors = copy_of<T>(arrays.stream(), lu, context);
    T* const out = arrays.out(0);
    invert_factored<T>(factors, context.in(1).as<int32_t>(), batch, n, true, out, kOp, context);
    auto* const pivots = context.workspace_of<int32_t>(batch);
    for_each(arrays.stream(), kOp, batch, FindZeroPivot<T>{factors, pivots, n});
    for_each(arrays.stream(), kOp, lu.size(), ClearSingular<T>{pivots, out, n * n});
  });
}

// --- determinants --------------------------------------------------------------------------------

// Of each matrix its determinant, or the sign and the logarithm of the rest.
template <class T>
struct Determinant {
  const T* lu;
  const int32_t* exchanges;
  T *value, *sign, *log;
  int64_t n;
  MX_DEVICE void operator()(int64_t matrix) const {
    double sign_of = 1, product = 1, sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const T pivot = lu[matrix * n * n + i * n + i];
      if (pivot == T(0)) {  // whatever the library has left behind it
        sign_of = product = 0;
        sum = row_words::log(0.0);
        break;
      }
      if (exchanges[matrix * n + i] != i + 1) sign_of = -sign_of;
      sign_of = pivot < T(0) ? -sign_of : sign_of;
      const double size = row_words::absolute(static_cast<double>(pivot));
      product *= size;
      if (log != nullptr) sum += row_words::log(size);
    }
    if (value != nullptr) value[matrix] = static_cast<T>(sign_of * product);
    if (sign != nullptr) sign[matrix] = static_cast<T>(sign_of);
    if (log != nullptr) log[matrix] = static_cast<T>(sum);
  }
};
// Outputs: one number or two for each matrix, then factors and exchanges.
template <int kResults>
void determinant(const void*, KernelContext& context) {
  const Tensor& in = context.in(0);
  const int64_t n = side_of(in), batch = batch_of(in);
  compute(in.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T* const first = arrays.out(0);
    T* const second = kResults == 2 ? arrays.out(1) : nullptr;
    T* const lu = arrays.out(kResults);
    auto* const exchanges = context.out(kResults + 1).template as<int32_t>();
    if (in.size() > 0) {
      convert(arrays.stream(), in, {lu, &in.shape(), dtype_of<T>});
      factorise(lu, exchanges, batch, n, false, "_linalg_det", context);
    }
    for_each(arrays.stream(), "_linalg_det", batch,
             Determinant<T>{lu, exchanges, kResults == 1 ? first : nullptr,
                            kResults == 2 ? first : nullptr, second, n});
  });
}

}  // namespace

void add_factors(std::vector<GpuKernelRow>* rows) {
  rows->push_back({"_linalg_inverse", inverse, nullptr});
  rows->push_back({"_npi_tensorinv", tensor_inverse, nullptr});
  rows->push_back({"_backward_npi_tensorinv", tensor_inverse_slope, nullptr});
  rows->push_back({"_backward_linalg_inverse_transposed", inverse_transposed, nullptr});
  rows->push_back({"_linalg_det", determinant<1>, nullptr});
  rows->push_back({"_linalg_slogdet", determinant<2>, nullptr});
}

}  // namespace cuda
}  // namespace mxnet
