// SPDX-License-Identifier: Apache-2.0
// What a histogram loses when it is quantized (Kullback and Leibler's divergence), for any device.
// All bins of a level are quantized alike, so that logarithms are needed of the histogram's own
// bins and of one number a level. Levels are added up twice, so that no memory is needed.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/host_device.h"

namespace mxnet::quantize {

struct EntropyParams {
  int32_t num_quantized_bins;
};

// What is left of a bin that is not empty when it has paid for the empty ones; never negative.
MX_HOST_DEVICE inline double paid(double bin, double pays) {
  return bin != 0.0 && bin > pays ? bin - pays : 0.0;
}
MX_HOST_DEVICE inline double times_log(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }

// times_log of what n bins have left: one at a time, as in a kernel's thread.
struct LogsInTurn {
  MX_HOST_DEVICE double operator()(const float* bins, int64_t n, double pays) const {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += times_log(paid(bins[i], pays));
    return sum;
  }
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

  // Infinite where it is not defined. `logs`: as LogsInTurn.
  template <class Logs>
  MX_HOST_DEVICE double divergence(const Logs& logs) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Smoothing p, q;
    for (int64_t i = 0; i < levels_; ++i) {
      const Level level = level_at(i);
      p.see(level.full, level.bins - level.full, level.all);
      const int64_t full = level.sum != 0 ? level.full : 0;
      q.see(full, level.bins - full, level.sum);
    }
    if (!p.settle() || !q.settle()) return kInfinity;
    // Empty bins have a little on both sides: their logarithms cancel.
    double left = p.little(), sum = size_ > 1 ? times_log(paid(first_, p.pays)) : 0.0;
    sum += logs(inside_ + 1, size_ - 2, p.pays) + times_log(paid(last_, p.pays));
    for (int64_t i = 0; i < levels_; ++i) {
      const Level level = level_at(i, p.pays);
      if (level.left == 0) continue;
      left += level.left;
      sum -= level.left * std::log(q(level.sum / static_cast<double>(level.full)));
    }
    const double result = (sum + left * std::log(q.sum() / p.sum())) / p.sum();
    return result != result ? kInfinity : result;
  }

 private:
  // A divergence needs bins that are not empty: each empty one gets a little, which the others pay
  // in equal parts.
  struct Smoothing {
    static constexpr double kLittle = 1e-4;
    int64_t empty = 0, full = 0;
    double pays = 0, all = 0;
    MX_HOST_DEVICE void see(int64_t more_full, int64_t more_empty, double bins) {
      full += more_full;
      empty += more_empty;
      all += bins;
    }
    // False where they could not.
    MX_HOST_DEVICE bool settle() {
      if (full == 0) return false;
      pays = little() / static_cast<double>(full);
      return pays < 1.0;
    }
    MX_HOST_DEVICE double little() const { return kLittle * static_cast<double>(empty); }
    MX_HOST_DEVICE double sum() const { return all - pays * static_cast<double>(full) + little(); }
    MX_HOST_DEVICE double operator()(double bin) const { return bin == 0.0 ? kLittle : bin - pays; }
  };

  // Bins that become one number: their sum without and with what lies outside of the range, and
  // that of what they have left. The numbers of bins that are not empty are the second sum's.
  struct Level {
    int64_t bins, full = 0;
    double sum = 0, all = 0, left = 0;
    // A bin at an end, with what lies outside.
    MX_HOST_DEVICE void put(double bin, double with_outside, double pays) {
      all += with_outside - bin;
      full += (with_outside != 0 ? 1 : 0) - (bin != 0 ? 1 : 0);
      left += paid(with_outside, pays) - paid(bin, pays);
    }
  };
  MX_HOST_DEVICE Level level_at(int64_t i, double pays = 0) const {
    const int64_t merged = size_ / levels_;
    const int64_t begin = i * merged, end = i == levels_ - 1 ? size_ : begin + merged;
    Level level{end - begin};
    for (int64_t k = begin; k < end; ++k) {
      const double x = inside_[k];
      level.sum += x;
      level.full += x != 0 ? 1 : 0;
      level.left += paid(x, pays);
    }
    level.all = level.sum;
    if (begin == 0) level.put(inside_[0], first_, pays);
    if (end == size_ && size_ > 1) level.put(inside_[size_ - 1], last_, pays);
    return level;
  }

  const float* const inside_;
  const int64_t size_, levels_;
  double first_, last_;
};

}  // namespace mxnet::quantize
