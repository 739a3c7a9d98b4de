// SPDX-License-Identifier: Apache-2.0
// Products by the methods of Strassen and of Hopcroft and Kerr are those of the plain triple loop:
// to the last bit for numbers whose sums are exact, and with a small error for others.
#include "op/rnn/strassen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <new>
#include <random>
#include <vector>

#include "base/stream_copy.h"
#include "op/products/packed_gemm.h"
#include "op/rnn/magnitudes.h"

namespace mxnet::rnn {
namespace {

constexpr unsigned kSeed = 20261122;
constexpr int64_t kGates = 4;

struct Floats {
  explicit Floats(int64_t count)
      : count(static_cast<std::size_t>(count)),
        data(static_cast<float*>(
            ::operator new (this->count * sizeof(float), std::align_val_t{64}))) {
    std::fill_n(data, count, NAN);  // what is read without being written shows
  }
  ~Floats() { ::operator delete (data, std::align_val_t{64}); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  std::size_t count;
  float* data;
};

// The products of the state are added to the results.
void add_state(const std::vector<strassen::Tile>& tiles, int64_t k, const float* sums,
               int64_t hidden, int64_t apart, float* scratch) {
  const int64_t count = static_cast<int64_t>(tiles.size()) / 2, width = strassen::columns();
  strassen::StateProducts products(2 * count * strassen::kTile, k, sums, hidden, scratch);
  products.sum_rows(tiles);
  for (int64_t unit = 0; unit < hidden; unit += width) {
    products.multiply(unit);
    for (int64_t t = 0; t < count; ++t) {
      const auto place = [&](int64_t tile) {
        return tiles[static_cast<std::size_t>(tile)].to + unit / width * apart;
      };
      pair_sums::add_products(products.of(t), strassen::kTile, place(t), place(count + t),
                              kGates * width);
    }
  }
}

// A layer of weights, its sums, and rows that meet it.
class StrassenProducts : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam() && !strassen::gains_on_state())
      GTEST_SKIP() << "products with the state are plain without AVX-512";
  }
  // Of the largest magnitude of the results, the error; `steps` pairs of groups of 16 rows.
  double error(int64_t k, int64_t hidden, int64_t pairs, bool input, bool exact) {
    std::mt19937 random(kSeed);
    std::normal_distribution<float> normal;
    std::uniform_int_distribution<int> eighths(-8, 8);
    const auto number = [&] {
      return exact ? static_cast<float>(eighths(random)) / 8 : normal(random);
    };
    const int64_t width = strassen::columns(), rows = (input ? 4 : 2) * pairs * strassen::kTile;
    std::vector<float> weights(static_cast<std::size_t>(kGates * hidden * k));
    std::vector<float> x(static_cast<std::size_t>(rows * k));
    for (float& v : weights) v = number();
    for (float& v : x) v = number();
    const int64_t size = input ? strassen::input_sums(k, hidden) : strassen::state_sums(k, hidden);
    const int64_t block = size / (hidden / width);
    Floats sums(size), panels(kGates * k * width),
        scratch(input ? strassen::input_scratch(rows, k) : strassen::state_scratch(rows, k));
    for (int64_t u = 0; u < hidden; u += width) {
      for (int64_t g = 0; g < kGates; ++g) {
        packed_gemm::pack<float>({weights.data() + (g * hidden + u) * k, 1, k}, k, width, 0, width,
                                 panels.data + g * k * width);
      }
      float* to = sums.data + u / width * block;
      input ? strassen::sum_input_weights(panels.data, k, to)
            : strassen::sum_state_weights(panels.data, k, to);
    }
    finish_stream_copies();
    // Rows of results lie block by block; those of state are added to ones.
    const int64_t apart = rows * kGates * width;
    std::vector<float> y(static_cast<std::size_t>(rows * kGates * hidden), input ? NAN : 1.0F);
    std::vector<strassen::Tile> tiles;
    for (int64_t r = 0; r < rows; r += strassen::kTile)
      tiles.push_back({x.data() + r * k, y.data() + r * kGates * width});
    input ? strassen::multiply_input(tiles, k, sums.data, hidden, apart, scratch.data)
          : add_state(tiles, k, sums.data, hidden, apart, scratch.data);
    double most = 0, largest = 0;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t column = 0; column < kGates * hidden; ++column) {
        double want = input ? 0 : 1;
        for (int64_t i = 0; i < k; ++i)
          want += double{x[static_cast<std::size_t>(r * k + i)]} *
                  weights[static_cast<std::size_t>(column * k + i)];
        const int64_t g = column / hidden, u = column % hidden;
        const int64_t at = u / width * apart + (r * kGates + g) * width + u % width;
        const double off = std::abs(y[static_cast<std::size_t>(at)] - want);
        most = off <= most ? most : off;  // NaN too
        largest = std::max(largest, std::abs(want));
      }
    }
    return most / largest;
  }
};

