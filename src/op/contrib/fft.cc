// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of rows, unnormalised in both directions; complex numbers are pairs. Each
// direction is the other's gradient. Lengths that are no powers of two go through a convolution
// (Bluestein), so that all take n log n.
#include <bit>
#include <cmath>
#include <complex>
#include <vector>

#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

struct FftParams {
  int32_t compute_size;  // of GPUs: rows at once
};

using Complex = std::complex<double>;
using Signal = std::vector<Complex>;

// exp(i * pi * numerator / denominator)
Complex root(int64_t numerator, int64_t denominator) {
  const double angle =
      3.14159265358979323846 * static_cast<double>(numerator) / static_cast<double>(denominator);
  return {std::cos(angle), std::sin(angle)};
}
// Plain: the library's operator also looks for infinities.
Complex product(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// In place, of a power of two; `roots` are the first n / 2 roots of unity in the direction.
void transform_power(Signal& x, const Signal& roots) {
  const std::size_t n = x.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (std::size_t half = 1; half < n; half *= 2) {
    const std::size_t step = n / (2 * half);
    for (std::size_t start = 0; start < n; start += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const Complex odd = product(x[start + half + k], roots[k * step]);
        x[start + half + k] = x[start + k] - odd;
        x[start + k] += odd;
      }
    }
  }
}

// Tables for one length and direction (sign of the exponent). Immutable: shared by threads.
class Fft {
 public:
  Fft(int64_t n, int sign) : n_(n) {
    if (n == 0) return;
    const auto size = static_cast<uint64_t>(n);
    padded_ = std::has_single_bit(size) ? size : std::bit_ceil(2 * size);
    const auto m = static_cast<int64_t>(padded_);
    for (int64_t k = 0; k < m / 2; ++k) {
      const Complex w = root(2 * k, m);
      forward_.push_back(padded_ == size && sign > 0 ? w : std::conj(w));
    }
    if (padded_ == size) return;
    for (const Complex& w : forward_) backward_.push_back(std::conj(w));
    kernel_.resize(padded_);
    for (int64_t k = 0; k < n; ++k) {
      // k^2 modulo 2n: the angle stays small.
      chirp_.push_back(root(sign * static_cast<int64_t>(static_cast<uint64_t>(k) *
                                                        static_cast<uint64_t>(k) % (2 * size)),
                            n));
      const auto at = static_cast<std::size_t>(k);
      kernel_[at] = kernel_[(padded_ - at) % padded_] = std::conj(chirp_[at]);
    }
    transform_power(kernel_, forward_);
  }

  void run(Signal& x) const {
    if (chirp_.empty()) return transform_power(x, forward_);
    const auto n = static_cast<std::size_t>(n_);
    Signal y(padded_);
    for (std::size_t k = 0; k < n; ++k) y[k] = product(x[k], chirp_[k]);
    transform_power(y, forward_);
    for (std::size_t k = 0; k < padded_; ++k) y[k] = product(y[k], kernel_[k]);
    transform_power(y, backward_);
    for (std::size_t k = 0; k < n; ++k)
      x[k] = product(y[k], chirp_[k]) / static_cast<double>(padded_);
  }

 private:
  int64_t n_;
  std::size_t padded_ = 0;
  Signal forward_, backward_, kernel_, chirp_;
};

double row_cost(int64_t n) {
  return 64 * static_cast<double>(n) * (1 + std::log2(static_cast<double>(n + 1)));
}

void fft_cpu(const FftParams&, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = arrays.in(0);
    T* out = arrays.out(0);
    const int64_t n = context.in(0).shape().back();
    if (context.in(0).size() == 0) return;
    const Fft fft(n, -1);
    parallel_for(
        context.in(0).size() / n, row_cost(n),
        [&](int64_t first, int64_t last) {
          Signal x(static_cast<std::size_t>(n));
          for (int64_t r = first; r < last; ++r) {
            std::copy_n(data + r * n, n, x.begin());
            fft.run(x);
            for (int64_t k = 0; k < n; ++k) {
              out[(r * n + k) * 2] = static_cast<T>(x[static_cast<std::size_t>(k)].real());
              out[(r * n + k) * 2 + 1] = static_cast<T>(x[static_cast<std::size_t>(k)].imag());
            }
          }
        },
        1);
  });
}

void ifft_cpu(const FftParams&, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = arrays.in(0);
    T* out = arrays.out(0);
    const int64_t n = context.out(0).shape().back();
    if (context.out(0).size() == 0) return;
    const Fft fft(n, 1);
    parallel_for(
        context.out(0).size() / n, row_cost(n),
        [&](int64_t first, int64_t last) {
          Signal x(static_cast<std::size_t>(n));
          for (int64_t r = first; r < last; ++r) {
            for (int64_t k = 0; k < n; ++k)
              x[static_cast<std::size_t>(k)] = {static_cast<double>(data[(r * n + k) * 2]),
                                                static_cast<double>(data[(r * n + k) * 2 + 1])};
            fft.run(x);
            for (int64_t k = 0; k < n; ++k)
              out[r * n + k] = static_cast<T>(x[static_cast<std::size_t>(k)].real());
          }
        },
        1);
  });
}

// `real` has half the columns of `pairs`.
void infer_fft(Infer& infer, InferArg real, InferArg pairs) {
  infer.one_dtype();
  const auto resized = [](const Shape& shape, int64_t columns) {
    Shape result = shape;
    result[shape.ndim() - 1] = columns;
    return result;
  };
  for (const InferArg& arg : {real, pairs}) {
    if (arg.known() && arg.ndim() != 2 && arg.ndim() != 4) arg.fail("two or four dimensions");
  }
  if (pairs.known() && pairs.shape().back() % 2 != 0)
    pairs.fail("an even last dimension: pairs of real and imaginary part");
  if (real.known()) pairs.set_shape(resized(real.shape(), 2 * real.shape().back()));
  if (pairs.known()) real.set_shape(resized(pairs.shape(), pairs.shape().back() / 2));
}

constexpr const char* kSizeDoc = "Of GPUs: rows at once.";

MX_OP(_contrib_fft, FftParams)
.doc("Fourier transform of the rows of real data, as pairs of real and imaginary part.")
    .input("data", "Rows, in two or four dimensions.")
    .param("compute_size", &FftParams::compute_size, 128, kSizeDoc)
    .dtypes(kFloating)
    .infer([](const FftParams&, Infer& infer) { infer_fft(infer, infer.in(0), infer.out(0)); })
    .cpu(fft_cpu)
    .grad([](const FftParams&, Grad& grad) {
      return Gradients{apply("_contrib_ifft", {grad.dout(0)}, grad.attrs())};
    });

MX_OP(_contrib_ifft, FftParams)
.doc("Real part of the inverse Fourier transform of rows of pairs, not divided by their length.")
    .input("data", "Rows of pairs of real and imaginary part, in two or four dimensions.")
    .param("compute_size", &FftParams::compute_size, 128, kSizeDoc)
    .dtypes(kFloating)
    .infer([](const FftParams&, Infer& infer) { infer_fft(infer, infer.out(0), infer.in(0)); })
    .cpu(ifft_cpu)
    .grad([](const FftParams&, Grad& grad) {
      return Gradients{apply("_contrib_fft", {grad.dout(0)}, grad.attrs())};
    });

}  // namespace
}  // namespace mxnet
