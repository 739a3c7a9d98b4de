// SPDX-License-Identifier: Apache-2.0
// From AVX2 on the tangents of a batch of words are taken together, although only every second word
// becomes one.
// How likely a candidate is depends on it and the mean alone: a number that comes again is looked
// up, which leaves out an exponential and a logarithm of the gamma function.
#include "op/random/poisson.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>

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
    if (!asked_) {
      asked_ = true;
      together_ = half_turn_tangents(words_.data(), end_, tangents_.data());
    }
    return together_ ? tangents_[at] : half_turn_tangent(words_[at]);
  }

 private:
  static constexpr int kBatch = 64;
  std::size_t take() {
    if (next_ == end_) refill();
    return static_cast<std::size_t>(next_++);
  }
  [[gnu::noinline]] void refill() {
    end_ = std::min(stream_.available(), kBatch);
    next_ = 0;
    stream_.fill(words_.data(), end_);
    asked_ = false;
  }

  Mt19937& stream_;
  int next_ = 0, end_ = 0;
  bool asked_ = false, together_ = false;  // tangents of these words, and whether there are any
  std::array<uint32_t, kBatch> words_;
  std::array<float, kBatch> tangents_;
};

// Those of one mean, kept for candidates about it.
class Likelihoods {
 public:
  explicit Likelihoods(float mean)
      : mean(mean), computed_(mean), first_(std::max(0.0f, std::floor(mean) - kBelow)) {
    kept_.fill(kUnknown);
  }
  float operator()(float candidate) {
    const float at = candidate - first_;
    if (!(at >= 0 && at < kKept)) return computed_(candidate);
    float& value = kept_[static_cast<std::size_t>(at)];
    if (value == kUnknown) value = computed_(candidate);
    return value;
  }

  const float mean;

 private:
  static constexpr int kKept = 512, kBelow = kKept / 2;
  static constexpr float kUnknown = -1;

  const PoissonLikelihood computed_;
  const float first_;
  std::array<float, kKept> kept_;
};

// A thread's own, which the streams of a request and later ones share while their mean is the same.
Likelihoods& likelihoods_of(float mean) {
  thread_local std::unique_ptr<Likelihoods> last;
  if (last == nullptr || last->mean != mean) last = std::make_unique<Likelihoods>(mean);
  return *last;
}

// log(k!) as PoissonLikelihood takes it.
class LogFactorials {
 public:
  LogFactorials() {
    for (std::size_t k = 0; k < kKept; ++k) kept_[k] = log_gamma(static_cast<float>(k) + 1.0f);
  }
  float operator()(float k) const {
    return k < kKept ? kept_[static_cast<std::size_t>(k)] : log_gamma(k + 1.0f);
  }

 private:
  static constexpr std::size_t kKept = 1024;
  std::array<float, kKept> kept_;
};

// Whether large_poisson() takes a candidate, of a mean that no other number has: log(mean!) is a
// series, and is computed as PoissonLikelihood does only where rounding could decide.
class OwnMean {
 public:
  static constexpr float kMost = 1e4f;
  OwnMean(float mean, const LogFactorials& log_factorials)
      : mean_(mean),
        log_mean_(std::log(mean)),
        // mean log(mean) - log(mean!)
        offset_(mean - 0.5f * log_mean_ - 0.918938533f - 0.0833333333f / mean),
        // Of the exponent of e: the offset is off by some 5 units of what it is a difference of.
        margin_(0x1p-20f * (mean * log_mean_ + 1.0f)),
        log_factorials_(log_factorials) {}

  bool takes(float candidate, float y, float uniform) const {
    const float height = poisson_envelope(y);
    const float exponent = candidate * log_mean_ - log_factorials_(candidate);
    const float about = height * std::exp(exponent - offset_), off = about * margin_;
    if (uniform < about - off) return true;
    if (uniform > about + off) return false;
    return uniform <= height * PoissonLikelihood(mean_)(candidate);
  }

 private:
  const float mean_, log_mean_, offset_, margin_;
  const LogFactorials& log_factorials_;
};

