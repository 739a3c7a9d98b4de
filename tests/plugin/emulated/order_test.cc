// SPDX-License-Identifier: Apache-2.0
// Order, running sums, and numbers in even steps.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

constexpr const char* kTypes[] = {"float32", "float16", "float64", "int32",
                                  "int8",    "uint8",   "int64"};

// Few different numbers, so that many are equal; NaN, both zeros and infinities among them.
Input data_of(const char* dtype, Shape shape) {
  const bool real = dtype[0] == 'f', natural = dtype[0] == 'u';
  Values values = random_values(shape.size(), natural ? 0 : -6, 6);
  for (std::size_t i = 0; i < values.size() && real; ++i) {
    if (i % 11 == 3) values[i] = NAN;
    if (i % 13 == 5) values[i] = -0.0f;
    if (i % 17 == 7) values[i] = i % 2 == 0 ? INFINITY : -INFINITY;
  }
  return {values, shape, dtype};
}

TEST(GpuOrder, SortsAndTakesTheBest) {
  for (const char* dtype : kTypes) {
    const Input data = data_of(dtype, Shape{3, 19, 4});
    for (const char* axis : {"0", "1", "-1", "None"}) {
      for (const char* ascending : {"True", "False"}) {
        const Attrs attrs = {{"axis", axis}, {"is_ascend", ascending}};
        expect_same_outputs("sort", {data}, attrs);
        for (const char* index : {"float32", "int32", "int64", "uint8"}) {
          Attrs typed = attrs;
          typed.emplace_back("dtype", index);
          expect_same_outputs("argsort", {data}, typed);
        }
        for (const char* result : {"value", "indices", "mask", "both"}) {
          Attrs best = attrs;
          best.insert(best.end(), {{"k", "2"}, {"ret_typ", result}});
          expect_same_outputs("topk", {data}, best);
        }
      }
    }
  }
}

TEST(GpuOrder, GradientsComeToWhereElementsWereTaken) {
  const Input data = data_of("float32", Shape{4, 9});
  const Attrs attrs = {{"axis", "1"}, {"k", "3"}, {"is_ascend", "False"}};
  expect_same_outputs("_backward_topk", {{random_values(12, -3, 3), Shape{4, 3}}, data}, attrs);
  expect_same_outputs("_topk_take", {{random_values(36, -3, 3), Shape{4, 9}}, data}, attrs);
}

// Of values alone -0 comes before 0, where places are asked for they are equal.
TEST(GpuOrder, ZerosOfBothSignsAreSortedAsOnTheCpu) {
  for (const char* dtype : {"float32", "float16", "float64"}) {
    const Input zeros{{0, -0.0f, 1, -1, -0.0f, 0}, Shape{3, 2}, dtype};
    for (const char* axis : {"0", "1", "None"}) {
      for (const char* ascending : {"True", "False"}) {
        const Attrs attrs{{"axis", axis}, {"is_ascend", ascending}};
        expect_same_outputs("sort", {zeros}, attrs);
        expect_same_outputs("argsort", {zeros}, attrs);
        Attrs both = attrs;
        both.push_back({"ret_typ", "both"});
        expect_same_outputs("topk", {zeros}, both);
      }
    }
  }
}

// Short lines are summed by a thread, long ones in pieces.
TEST(GpuOrder, RunningSumsKeepTheSignOfZero) {
  for (const char* dtype : {"float32", "float16", "float64", "bfloat16"}) {
    for (const int64_t length : {3, 200}) {
      Values zeros(static_cast<std::size_t>(2 * length), -0.0f);
      zeros[static_cast<std::size_t>(length) + 1] = 0;
      expect_same_outputs("cumsum", {{zeros, Shape{2, length}, dtype}}, {{"axis", "1"}});
      expect_same_outputs("cumsum", {{zeros, Shape{length, 2}, dtype}}, {{"axis", "0"}});
    }
  }
}

TEST(GpuOrder, RunningSumsAreTheCpus) {
  for (const char* dtype : {"float32", "float16", "float64", "int32", "int8", "int64"}) {
    // Eighths: all sums are exact but those of half numbers.
    const double tolerance = std::string_view(dtype) == "float16" ? 2e-3 : 0;
    const Input data{random_values(3 * 150 * 4, -2, 2), Shape{3, 150, 4}, dtype};
    expect_same_outputs("_np_cumsum", {data}, {}, tolerance);
    for (const char* axis : {"0", "1", "2"}) {
      expect_same_outputs("_np_cumsum", {data}, {{"axis", axis}}, tolerance);
      expect_same_outputs("_backward_np_cumsum", {data, data}, {{"axis", axis}}, tolerance);
    }
    expect_same_outputs("_np_cumsum", {data}, {{"axis", "1"}, {"dtype", "float64"}}, tolerance);
  }
}

TEST(GpuOrder, NumbersInEvenStepsAndDiagonals) {
  const auto both = [](const char* op, const Attrs& attrs) {
    const NDArray host = call(op, {}, attrs);
    NDArray gpu(host.shape(), host.dtype(), kGpu);
    call_into(gpu, op, {}, attrs);
    EXPECT_EQ(values_as_float(gpu), values_as_float(host)) << op;
  };
  for (const char* dtype : kTypes) {
    both("_arange", {{"start", "1"}, {"stop", "90"}, {"step", "2.5"}, {"dtype", dtype}});
    both("_npi_arange", {{"start", "60"}, {"stop", "3"}, {"step", "-4"}, {"dtype", dtype}});
    both("_arange", {{"start", "5"}, {"repeat", "3"}, {"dtype", dtype}});
    for (const char* endpoint : {"True", "False"}) {
      both("_linspace", {{"start", "1"},
                         {"stop", "7.3"},
                         {"num", "11"},
                         {"endpoint", endpoint},
                         {"dtype", dtype}});
    }
    for (const char* k : {"0", "2", "-3", "9"})
      both("_eye", {{"N", "5"}, {"M", "4"}, {"k", k}, {"dtype", dtype}});
    both("_npi_identity", {{"shape", "(3, 3)"}, {"dtype", dtype}});
    expect_same_outputs("_contrib_arange_like", {{random_values(12, 0, 9), Shape{3, 4}, dtype}},
                        {{"start", "2"}, {"step", "3"}});
  }
}

}  // namespace
}  // namespace mxnet
