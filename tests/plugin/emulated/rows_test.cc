// SPDX-License-Identifier: Apache-2.0
// Rows of operators on the plug-in's kernels: every type, sizes around what a thread takes at once,
// arrays that begin anywhere, NaN. Numbers are those of the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

// Three types share a kernel, which takes eight elements at once; others share one for all rows.
// Arrays begin where a load of 16 bytes may begin, and where not.
TEST(GpuRows, RowsOfEveryTypeSizeAndPlace) {
  for (const char* dtype :
       {"float32", "float16", "bfloat16", "float64", "int8", "int32", "uint8"}) {
    const bool integer = std::string_view(dtype).find("int") != std::string_view::npos;
    for (const int64_t size : {1, 7, 8, 9, 16, 37}) {
      // Rows of what is one element longer begin anywhere.
      const Input x{random_values(3 * size, integer ? 1 : -4, 4), Shape{3, size}, dtype};
      const Input dy{random_values(3 * size, integer ? 1 : -2, 2), Shape{3, size}, dtype};
      for (const char* op : {"abs", "sign", "square", "negative", "rint", "relu"})
        expect_same_outputs(op, {x}, {}, 1e-6);
      for (const char* op : {"_backward_square", "_backward_abs", "_backward_relu"})
        expect_same_outputs(op, {dy, x}, {}, 1e-6);
      if (integer) continue;
      for (const char* op : {"tanh", "cbrt", "sigmoid", "log1p", "gammaln"})
        expect_same_outputs(op, {x}, {}, 1e-2);
      for (const char* op : {"_backward_tanh", "_backward_sigmoid", "_backward_gammaln"})
        expect_same_outputs(op, {dy, x}, {}, 1e-2);
      for (const char* act : {"relu", "sigmoid", "tanh", "softrelu", "softsign"})
        expect_same_outputs("Activation", {x}, {{"act_type", act}}, 1e-2);
      for (const char* act : {"leaky", "elu", "selu", "gelu"})
        expect_same_outputs("LeakyReLU", {x}, {{"act_type", act}}, 1e-2);
    }
  }
}

TEST(GpuRows, RowsOfViewsThatAreNotAligned) {
  for (const char* dtype : {"float32", "float16", "bfloat16", "float64"}) {
    const Input whole{random_values(4 * 21, -4, 4), Shape{4, 21}, dtype};
    for (const int64_t row : {1, 3}) {
      std::vector<Values> found;
      for (const Device device : {Device::cpu(), kGpu}) {
        NDArray all = whole.on(device), view = all.slice(row, row + 1);
        found.push_back(values_as_float(call("square", {&view})));
        found.push_back(values_as_float(call("clip", {&view}, {{"a_min", "-1"}, {"a_max", "2"}})));
      }
      EXPECT_EQ(found[2], found[0]) << dtype;
      EXPECT_EQ(found[3], found[1]) << dtype;
    }
  }
}

TEST(GpuRows, NanPassesRowsThatAreNotComparisons) {
  const float nan = std::nanf("");
  for (const char* dtype : {"float32", "float16", "bfloat16", "float64"}) {
    const Input x{{nan, -1, 2, nan, HUGE_VALF, -HUGE_VALF, 0.5f, 1, nan}, Shape{9}, dtype};
    for (const char* op : {"relu", "abs", "square", "tanh", "max", "sum", "prod", "nansum", "norm"})
      expect_same_outputs(op, {x}, {}, 1e-2);
    expect_same_outputs("Activation", {x}, {{"act_type", "relu"}});
    expect_same_outputs("clip", {x}, {{"a_min", "-1"}, {"a_max", "1"}});
    const char* const of_parameters = dtype[5] == '6' ? "float64" : "float32";
    const Input ones{{1, 1, 1}, Shape{3}, of_parameters}, zeros{{0, 0, 0}, Shape{3}, of_parameters};
    const Input rows{x.values, Shape{3, 3}, dtype};
    expect_same_outputs("_contrib_BatchNormWithReLU", {rows, ones, zeros, zeros, ones}, {}, 1e-2);
  }
}

// One kernel has all rows. It takes several elements at once, and 16 bytes where those of a line
// are whole packs: of 16, 264 and 2056 elements, one or several by one thread.
TEST(GpuRows, ReductionsOfEveryTypeAndLength) {
  for (const char* dtype : {"float32", "float16", "float64", "int32", "int64", "uint8"}) {
    for (const int64_t size : {1, 3, 4, 5, 16, 31, 33, 130, 264, 2050, 2056}) {
      const Input lines{random_values(3 * size, 1, 4), Shape{3, size}, dtype};
      const Input columns{random_values(3 * size, 1, 4), Shape{size, 3}, dtype};
      for (const char* op : {"sum", "max", "min", "nansum", "mean"}) {
        expect_same_outputs(op, {lines}, {{"axis", "1"}}, 1e-2);
        expect_same_outputs(op, {columns}, {{"axis", "0"}}, 1e-2);
      }
    }
    const Input middle{random_values(5 * 40 * 16, 1, 4), Shape{5, 40, 16}, dtype};
    expect_same_outputs("sum", {middle}, {{"axis", "1"}}, 1e-2);
    expect_same_outputs("max", {middle}, {{"axis", "(0,2)"}}, 1e-2);
    // In slices, of whole packs and not.
    for (const int64_t size : {40000, 40001})
      expect_same_outputs("max", {{random_values(size, 1, 4), Shape{size}, dtype}});
    const Input few{random_values(18, 1, 2), Shape{2, 3, 3}, dtype};
    for (const char* op : {"prod", "nanprod", "_np_any", "_np_all"})
      expect_same_outputs(op, {few}, {{"axis", "(0,2)"}}, 1e-2);
  }
}

}  // namespace
}  // namespace mxnet
