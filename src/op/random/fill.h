// SPDX-License-Identifier: Apache-2.0
// A run of random numbers with common parameters, out of one stream.
#pragma once
#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>

#include "op/generators/random_draws.h"
#include "op/loops/convert.h"
#include "op/random/bulk.h"
#include "op/random/poisson.h"
#include "op/random/samplers.h"

namespace mxnet {

// What numbers of type T are drawn as. For halves that is double, but float for gamma.
template <class Dist, class T>
using DrawType =
    std::conditional_t<std::is_same_v<T, float> ||
                           (std::is_same_v<Dist, samplers::Gamma> && !std::is_same_v<T, double>),
                       float, double>;

// Words of a batch of numbers of double, two each.
class WordPairs : public RandomNumbers<WordPairs> {
 public:
  explicit WordPairs(const uint32_t* words) : words_(words) {}
  uint32_t word() { return *words_++; }

 private:
  const uint32_t* words_;
};

constexpr int64_t kBatch = 256;
static_assert(kBatch <= kMostLogs && kBatch <= kMostPairs);

// draw(pairs of words, part, count) for all parts of `out`.
template <class T, class Draw>
void fill_in_parts(Mt19937& stream, T* out, int64_t n, const Draw& draw) {
  std::array<uint32_t, 2 * kBatch> words;
  for (; n > 0; n -= kBatch, out += kBatch) {
    const int64_t count = std::min(n, kBatch);
    stream.fill(words.data(), 2 * count);
    draw(WordPairs(words.data()), out, static_cast<std::size_t>(count));
  }
}

template <class T>
void fill_uniform(Mt19937& stream, T* out, int64_t n, double low, double high) {
  fill_in_parts(stream, out, n, [&](WordPairs pairs, T* part, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      part[i] = static_cast<T>(samplers::Uniform::draw<double>(pairs, low, high));
  });
}

template <class T>
void fill_exponential(Mt19937& stream, T* out, int64_t n, double rate) {
  std::array<uint32_t, 2 * kBatch> words;
  std::array<double, kBatch> numbers;
  for (; n > 0; n -= kBatch, out += kBatch) {
    const int64_t count = std::min(n, kBatch);
    stream.fill(words.data(), 2 * count);
    exponentials_of_doubles(words.data(), count, rate, numbers.data());
    std::transform(numbers.begin(), numbers.begin() + count, out,
                   [](double x) { return static_cast<T>(x); });
  }
}

template <class T>
void fill_normal(Mt19937& stream, T* out, int64_t n, double loc, double scale) {
  std::array<uint32_t, 4 * kBatch> words;
  std::array<double, kBatch> numbers;
  while (n > 0) {
    // Never more pairs than numbers: no word is drawn that is not used.
    const int64_t pairs = std::min(n, kBatch);
    stream.fill(words.data(), 4 * pairs);
    const int64_t count = normals_of_doubles(words.data(), pairs, numbers.data());
    std::transform(numbers.begin(), numbers.begin() + count, out,
                   [&](double number) { return static_cast<T>(number * scale + loc); });
    out += count;
    n -= count;
  }
}

// Distributions whose numbers are floats, whatever the type of the result.
template <class Dist>
constexpr bool kCounts =
    std::is_same_v<Dist, samplers::Poisson> || std::is_same_v<Dist, samplers::NegativeBinomial> ||
    std::is_same_v<Dist, samplers::GeneralizedNegativeBinomial>;

// Whether a loop for many numbers of these parameters draws them; of others nothing is drawn.
template <class Dist, class F>
bool fill_counts(Mt19937& stream, float* out, int64_t n, F a, F b) {
  if constexpr (std::is_same_v<Dist, samplers::Poisson>) {
    return fill_poisson(stream, out, n, static_cast<float>(a));
  } else {
    if (std::is_same_v<Dist, samplers::GeneralizedNegativeBinomial> && b == F(0)) return false;
    const samplers::GammaOfMeans means = Dist::means(a, b);
    // Where most means are small, one by one is as fast.
    if (!(means.alpha * means.beta > 0.5f * kSmallPoissonMean)) return false;
    fill_gamma_poisson(stream, out, n, means.alpha, means.beta);
    return true;
  }
}
template <class Dist, class F, class T>
bool fill_counts(Mt19937& stream, T* out, int64_t n, F a, F b) {
  std::array<float, 2048> counts;
  for (int64_t first = 0; first < n; first += std::ssize(counts)) {
    const int64_t count = std::min<int64_t>(n - first, std::ssize(counts));
    if (!fill_counts<Dist>(stream, counts.data(), count, a, b)) return false;
    std::transform(counts.begin(), counts.begin() + count, out + first,
                   [](float x) { return static_cast<T>(x); });
  }
  return true;
}

template <class Dist, class T>
void fill(Mt19937& stream, T* out, int64_t n, float first, float second) {
  using F = DrawType<Dist, T>;
  const F a = first, b = second;
  if constexpr (std::is_same_v<Dist, samplers::Uniform>) {
    if constexpr (std::is_same_v<T, float>)
      stream.fill_uniform(out, n, a, b - a);
    else
      fill_uniform(stream, out, n, a, b);
  } else if constexpr (std::is_same_v<Dist, samplers::Exponential>) {
    fill_exponential(stream, out, n, a);
  } else if constexpr (std::is_same_v<Dist, samplers::Normal>) {
    fill_normal(stream, out, n, a, b);
  } else {
    if constexpr (std::is_same_v<Dist, samplers::Gamma> && std::is_same_v<T, float>)
      if (fill_gamma(stream, out, n, a, b)) return;
    if constexpr (kCounts<Dist>)
      if (fill_counts<Dist>(stream, out, n, a, b)) return;
    constexpr bool kDoubles = std::is_same_v<Dist, samplers::Gamma> && std::is_same_v<F, double>;
    std::conditional_t<kDoubles, DoubleDraws, Draws> draws(stream);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(Dist::template draw<F>(draws, a, b));
  }
}

// Distributions whose numbers are those of the standard parameters, times and plus others.
template <class Dist>
constexpr bool kOfStandard =
    std::is_same_v<Dist, samplers::Uniform> || std::is_same_v<Dist, samplers::Normal> ||
    std::is_same_v<Dist, samplers::Exponential>;
// Exponential numbers are divided in double.
template <class Dist, class F>
using Standard = std::conditional_t<std::is_same_v<Dist, samplers::Exponential>, double, F>;

// REQUIRES: n <= kBatch.
template <class Dist, class F>
void fill_standard(Mt19937& stream, Standard<Dist, F>* out, int64_t n) {
  if constexpr (std::is_same_v<Dist, samplers::Normal> && std::is_same_v<F, float>) {
    fill_standard_normal(stream, out, n);
  } else if constexpr (!std::is_same_v<Dist, samplers::Exponential>) {
    fill<Dist>(stream, out, n, 0, 1);
  } else {
    std::array<F, kBatch> uniform;
    std::array<double, kBatch> left;
    fill<samplers::Uniform>(stream, uniform.data(), n, 0, 1);
    std::transform(uniform.begin(), uniform.begin() + n, left.begin(),
                   [](F x) { return 1.0 - double{x}; });
    logs_of_doubles(left.data(), out, n);
    std::transform(out, out + n, out, [](double x) { return -x; });
  }
}

// What Dist::draw() makes of such a number.
template <class Dist, class F>
F of_standard(Standard<Dist, F> x, F a, F b) {
  if constexpr (std::is_same_v<Dist, samplers::Uniform>) return x * (b - a) + a;
  if constexpr (std::is_same_v<Dist, samplers::Normal>) return x * b + a;
  return static_cast<F>(x / a);
}

// Elements [first, last) of which `each` in turn have the parameters of one place of a and b.
template <class Dist, class F>
[[gnu::noinline]] void fill_of_standard(Mt19937& stream, F* out, int64_t first, int64_t last,
                                        const double* a, const double* b, int64_t each) {
  std::array<Standard<Dist, F>, kBatch> numbers;
  for (int64_t end; first < last; out += end - first, first = end) {
    end = std::min(last, first + kBatch);
    fill_standard<Dist, F>(stream, numbers.data(), end - first);
    const auto make = [&](int64_t i, int64_t at) {
      out[i] = of_standard<Dist, F>(numbers[static_cast<std::size_t>(i)], static_cast<F>(a[at]),
                                    static_cast<F>(b[at]));
    };
    if (each == 1) {
      for (int64_t i = 0; i < end - first; ++i) make(i, first + i);
      continue;
    }
    for (int64_t i = first, at = i / each; i < end; ++at) {
      for (const int64_t next = std::min(end, (at + 1) * each); i < next; ++i) make(i - first, at);
    }
  }
}

// draw(out, first, last) for parts of `out`, in numbers that become its own.
template <class F, class T, class Draw>
void draw_as(T* out, int64_t first, int64_t last, const Draw& draw) {
  if constexpr (std::is_same_v<F, T>) {
    draw(out + first, first, last);
  } else {
    std::array<F, kBatch> numbers;
    for (int64_t end; first < last; first = end) {
      end = std::min(last, first + kBatch);
      draw(numbers.data(), first, end);
      convert_array(numbers.data(), out + first, end - first);
    }
  }
}

}  // namespace mxnet
