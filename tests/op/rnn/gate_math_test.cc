// SPDX-License-Identifier: Apache-2.0
// The functions of gates are within 3 ulp of long double where results are normal numbers, and end
// where they must.
#include "op/rnn/gate_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include "op/ulps.h"

namespace mxnet::rnn {
namespace {

constexpr uint64_t kSeed = 20261122;
constexpr double kUlps = 3;

template <class T>
class GateMath : public testing::Test {
 protected:
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  using Limits = std::numeric_limits<T>;

  // Where most arguments are, and any bits.
  template <class F>
  static void each_argument(const F& fn) {
    std::mt19937_64 random(kSeed);
    std::uniform_real_distribution<double> usual(-12, 12);
    for (int i = 0; i < 200000; ++i) {
      fn(static_cast<T>(usual(random)));
      fn(std::bit_cast<T>(static_cast<Bits>(random())));
    }
  }
};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(GateMath, Numbers);

TYPED_TEST(GateMath, SigmoidIsCloseWhereItIsNormal) {
  using T = TypeParam;
  double worst = 0;
  this->each_argument([&](T x) {
    const long double want = 1 / (1 + std::exp(-static_cast<long double>(x)));
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(gate_sigmoid(x)));
    } else if (want >= 8 * std::numeric_limits<T>::min()) {
      worst = std::max(worst, ulps_off(gate_sigmoid(x), want));
    } else {
      EXPECT_LT(gate_sigmoid(x), 8 * std::numeric_limits<T>::min()) << x;
      EXPECT_GE(gate_sigmoid(x), 0) << x;
    }
  });
  EXPECT_LE(worst, kUlps) << "seed " << kSeed;
}

TYPED_TEST(GateMath, TanhIsClose) {
  using T = TypeParam;
  double worst = 0;
  this->each_argument([&](T x) {
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(gate_tanh(x)));
      return;
    }
    worst = std::max(worst, ulps_off(gate_tanh(x), std::tanh(static_cast<long double>(x))));
    EXPECT_LE(std::abs(gate_tanh(x)), 1) << x;
  });
  EXPECT_LE(worst, kUlps) << "seed " << kSeed;
}

TYPED_TEST(GateMath, EndsAreExact) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  EXPECT_EQ(gate_sigmoid(T(0)), T(0.5));
  EXPECT_EQ(gate_sigmoid(Limits::infinity()), 1);
  EXPECT_EQ(gate_sigmoid(Limits::max()), 1);
  EXPECT_LT(gate_sigmoid(-Limits::infinity()), Limits::min());
  EXPECT_EQ(gate_tanh(Limits::infinity()), 1);
  EXPECT_EQ(gate_tanh(-Limits::infinity()), -1);
  EXPECT_EQ(gate_tanh(Limits::lowest()), -1);
  EXPECT_EQ(gate_tanh(T(0)), 0);
  EXPECT_TRUE(std::signbit(gate_tanh(T(-0.0))));
  EXPECT_FALSE(std::signbit(gate_tanh(T(0))));
  EXPECT_EQ(gate_tanh(-Limits::denorm_min()), -Limits::denorm_min());
}

}  // namespace
}  // namespace mxnet::rnn
