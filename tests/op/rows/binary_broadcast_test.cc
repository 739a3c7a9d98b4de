// SPDX-License-Identifier: Apache-2.0
// Binary loops over random shapes that broadcast give what indexing element by element gives: long
// rows, short rows, single elements on either side, many dimensions.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "no_resources.h"
#include "op/rows/binary_kernel.h"

namespace mxnet {
namespace {

constexpr int kTrials = 400;
constexpr unsigned kSeed = 811;

template <class T>
struct Array {
  Shape shape;
  std::vector<T> values;
  Tensor tensor() { return {values.data(), &shape, dtype_of<T>}; }
};

// The element of `array` that broadcasting puts at `index` of `out`.
template <class T>
T element(const Array<T>& array, const Shape& out, int64_t index) {
  int64_t at = 0, step = 1;
  for (int i = 1; i <= out.ndim(); ++i) {
    const int64_t position = index % out[out.ndim() - i];
    index /= out[out.ndim() - i];
    if (i > array.shape.ndim()) continue;
    const int64_t size = array.shape[array.shape.ndim() - i];
    if (size != 1) at += position * step;
    step *= size;
  }
  return array.values[static_cast<std::size_t>(at)];
}

// Elements of each size: what is spread is laid out by bytes.
template <class T>
class BinaryBroadcast : public testing::Test {};
using Types = testing::Types<int8_t, float16, bfloat16, int32_t, double>;
TYPED_TEST_SUITE(BinaryBroadcast, Types);

TYPED_TEST(BinaryBroadcast, EqualsIndexingElementByElement) {
  using T = TypeParam;
  std::mt19937 random(kSeed);
  NoResources resources;
  KernelContext context({}, {}, Device::cpu(), nullptr, false, resources);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int trial = 0; trial < kTrials; ++trial) {
    const int ndim = 1 + below(4);
    const int longest = trial % 3 == 0 ? 70 : trial % 3 == 1 ? 280 : 9;
    Shape out(ndim, 1);
    for (int i = 0; i < ndim; ++i) out[i] = 1 + below(i == ndim - 1 ? longest : 9);
    const auto argument = [&] {
      Array<T> a;
      const int missing = below(ndim);
      a.shape = Shape(ndim - missing, 1);
      for (int i = missing; i < ndim; ++i) a.shape[i - missing] = below(3) == 0 ? 1 : out[i];
      a.values.resize(static_cast<std::size_t>(a.shape.size()));
      for (T& v : a.values) v = static_cast<T>(below(120) - 60);  // differences are exact
      return a;
    };
    Array<T> a = argument(), b = argument();
    // Dimensions that neither has are 1 in the result.
    out = Shape(ndim, 1);
    for (const Array<T>* x : {&a, &b})
      for (int i = 1; i <= x->shape.ndim(); ++i)
        out[ndim - i] = std::max(out[ndim - i], x->shape[x->shape.ndim() - i]);
    Array<T> y{out, std::vector<T>(static_cast<std::size_t>(out.size()))};
    run_binary(BinaryRow::subtract, a.tensor(), b.tensor(), y.tensor(), context);
    for (int64_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(static_cast<double>(y.values[static_cast<std::size_t>(i)]),
                static_cast<double>(element(a, out, i)) - static_cast<double>(element(b, out, i)))
          << to_string(a.shape) << " - " << to_string(b.shape) << " at " << i << ", seed " << kSeed
          << ", trial " << trial;
  }
}

}  // namespace
}  // namespace mxnet
