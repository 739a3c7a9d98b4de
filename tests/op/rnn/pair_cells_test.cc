// SPDX-License-Identifier: Apache-2.0
// Cells made straight from the 26 products are those of long double, half a unit further off than
// the functions of gates are at most, and keep what is not finite in its unit.
#include "op/rnn/pair_cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "op/rnn/gate_math.h"
#include "op/rnn/strassen.h"
#include "op/ulps.h"

namespace mxnet::rnn::pair_sums {
namespace {

constexpr unsigned kSeed = 20261126;
constexpr int64_t kRows = 8, kRow = kBlocks * kWidth;

// Units of kRows pairs of samples, whose products are zeros but for those that a test writes.
struct Units {
  Units()
      : products(static_cast<std::size_t>(kRows * kProducts * kWidth)),
        gates(static_cast<std::size_t>(2 * kRows * kRow)),
        bias(static_cast<std::size_t>(kRow)),
        c(static_cast<std::size_t>(2 * kRows * kWidth)),
        h(c.size()),
        y(2 * c.size()) {}
  void run(bool with_products = true) {
    // Outputs lie twice as far from each other as states.
    run_cells(
        {with_products ? products.data() : nullptr, gates.data(), gates.data() + kRows * kRow,
         bias.data(), c.data(), c.data() + kRows * kWidth, h.data(), h.data() + kRows * kWidth,
         y.data(), y.data() + 2 * kRows * kWidth, kWidth, 2 * kWidth},
        kRows);
  }
  static std::size_t state(int64_t sample, int64_t unit) {
    return static_cast<std::size_t>(sample * kWidth + unit);
  }
  static std::size_t gate(int64_t sample, int64_t block, int64_t unit) {
    return static_cast<std::size_t>(sample * kRow + block * kWidth + unit);
  }
  static std::size_t output(int64_t sample, int64_t unit) {
    return static_cast<std::size_t>(2 * sample * kWidth + unit);
  }
  std::vector<float> products, gates, bias, c, h, y;
};

class PairCells : public testing::Test {
 protected:
  void SetUp() override {
    if (!strassen::gains_on_state()) GTEST_SKIP() << "of AVX-512 alone";
  }
};

long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }

// The largest errors of cell and hidden states, the former in places of the larger summand, as they
// may cancel.
struct Worst {
  void see(float c, float h, const float* gates, float before) {
    const auto gate = [&](int64_t block) -> long double { return gates[block * kWidth]; };
    const long double kept = sigmoid(gate(1)) * before,
                      added = sigmoid(gate(0)) * std::tanh(gate(2));
    const auto scale = static_cast<float>(std::max(std::abs(kept), std::abs(added)));
    const double place = std::nextafter(scale, INFINITY) - scale;
    const auto off = static_cast<double>(std::abs(kept + added - c));
    if (scale > 1e-30F) of_c = std::max(of_c, off / place);
    const long double want = sigmoid(gate(3)) * std::tanh(static_cast<long double>(c));
    if (std::abs(want) > 1e-30L) of_h = std::max(of_h, ulps_off(h, want));
  }
  double of_c = 0, of_h = 0;
};

TEST_F(PairCells, AreAboutAsCloseAsTheFunctionsOfGates) {
  std::mt19937 random(kSeed);
  Worst own, of_functions;
  for (const float range : {0.1F, 4.0F, 30.0F, 120.0F}) {
    for (int round = 0; round < 50; ++round) {
      std::uniform_real_distribution<float> number(-range, range);
      Units units;
      for (float& v : units.gates) v = number(random);
      for (float& v : units.c) v = number(random) / 4;
      const std::vector<float> before = units.c;
      units.run();
      for (int64_t s = 0; s < 2 * kRows; ++s) {
        for (int64_t j = 0; j < kWidth; ++j) {
          const float* gates = &units.gates[Units::gate(s, 0, j)];
          const std::size_t at = Units::state(s, j);
          own.see(units.c[at], units.h[at], gates, before[at]);
          EXPECT_EQ(units.h[at], units.y[Units::output(s, j)]);
          const float c = gate_sigmoid(gates[kWidth]) * before[at] +
                          gate_sigmoid(gates[0]) * gate_tanh(gates[2 * kWidth]);
          of_functions.see(c, gate_sigmoid(gates[3 * kWidth]) * gate_tanh(c), gates, before[at]);
        }
      }
    }
  }
  EXPECT_LE(own.of_c, of_functions.of_c + 0.5) << "seed " << kSeed;
  EXPECT_LE(own.of_h, of_functions.of_h + 0.5) << "seed " << kSeed;
}

TEST_F(PairCells, AddBiasesAndProducts) {
  Units units, same;
  units.bias[kWidth] = 0.75F;  // of the first unit's forget gate
  // The product that is the second row's sum of block 3 alone.
  units.products[22 * kWidth + 5] = 0.5F;
  same.c.assign(same.c.size(), 0.5F);
  units.c = same.c;
  for (int64_t s = 0; s < 2 * kRows; ++s) same.gates[Units::gate(s, 1, 0)] = 0.75F;
  same.gates[Units::gate(kRows, 3, 5)] = 0.5F;
  units.run();
  same.run();
  EXPECT_EQ(units.c, same.c);
  EXPECT_EQ(units.h, same.h);
}

TEST_F(PairCells, NeedNoProductsWhereGatesHaveThem) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<float> number(-4, 4);
  Units with, without;
  for (auto* values : {&with.gates, &with.bias, &with.c}) {
    for (float& v : *values) v = number(random);
  }
  without.gates = with.gates;
  without.bias = with.bias;
  without.c = with.c;
  with.run();
  without.run(false);
  EXPECT_EQ(with.c, without.c);
  EXPECT_EQ(with.h, without.h);
  EXPECT_EQ(with.y, without.y);
}

