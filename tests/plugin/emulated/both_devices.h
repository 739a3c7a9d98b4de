// SPDX-License-Identifier: Apache-2.0
// One call on the CPU and on an emulated GPU.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/exec/arrays.h"

namespace mxnet::testing::gpu {

constexpr unsigned kSeed = 1010;
inline const Device kGpu = Device::gpu(0);

// What `op` gives on both devices for the same random inputs, which must agree.
inline void expect_same(std::string_view op, std::initializer_list<Shape> shapes,
                        const Attrs& attrs = {}) {
  std::mt19937 rng(kSeed);
  std::uniform_real_distribution<float> uniform(0.1f, 0.9f);
  std::vector<NDArray> host, gpu;
  for (const Shape& shape : shapes) {
    Values values(static_cast<std::size_t>(shape.size()));
    for (float& value : values) value = uniform(rng);
    host.push_back(array_of(values, shape));
    gpu.push_back(array_of(values, shape, kGpu));
  }
  const auto run = [&](std::vector<NDArray>& in) {
    return in.size() == 1   ? call(op, {&in[0]}, attrs)
           : in.size() == 2 ? call(op, {&in[0], &in[1]}, attrs)
                            : call(op, {&in[0], &in[1], &in[2]}, attrs);
  };
  const NDArray expected = run(host), result = run(gpu);
  EXPECT_EQ(result.device(), kGpu) << op;
  EXPECT_EQ(result.shape(), expected.shape()) << op;
  const Values want = values_of(expected), got = values_of(result);
  ASSERT_EQ(got.size(), want.size()) << op;
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(got[i], want[i], 1e-5 * (1 + std::fabs(want[i])))
        << op << " [" << i << "], seed " << kSeed;
}

}  // namespace mxnet::testing::gpu
