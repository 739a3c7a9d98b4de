// SPDX-License-Identifier: Apache-2.0
// Real numbers that fit no integer: on a GPU they become the CPU's, not what its own conversions
// give (which end this program, see CMakeLists.txt).
#include <gtest/gtest.h>

#include <cmath>

#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

constexpr const char* kReals[] = {"float32", "float64", "float16", "bfloat16"};

// Around the ends of all integer types, and far from them.
Values odd_numbers() {
  Values numbers{0, -0.0f, 0.9f, -0.9f, NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 300.7f, -300.7f};
  for (const float end : {0x1p7f, 0x1p8f, 0x1p15f, 0x1p31f, 0x1p32f, 0x1p63f, 0x1p64f})
    for (const float sign : {1.0f, -1.0f})
      for (const float beside : {end, std::nextafter(end, 0.0f), std::nextafter(end, 2 * end)})
        numbers.push_back(sign * beside);
  return numbers;
}
Input odd(const char* dtype) {
  const Values numbers = odd_numbers();
  return {numbers, Shape{static_cast<int64_t>(numbers.size())}, dtype};
}

TEST(GpuConversions, NumbersThatFitNoIntegerAreTheCpus) {
  for (const char* from : kReals)
    for (const char* to : {"int8", "uint8", "int32", "int64", "bool"})
      expect_same_outputs("Cast", {odd(from)}, {{"dtype", to}});
}

TEST(GpuConversions, PositionsThatFitNoIntegerAreTheCpus) {
  for (const char* dtype : kReals) {
    const Input positions = odd(dtype);
    const int64_t count = positions.shape[0];
    const Input rows{random_values(5 * 3, -9, 9), Shape{5, 3}};
    const Input lines{random_values(5 * count, -9, 9), Shape{count, 5}};
    const Input grads{random_values(3 * count, -9, 9), Shape{count, 3}};
    for (const char* mode : {"clip", "wrap"}) {
      expect_same_outputs("take", {rows, positions}, {{"mode", mode}});
      expect_same_outputs("pick", {lines, positions}, {{"mode", mode}});
    }
    expect_same_outputs("Embedding", {positions, rows}, {{"input_dim", "5"}, {"output_dim", "3"}});
    expect_same_outputs("one_hot", {positions}, {{"depth", "6"}});
  }
}

// Functions of integers are computed in double, whose results may fit no integer.
TEST(GpuConversions, FunctionsOfIntegersThatLeaveThemAreTheCpus) {
  for (const char* dtype : {"int8", "uint8", "int32", "int64"}) {
    const Input a{{127, 100, -128, 0, 2147483520.0f, -2147483648.0f, 1}, Shape{7}, dtype};
    const Input b{{127, 100, 70, 2000, 2147483520.0f, 3, 62}, Shape{7}, dtype};
    for (const char* op : {"broadcast_hypot", "_npi_ldexp"}) expect_same_outputs(op, {a, b});
  }
}

}  // namespace
}  // namespace mxnet