// Knuth's products, of words at hand.
void fill_small(Mt19937& stream, float* out, int64_t n, float mean) {
  constexpr int kBatch = 512;
  std::array<float, kBatch> words;
  const float threshold = std::exp(-mean);
  int next = 0, end = 0;
  const auto uniform = [&] {
    if (next == end) {
      end = std::min(stream.available(), kBatch);
      next = 0;
      stream.fill_rounded(words.data(), end);
    }
    return words[static_cast<std::size_t>(next++)] * 0x1p-32f;
  };
  for (int64_t i = 0; i < n; ++i) {
    float count = 0;
    for (float product = uniform(); product > threshold; product *= uniform()) ++count;
    out[i] = count;
  }
  stream.give_back(end - next);
}

// large_poisson() of words at hand. Which words begin a try depends on the signs of candidates, not
// on which are taken: that is one of two, which a processor cannot foresee.
void fill_large(Mt19937& stream, float* out, int64_t n, float mean) {
  constexpr int kBatch = 256, kWordsANumber = 4;
  struct Try {
    float y, candidate, uniform;
    int end;  // the word behind it
  };
  std::array<uint32_t, kBatch> words;
  std::array<float, kBatch> tangents;
  std::array<Try, kBatch / 2> tries;
  Likelihoods& likelihoods = likelihoods_of(mean);
  const float root = std::sqrt(2.0f * mean);
  for (int held = 0; n > 0;) {  // words of a try that is not complete
    const auto wanted = static_cast<int>(std::min<int64_t>(kWordsANumber * n, kBatch - held));
    const int drawn = std::min(stream.available(), wanted);
    stream.fill(words.data() + held, drawn);
    const int filled = held + drawn;
    const bool together = half_turn_tangents(words.data(), filled, tangents.data());
    const auto end = static_cast<std::size_t>(filled);
    std::size_t at = 0, found = 0;
    while (at + 1 < end) {
      const float y = together ? tangents[at] : half_turn_tangent(words[at]);
      const float candidate = root * y + mean;
      if (candidate < 0.0f) {
        ++at;
        continue;
      }
      at += 2;
      tries[found++] = {y, std::floor(candidate), uniform_of(words[at - 1]), static_cast<int>(at)};
    }
    int64_t made = 0;
    std::size_t tried = 0;
    for (; tried < found && made < n; ++tried) {
      const auto& [y, candidate, u, behind] = tries[tried];
      out[made] = candidate;
      made += static_cast<int64_t>(u <= poisson_envelope(y) * likelihoods(candidate));
    }
    out += made;
    n -= made;
    held = filled - static_cast<int>(at);
    words[0] = words[end - 1];
    if (n == 0) stream.give_back(filled - tries[tried - 1].end);
  }
}

// mean_of(draws, i): what number i is drawn for.
template <class MeanOf>
void fill_own_means(Mt19937& stream, float* out, int64_t n, const MeanOf& mean_of) {
  static const LogFactorials log_factorials;
  TangentDraws draws(stream);
  for (int64_t i = 0; i < n; ++i) {
    const float mean = mean_of(draws, i);
    if (!(mean >= kSmallPoissonMean && mean <= OwnMean::kMost)) {
      out[i] = draws.poisson(mean);
      continue;
    }
    const OwnMean own(mean, log_factorials);
    out[i] = draws.large_poisson(
        mean, [&] { return draws.tangent(); },
        [&](float candidate, float y, float u) { return own.takes(candidate, y, u); });
  }
}

}  // namespace

bool fill_poisson(Mt19937& stream, float* out, int64_t n, float mean) {
  if (!(mean >= 0 && mean <= kHugePoissonMean)) return false;
  if (mean < kSmallPoissonMean) {
    fill_small(stream, out, n, mean);
    return true;
  }
  fill_large(stream, out, n, mean);
  return true;
}

void fill_gamma_poisson(Mt19937& stream, float* out, int64_t n, float alpha, float beta) {
  fill_own_means(stream, out, n,
                 [=](TangentDraws& draws, int64_t) { return draws.gamma<float>(alpha, beta); });
}

void fill_poisson_of_means(Mt19937& stream, float* out, int64_t first, int64_t last,
                           const double* means, int64_t each) {
  fill_own_means(stream, out, last - first, [=](TangentDraws&, int64_t i) {
    return static_cast<float>(means[(first + i) / each]);
  });
}

}  // namespace mxnet
