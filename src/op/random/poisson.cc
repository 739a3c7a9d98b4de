// SPDX-License-Identifier: Apache-2.0
// With AVX-512 the tangents of a batch of words are taken together, although only every second word
// becomes one.
// How likely a candidate is depends on it and the mean alone: a number that comes again is looked
// up, which leaves out an exponential and a logarithm of the gamma function.
#include "op/random/poisson.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "op/generators/random_numbers.h"
#include "op/random/bulk.h"

namespace mxnet {
namespace {

// Words with their tangents.
class TangentDraws : public RandomNumbers<TangentDraws> {
 public:
  explicit TangentDraws(Mt19937& stream) : stream_(stream) {}
  ~TangentDraws() { stream_.give_back(end_ - next_); }
  TangentDraws(const TangentDraws&) = delete;
  TangentDraws& operator=(const TangentDraws&) = delete;

  uint32_t word() { return words_[take()]; }
  // Of half a turn times the next uniform number.
  float tangent() {
    const std::size_t at = take();
    return together_ ? tangents_[at] : half_turn_tangent(words_[at]);
  }

 private:
  static constexpr int kBatch = 64;
  std::size_t take() {
    if (next_ == end_) {
      end_ = std::min(stream_.available(), kBatch);
      next_ = 0;
      stream_.fill(words_.data(), end_);
      together_ = half_turn_tangents(words_.data(), end_, tangents_.data());
    }
    return static_cast<std::size_t>(next_++);
  }

  Mt19937& stream_;
  int next_ = 0, end_ = 0;
  bool together_ = false;
  std::array<uint32_t, kBatch> words_;
  std::array<float, kBatch> tangents_;
};

// Those of one mean, kept for candidates about it.
class Likelihoods {
 public:
  explicit Likelihoods(float mean)
      : computed_(mean), first_(std::max(0.0f, std::floor(mean) - kBelow)) {
    kept_.fill(kUnknown);
  }
  float operator()(float candidate) {
    const float at = candidate - first_;
    if (!(at >= 0 && at < kKept)) return computed_(candidate);
    float& value = kept_[static_cast<std::size_t>(at)];
    if (value == kUnknown) value = computed_(candidate);
    return value;
  }

 private:
  static constexpr int kKept = 512, kBelow = kKept / 2;
  static constexpr float kUnknown = -1;

  const PoissonLikelihood computed_;
  const float first_;
  std::array<float, kKept> kept_;
};

}  // namespace

bool fill_poisson(Mt19937& stream, float* out, int64_t n, float mean) {
  if (!(mean >= kSmallPoissonMean && mean <= kHugePoissonMean)) return false;
  Likelihoods likelihoods(mean);
  TangentDraws draws(stream);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = draws.large_poisson(
        mean, [&] { return draws.tangent(); },
        [&](float candidate) { return likelihoods(candidate); });
  }
  return true;
}

}  // namespace mxnet