TEST_P(StrassenProducts, AreExactWhereSumsAre) {
  for (const int64_t k : {64, 320}) {
    for (const int64_t pairs : {1, 3}) EXPECT_EQ(error(k, 64, pairs, GetParam(), true), 0) << k;
  }
  EXPECT_EQ(error(64, 320, 2, GetParam(), true), 0);
}

TEST_P(StrassenProducts, HaveSmallErrors) {
  // Sums of 512 products in float32 are off by some 2e-7 of the largest.
  EXPECT_LT(error(512, 128, 2, GetParam(), false), 1.5e-6);
}

INSTANTIATE_TEST_SUITE_P(InputAndState, StrassenProducts, testing::Bool(),
                         [](const auto& info) { return info.param ? "Input" : "State"; });

TEST(Strassen, TakesSizesThatGainAndDivide) {
  EXPECT_TRUE(strassen::divides(32, 512, 512));
  EXPECT_TRUE(strassen::divides(16, 256, 320));
  EXPECT_FALSE(strassen::divides(24, 512, 512));
  EXPECT_FALSE(strassen::divides(32, 500, 512));
  EXPECT_FALSE(strassen::divides(32, 512, 500));
  EXPECT_FALSE(strassen::divides(32, 64, 512));
  EXPECT_FALSE(strassen::divides(32, 512, 128));
}

TEST(Strassen, TakesNumbersThatAreFiniteAndSmall) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const int64_t count : {1, 16, 37, 1000}) {
    std::vector<float> numbers(static_cast<std::size_t>(count), -0.5F);
    EXPECT_EQ(largest_of(numbers.data(), count), 0.5F);
    for (const std::size_t at : {std::size_t{0}, numbers.size() / 2, numbers.size() - 1}) {
      const float before = numbers[at];
      numbers[at] = -3;
      EXPECT_EQ(largest_of(numbers.data(), count), 3);
      numbers[at] = -kInfinity;
      EXPECT_EQ(largest_of(numbers.data(), count), kInfinity);
      numbers[at] = NAN;
      EXPECT_TRUE(std::isnan(largest_of(numbers.data(), count)));
      numbers[at] = before;
    }
  }
  EXPECT_EQ(largest_of(nullptr, 0), 0);
  EXPECT_TRUE(small_enough(5, 0.2F, 512));
  EXPECT_FALSE(small_enough(1000, 0.2F, 512));
  EXPECT_FALSE(small_enough(NAN, 0, 512));
  EXPECT_FALSE(small_enough(kInfinity, 0, 512));  // infinity times zero
  EXPECT_FALSE(small_enough(0.1F, kInfinity, 512));
  EXPECT_FALSE(small_enough(0, 3e38F, 512));  // two of them are infinite
  EXPECT_FALSE(small_enough(3e38F, 0, 512));
}

}  // namespace
}  // namespace mxnet::rnn
