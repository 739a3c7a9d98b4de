// SPDX-License-Identifier: Apache-2.0
// The update rules where numbers go from half types to registers: the bits are those of the loops
// of float on converted arrays.
#include "op/optim/update_loops.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "base/half_bulk.h"

namespace mxnet {
namespace {

constexpr int64_t kCount = 5 * kHalfStep;
constexpr UpdateRule kRules[] = {
#define MX_RULE_NAME(id, rule) UpdateRule::id,
    MX_UPDATE_RULES(MX_RULE_NAME)
#undef MX_RULE_NAME
};

UpdateScalars scalars(float clip) {
  UpdateScalars p{};
  p.lr = 0.1f;
  p.wd = 0.01f;
  p.rescale_grad = 0.7f;
  p.clip_gradient = clip;
  p.clip_weights = 2;
  p.momentum = p.beta1 = p.gamma1 = p.gamma2 = 0.9f;
  p.beta2 = 0.99f;
  p.epsilon = 1e-3f;
  p.ftml_epsilon = 1e-3;
  p.eta = p.beta = 1;
  p.decay1 = 0.9;
  p.decay2 = 0.99;
  p.grad_share = p.mean_share = 0.5;
  p.t = 2;
  return p;
}

// Of many magnitudes, zeros of both signs, infinities and NaN among them.
template <class T>
std::vector<T> numbers(unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float odd[] = {0.0f, -0.0f, kInfinity, -kInfinity, std::nanf(""), 1e-7f};
  std::vector<T> values;
  for (int64_t i = 0; i < kCount; ++i)
    values.push_back(
        T(engine() % 8 == 0 ? odd[engine() % 6] : normal(engine) * std::exp(3 * normal(engine))));
  return values;
}

template <class T>
std::vector<float> floats(const std::vector<T>& from) {
  std::vector<float> to(from.size());
  if constexpr (std::is_same_v<T, float>)
    return from;
  else
    convert(from.data(), to.data(), from.size());
  return to;
}

template <class T>
void expect_same(const std::vector<T>& got, const std::vector<float>& want, const char* what) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float is = static_cast<float>(got[i]), expected = static_cast<float>(T(want[i]));
    ASSERT_TRUE(std::isnan(expected)
                    ? std::isnan(is)
                    : std::bit_cast<uint32_t>(is) == std::bit_cast<uint32_t>(expected))
        << what << " " << i << ": " << is << ", expected " << expected;
  }
}

// Weights and states of T, gradients of Half; what is rounded follows the weights.
template <class T, class Half>
void compare(UpdateRule rule, float clip) {
  const UpdateLoop<T, Half> loop = half_update_loop<T, Half>(rule);
  if (loop == nullptr) return;  // this processor, or this rule, goes through float
  std::vector<T> weight = numbers<T>(1), out(weight.size()), a = numbers<T>(3), b = numbers<T>(4),
                 c = numbers<T>(5);
  std::vector<Half> grad = numbers<Half>(2), rounded(weight.size());
  std::vector<float> weight32 = floats(weight), out32(out.size()), grad32 = floats(grad),
                     a32 = floats(a), b32 = floats(b), c32 = floats(c);
  loop(scalars(clip),
       {out.data(), weight.data(), grad.data(), {a.data(), b.data(), c.data()}, rounded.data()},
       kCount);
  update_loop<float>(rule)(
      scalars(clip),
      {out32.data(), weight32.data(), grad32.data(), {a32.data(), b32.data(), c32.data()}}, kCount);
  expect_same(out, out32, "weight");
  expect_same(grad, grad32, "gradient");
  expect_same(a, a32, "first state");
  expect_same(b, b32, "second state");
  expect_same(c, c32, "third state");
  if (std::is_same_v<T, float> && rule != UpdateRule::kLambDirection)
    expect_same(rounded, out32, "rounded weight");
}

TEST(UpdateLoops, OfHalvesGiveTheBitsOfFloat) {
  for (const UpdateRule rule : kRules) {
    for (const float clip : {-1.0f, 0.0f, 0.5f}) {
      SCOPED_TRACE(testing::Message() << "rule " << static_cast<int>(rule) << ", clip " << clip);
      compare<float16, float16>(rule, clip);
      compare<float, float16>(rule, clip);
      compare<bfloat16, bfloat16>(rule, clip);
      compare<float, bfloat16>(rule, clip);
    }
  }
}

TEST(UpdateRules, ClipKeepsNaNAndWhatIsWithin) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(update_rules::clip(3.0f, 2.0f), 2);
  EXPECT_EQ(update_rules::clip(-3.0f, 2.0f), -2);
  EXPECT_EQ(update_rules::clip(-1.5f, 2.0f), -1.5f);
  EXPECT_EQ(update_rules::clip(-kInfinity, kInfinity), -kInfinity);
  EXPECT_TRUE(std::signbit(update_rules::clip(-0.0f, 2.0f)));
  EXPECT_EQ(update_rules::clip(5.0f, 0.0f), 0);
  EXPECT_TRUE(std::isnan(update_rules::clip(std::nanf(""), 2.0f)));
}

}  // namespace
}  // namespace mxnet
