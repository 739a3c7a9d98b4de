// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of rows (op/contrib/fft.cc), unnormalised in both directions, and count
// sketches. A transform of n numbers is made in a round for each prime factor of n.
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/rounds.cuh"
#include "plugin/cuda/scatter.cuh"

namespace mxnet {
namespace cuda {
namespace {

struct Complex {
  double re, im;
};

// Rows of n numbers in two buffers that take turns. After factors of product L, buffer [k][m] with
// k < L and m < n / L holds sum over j < L of x[m + j n / L] exp(sign 2 pi i j k / L).
struct Transform {
  static constexpr int kMost = 63;  // factors of an int64
  Complex *from, *to;
  int64_t n;
  double sign;
  int count = 0;
  int64_t factors[kMost];

  Transform(Complex* from, Complex* to, int64_t n, double sign)
      : from(from), to(to), n(n), sign(sign) {
    int64_t rest = n;
    for (int64_t p = 2; p * p <= rest; ++p)
      for (; rest % p == 0; rest /= p) factors[count++] = p;
    if (rest > 1) factors[count++] = rest;
  }
  const Complex* result() const { return count % 2 == 0 ? from : to; }

  MX_DEVICE int64_t rounds(int64_t) const { return count; }
  MX_DEVICE void round(int64_t row, int64_t round, int lane, int lanes) const {
    int64_t before = 1;  // product of the factors that are done
    for (int64_t f = 0; f < round; ++f) before *= factors[f];
    const int64_t p = factors[round], after = before * p, rest = n / after;
    const Complex* x = (round % 2 == 0 ? from : to) + row * n;
    Complex* y = (round % 2 == 0 ? to : from) + row * n;
    for (int64_t i = lane; i < n; i += lanes) {
      const int64_t k = i / rest, m = i - k * rest;
      const Complex* part = x + k % before * (p * rest) + m;
      Complex sum{0, 0};
      for (int64_t j = 0; j < p; ++j) {
        // Modulo the period: the angle stays small.
        const double angle = sign * 6.283185307179586477 * static_cast<double>(j * k % after) /
                             static_cast<double>(after);
        const double c = row_words::cos(angle), s = row_words::sin(angle);
        const Complex z = part[j * rest];
        sum = {sum.re + z.re * c - z.im * s, sum.im + z.re * s + z.im * c};
      }
      y[i] = sum;
    }
  }
};

template <class T>
struct FromReals {
  const T* in;
  Complex* out;
  MX_DEVICE void operator()(int64_t i) const { out[i] = {static_cast<double>(in[i]), 0}; }
};
template <class T>
struct FromPairs {
  const T* in;
  Complex* out;
  MX_DEVICE void operator()(int64_t i) const {
    out[i] = {static_cast<double>(in[2 * i]), static_cast<double>(in[2 * i + 1])};
  }
};
template <class T>
struct ToReals {
  const Complex* in;
  T* out;
  MX_DEVICE void operator()(int64_t i) const { out[i] = static_cast<T>(in[i].re); }
};
template <class T>
struct ToPairs {
  const Complex* in;
  T* out;
  MX_DEVICE void operator()(int64_t i) const {
    out[2 * i] = static_cast<T>(in[i].re);
    out[2 * i + 1] = static_cast<T>(in[i].im);
  }
};

// `reals`: whichever of input and output is not pairs.
template <template <class> class Read, template <class> class Write>
void transform(KernelContext& context, const Tensor& reals, double sign) {
  const int64_t size = reals.size();
  if (size == 0) return;
  const int64_t n = reals.shape().back();
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    NativeStream* const stream = arrays.stream();
    const Transform rows(context.workspace_of<Complex>(size), context.workspace_of<Complex>(size),
                         n, sign);
    for_each(stream, "fft", size, Read<T>{arrays.in(0), rows.from});
    for_each_in_rounds(stream, "fft", size / n, rows);
    for_each(stream, "fft", size, Write<T>{rows.result(), arrays.out(0)});
  });
}
void fft(const void*, KernelContext& context) {
  transform<FromReals, ToPairs>(context, context.in(0), -1);
}
void ifft(const void*, KernelContext& context) {
  transform<FromPairs, ToReals>(context, context.out(0), 1);
}

// --- count sketches ------------------------------------------------------------------------------

// A column that hashes to no column of the sketch makes its row's first number NaN, since kernels
// cannot throw.
template <class T>
struct Sketch {
  const T *x, *h, *s;
  T* y;
  int64_t columns, out_columns;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / columns, j = i - row * columns;
    const bool inside = h[j] >= 0 && h[j] < static_cast<T>(out_columns);
    atomic_add(y + row * out_columns + (inside ? static_cast<int64_t>(h[j]) : 0),
               inside ? s[j] * x[i] : static_cast<T>(NAN));
  }
};
void sketch(const void*, KernelContext& context) {
  const int64_t columns = context.in(0).shape().back();
  if (context.in(0).size() == 0) return fill(context.stream()->native(), context.out(0), 0);
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T* const y = arrays.zeroed_out(0);
    scatter(arrays.stream(), "count_sketch", context.in(0).size() / columns, columns,
            Sketch<T>{arrays.in(0), arrays.in(1), arrays.in(2), y, columns,
                      context.out(0).shape().back()});
  });
}

template <class T>
struct SketchSlope {
  const T *dy, *h, *s;
  T* dx;
  int64_t columns, out_columns;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / columns, j = i - row * columns;
    const bool inside = h[j] >= 0 && h[j] < static_cast<T>(out_columns);
    dx[i] =
        inside ? s[j] * dy[row * out_columns + static_cast<int64_t>(h[j])] : static_cast<T>(NAN);
  }
};
void sketch_slope(const void*, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    for_each(arrays.stream(), "count_sketch", context.out(0).size(),
             SketchSlope<T>{arrays.in(0), arrays.in(1), arrays.in(2), arrays.out(0),
                            context.out(0).shape().back(), context.in(0).shape().back()});
  });
}

}  // namespace

void add_fourier(std::vector<GpuKernelRow>* rows) {
  rows->push_back({"_contrib_fft", fft, nullptr});
  rows->push_back({"_contrib_ifft", ifft, nullptr});
  rows->push_back({"_contrib_count_sketch", sketch, nullptr});
  rows->push_back({"_backward_contrib_count_sketch", sketch_slope, nullptr});
}

}  // namespace cuda
}  // namespace mxnet
