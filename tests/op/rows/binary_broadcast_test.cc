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

struct Array {
  Shape shape;
  std::vector<int32_t> values;
  Tensor tensor() { return {values.data(), &shape, DType::kInt32}; }
};

// The element of `array` that broadcasting puts at `index` of `out`.
int32_t element(const Array& array, const Shape& out, int64_t index) {
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

TEST(BinaryBroadcast, EqualsIndexingElementByElement) {
  std::mt19937 random(kSeed);
  NoResources resources;
  KernelContext context({}, {}, Device::cpu(), nullptr, false, resources);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int trial = 0; trial < kTrials; ++trial) {
    const int ndim = 1 + below(4);
    Shape out(ndim, 1);
    for (int i = 0; i < ndim; ++i) out[i] = 1 + below(i == ndim - 1 && trial % 3 == 0 ? 70 : 9);
    const auto argument = [&] {
      Array a;
      const int missing = below(ndim);
      a.shape = Shape(ndim - missing, 1);
      for (int i = missing; i < ndim; ++i) a.shape[i - missing] = below(3) == 0 ? 1 : out[i];
      a.values.resize(static_cast<std::size_t>(a.shape.size()));
      for (int32_t& v : a.values) v = below(1000) - 500;
      return a;
    };
    Array a = argument(), b = argument();
    // Dimensions that neither has are 1 in the result.
    out = Shape(ndim, 1);
    for (const Array* x : {&a, &b})
      for (int i = 1; i <= x->shape.ndim(); ++i)
        out[ndim - i] = std::max(out[ndim - i], x->shape[x->shape.ndim() - i]);
    Array y{out, std::vector<int32_t>(static_cast<std::size_t>(out.size()))};
    run_binary(BinaryRow::subtract, a.tensor(), b.tensor(), y.tensor(), context);
    for (int64_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(y.values[static_cast<std::size_t>(i)], element(a, out, i) - element(b, out, i))
          << to_string(a.shape) << " - " << to_string(b.shape) << " at " << i << ", seed " << kSeed
          << ", trial " << trial;
  }
}

}  // namespace
}  // namespace mxnet
