// SPDX-License-Identifier: Apache-2.0
// Gamma numbers in rounds are those of the same words of the stream drawn one by one, with a
// candidate for every element in each round, and the stream goes on at the same word.
#include "op/random/numpy_gamma.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "op/generators/random_draws.h"

namespace mxnet {
namespace {

constexpr uint32_t kSeed = 20261125;
constexpr double kWaiting = -1;  // no gamma number is negative

double candidate(double shape, double z, const double* uniforms) {
  const double d = shape < 1 ? shape + 2.0 / 3.0 : shape - 1.0 / 3.0;
  const double x = 1 + z / std::sqrt(9 * d);
  if (x <= 0) return kWaiting;
  const double v = x * x * x;
  if (!(std::log(uniforms[0]) < 0.5 * z * z + d * (1 - v + std::log(v)))) return kWaiting;
  return shape < 1 ? d * v * std::pow(uniforms[1], 1 / shape) : d * v;
}

std::vector<double> one_by_one(Mt19937& stream, const std::vector<float>& shapes) {
  Draws draws(stream);
  std::vector<double> numbers(shapes.size(), kWaiting), uniforms(2 * shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (!(shapes[i] > 0) || std::isinf(shapes[i])) numbers[i] = std::nan("");
  while (std::find(numbers.begin(), numbers.end(), kWaiting) != numbers.end()) {
    for (double& uniform : uniforms) uniform = draws.uniform<double>();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const double z = draws.normal<double>();
      if (numbers[i] == kWaiting) numbers[i] = candidate(shapes[i], z, uniforms.data() + 2 * i);
    }
  }
  return numbers;
}

void expect_same(const std::vector<float>& shapes) {
  const std::size_t size = shapes.size();
  Mt19937 stream(kSeed), single(kSeed);
  std::vector<uint32_t> words(4 * size);
  std::vector<int64_t> waiting(size);
  std::vector<double> numbers(size);
  draw_gamma_in_rounds(stream, shapes.data(), static_cast<int64_t>(size), words.data(),
                       waiting.data(), numbers.data());
  const std::vector<double> expected = one_by_one(single, shapes);
  for (std::size_t i = 0; i < size; ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(numbers[i])) << i << " of " << size;
    } else {
      EXPECT_EQ(numbers[i], expected[i]) << "shape " << shapes[i] << ", " << i << " of " << size;
    }
  }
  uint32_t after, after_single;
  stream.fill(&after, 1);
  single.fill(&after_single, 1);
  EXPECT_EQ(after, after_single) << size << " numbers, seed " << kSeed;
}

// From shapes whose candidates are often refused to those at which rounding decides about some.
TEST(NumpyGamma, OfOneShapeAreThoseDrawnOneByOne) {
  for (const float shape : {1e-3f, 0.3f, 1.0f, 2.5f, 40.0f, 3e5f, 1e7f, 1e30f})
    for (const std::size_t size : {0, 1, 2, 3, 511, 512, 513, 1025, 20000})
      expect_same(std::vector<float>(size, shape));
}

TEST(NumpyGamma, OfManyShapesAreThoseDrawnOneByOne) {
  const std::vector<float> some = {0.5f, -1.0f, 2.0f, 0.0f, 2.0f, INFINITY, 8.0f, std::nanf("")};
  std::vector<float> shapes;
  for (std::size_t i = 0; i < 3001; ++i) shapes.push_back(some[i * i % some.size()]);
  expect_same(shapes);
  expect_same({-1.0f, INFINITY});
}

}  // namespace
}  // namespace mxnet