TEST_F(PairCells, EndWhereTheyMust) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Units units;
  const auto set = [&](int64_t unit, float i, float f, float g, float o, float c) {
    const float all[] = {i, f, g, o};
    for (int block = 0; block < kBlocks; ++block)
      units.gates[Units::gate(0, block, unit)] = all[block];
    units.c[Units::state(0, unit)] = c;
  };
  set(0, kInfinity, kInfinity, kInfinity, kInfinity, 2);
  set(1, -kInfinity, kInfinity, 3, kInfinity, -20);
  set(2, kInfinity, -kInfinity, -kInfinity, -kInfinity, 5);
  set(3, 1, 1, -1e-40F, 1, 0);
  set(4, NAN, 1, 1, 1, 1);
  set(5, 1, NAN, 1, 1, 1);
  set(6, 1, 1, NAN, 1, 1);
  set(7, 1, 1, 1, NAN, 1);
  set(8, 1, 1, 1, 1, NAN);
  units.run();
  EXPECT_EQ(units.c[0], 3);
  EXPECT_NEAR(units.h[0], std::tanh(3.0F), 1e-6);
  EXPECT_EQ(units.c[1], -20);
  EXPECT_EQ(units.h[1], -1);
  EXPECT_EQ(units.c[2], -1);
  EXPECT_LT(std::abs(units.h[2]), 1e-37F);
  EXPECT_NEAR(units.c[3], -7.31e-41F, 1e-43);  // of the least numbers too
  EXPECT_LT(units.h[3], 0);
  for (std::size_t unit = 4; unit < 9; ++unit) EXPECT_TRUE(std::isnan(units.h[unit])) << unit;
  EXPECT_FALSE(std::isnan(units.c[7]));
  for (std::size_t unit = 9; unit < units.h.size(); ++unit) EXPECT_EQ(units.h[unit], 0) << unit;
}

}  // namespace
}  // namespace mxnet::rnn::pair_sums
