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

// An array of a call that is made on both devices.
struct Input {
  Values values;
  Shape shape = {};
  const char* dtype = "float32";
  int64_t behind = 0;  // elements that its memory has before the first one

  NDArray on(Device device) const {
    Values all(static_cast<std::size_t>(behind));
    all.insert(all.end(), values.begin(), values.end());
    NDArray plain = array_of(all, behind == 0 ? shape : Shape{}, device);
    const NDArray cast = call("Cast", {&plain}, {{"dtype", dtype}});
    if (behind == 0) return cast;
    return cast.slice(behind, cast.shape()[0]).reshape(shape);
  }
};

// Elements as float32, which is what tests read.
inline Values values_as_float(NDArray array) {
  return values_of(call("Cast", {&array}, {{"dtype", "float32"}}));
}

// All outputs of `op`, and what it makes of its inputs, are the same on both devices: to the bit,
// or, of sums whose order is the device's, as near as `tolerance`.
inline void expect_same_outputs(std::string_view op, const std::vector<Input>& inputs,
                                const Attrs& attrs = {}, double tolerance = 0) {
  std::vector<NDArray> found[2];
  const Device devices[] = {Device::cpu(), kGpu};
  for (int d = 0; d < 2; ++d) {
    std::vector<NDArray> arrays;
    for (const Input& input : inputs) arrays.push_back(input.on(devices[d]));
    std::vector<NDArray*> pointers;
    for (NDArray& array : arrays) pointers.push_back(&array);
    for (NDArray& output : call_op(op, pointers, attrs)) found[d].push_back(output);
    found[d].insert(found[d].end(), arrays.begin(), arrays.end());
  }
  ASSERT_EQ(found[0].size(), found[1].size()) << op;
  for (std::size_t i = 0; i < found[0].size(); ++i) {
    EXPECT_EQ(found[1][i].device(), kGpu) << op;
    EXPECT_EQ(found[1][i].dtype(), found[0][i].dtype()) << op;
    EXPECT_EQ(found[1][i].shape(), found[0][i].shape()) << op;
    const Values want = values_as_float(found[0][i]), got = values_as_float(found[1][i]);
    ASSERT_EQ(got.size(), want.size()) << op;
    for (std::size_t k = 0; k < want.size(); ++k) {
      if (std::isnan(want[k]) && std::isnan(got[k])) continue;
      if (want[k] == got[k]) {
        if (tolerance == 0) {  // zeros have signs
          ASSERT_EQ(std::signbit(got[k]), std::signbit(want[k]))
              << op << ", array " << i << " [" << k << "], first input " << inputs[0].dtype;
        }
        continue;
      }
      ASSERT_NEAR(got[k], want[k], tolerance * (1 + std::fabs(want[k])))
          << op << ", array " << i << " [" << k << "], first input " << inputs[0].dtype;
    }
  }
}

// `count` numbers between low and high in steps of 1/8, which all types but the smallest hold.
inline Values random_values(int64_t count, float low, float high) {
  std::mt19937 rng(kSeed + static_cast<unsigned>(count));
  std::uniform_int_distribution<int> eighths(static_cast<int>(low * 8), static_cast<int>(high * 8));
  Values values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(eighths(rng)) / 8;
  return values;
}

}  // namespace mxnet::testing::gpu
