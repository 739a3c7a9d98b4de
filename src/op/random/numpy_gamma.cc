// SPDX-License-Identifier: Apache-2.0
// Rounds of gamma numbers: candidates for every element, until each has accepted one. Most rounds
// are for few elements, and of what they draw for the others only the length counts.
#include "op/random/numpy_gamma.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "op/generators/random_numbers.h"
#include "op/random/bulk.h"

namespace mxnet {
namespace {

constexpr int64_t kWordsAPair = 4;  // of doubles

// What a shape alone decides about.
struct GammaShape {
  explicit GammaShape(float of)
      : shape(of), d(shape < 1 ? shape + 2.0 / 3.0 : shape - 1.0 / 3.0), root(std::sqrt(9 * d)) {}
  double shape, d, root;
};

// Marsaglia and Tsang 2000.
bool accepted(const GammaShape& shape, double z, double v, double uniform) {
  return surely_gamma(uniform, z, shape.d) ||
         std::log(uniform) < 0.5 * z * z + shape.d * (1 - v + std::log(v));
}

double uniform_at(const uint32_t* words) { return uniform_of(words[0], words[1]); }

// Moves `number` to the gamma number that the four words of its uniforms and those of a point in
// the unit circle make, and returns whether it is accepted. A shape below 1 takes the power of a
// further number.
bool gamma_of(const GammaShape& shape, const uint32_t* uniforms, const uint32_t* point,
              double* number) {
  const double a = 2.0 * uniform_at(point) - 1.0, b = 2.0 * uniform_at(point + 2) - 1.0;
  const double radius = a * a + b * b;
  const double z = b * std::sqrt(-2.0 * std::log(radius) / radius);
  const double x = 1 + z / shape.root;
  if (x <= 0) return false;
  const double v = x * x * x;
  if (!accepted(shape, z, v, uniform_at(uniforms))) return false;
  *number = shape.d * v;
  if (shape.shape < 1) *number *= std::pow(uniform_at(uniforms + 2), 1 / shape.shape);
  return true;
}

}  // namespace

// A round draws for every element, also for those that have their number: seeds depend on it.
void draw_gamma_in_rounds(Mt19937& stream, const float* shapes, int64_t size, uint32_t* words,
                          int64_t* waiting, double* numbers) {
  int64_t left = 0;
  for (int64_t i = 0; i < size; ++i) {
    numbers[i] = std::numeric_limits<double>::quiet_NaN();
    waiting[left] = i;
    left += static_cast<int64_t>(shapes[i] > 0 && !std::isinf(shapes[i]));
  }
  std::array<uint32_t, kWordsAPair * kMostPairs> pairs;
  std::array<int32_t, kMostPairs> points;  // of the pairs that are in the circle, their first words
  GammaShape shape(1);
  while (left > 0) {
    stream.fill(words, kWordsAPair * size);
    int64_t refused = 0, next = 0;  // of those that wait
    for (int64_t first = 0; first < size;) {
      const int64_t drawn = std::min(kMostPairs, size - first);  // none in vain
      stream.fill(pairs.data(), kWordsAPair * drawn);
      const int64_t found = find_points(pairs.data(), drawn, points.data());
      for (; next < left && waiting[next] < first + found; ++next) {
        const int64_t i = waiting[next];
        if (shapes[i] != shape.shape) shape = GammaShape(shapes[i]);
        const int32_t point = points[static_cast<std::size_t>(i - first)];
        waiting[refused] = i;
        refused += static_cast<int64_t>(
            !gamma_of(shape, words + kWordsAPair * i, pairs.data() + point, numbers + i));
      }
      first += found;
    }
    left = refused;
  }
}

}  // namespace mxnet
