// SPDX-License-Identifier: Apache-2.0
// What a histogram loses when it is quantized (Kullback and Leibler's divergence), for any device.
// Bins are made when they are looked at, three times, so that no memory is needed.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/host_device.h"

namespace mxnet::quantize {

struct EntropyParams {
  int32_t num_quantized_bins;
};

// The range of `half` bins to each side of the middle one of n, with what lies outside of it in its
// outermost bins, and the same quantized to `levels`.
class QuantizedRange {
 public:
  MX_HOST_DEVICE QuantizedRange(const float* hist, int64_t n, int64_t half, int64_t levels)
      : inside_(hist + n / 2 - half), size_(2 * half + 1), levels_(levels) {
    first_ = inside_[0];
    for (const float* bin = hist; bin < inside_; ++bin) first_ += *bin;
    last_ = size_ == 1 ? first_ : inside_[size_ - 1];
    for (const float* bin = inside_ + size_; bin < hist + n; ++bin) last_ += *bin;
    if (size_ == 1) first_ = last_;
  }

  // Infinite where it is not defined.
  MX_HOST_DEVICE double divergence() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Smoothing p, q;
    each_bin([&](double x, double y) {
      p.see(x);
      q.see(y);
    });
    if (!p.settle() || !q.settle()) return kInfinity;
    double p_sum = 0, q_sum = 0, sum = 0;
    each_bin([&](double x, double y) {
      p_sum += p(x);
      q_sum += q(y);
    });
    each_bin([&](double x, double y) {
      const double from = p(x) / p_sum, to = q(y) / q_sum;
      if (from > 0) sum += from * std::log(from / to);
    });
    return sum != sum ? kInfinity : sum;
  }

 private:
  // A divergence needs bins that are not empty: each empty one gets a little, which the others pay
  // in equal parts.
  struct Smoothing {
    static constexpr double kLittle = 1e-4;
    int64_t empty = 0, full = 0;
    double pays = 0;
    MX_HOST_DEVICE void see(double bin) { ++(bin == 0.0 ? empty : full); }
    // False where they could not.
    MX_HOST_DEVICE bool settle() {
      if (full == 0) return false;
      pays = kLittle * static_cast<double>(empty) / static_cast<double>(full);
      return pays < 1.0;
    }
    MX_HOST_DEVICE double operator()(double bin) const { return bin == 0.0 ? kLittle : bin - pays; }
  };

  MX_HOST_DEVICE double bin(int64_t i) const {
    return i == 0 ? first_ : i == size_ - 1 ? last_ : static_cast<double>(inside_[i]);
  }
  // fn(bin, quantized bin) from left to right.
  template <class F>
  MX_HOST_DEVICE void each_bin(const F& fn) const {
    const int64_t merged = size_ / levels_;
    for (int64_t level = 0; level < levels_; ++level) {
      const int64_t begin = level * merged, end = level == levels_ - 1 ? size_ : begin + merged;
      double sum = 0;
      int64_t full = 0;
      for (int64_t i = begin; i < end; ++i) {
        sum += inside_[i];
        full += bin(i) != 0;
      }
      for (int64_t i = begin; i < end; ++i) {
        const double x = bin(i);
        fn(x, x != 0 ? sum / static_cast<double>(full) : 0.0);
      }
    }
  }

  const float* const inside_;
  const int64_t size_, levels_;
  double first_, last_;
};

}  // namespace mxnet::quantize
