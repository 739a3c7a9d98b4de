// SPDX-License-Identifier: Apache-2.0
// Work that is spread over a GPU in more than one way, at sizes where the way changes: sums of few
// outputs are cut into slices, copies move as many elements at once as lie together.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

// One output, few columns, few rows, some of each in between; around the sizes that are cut.
TEST(GpuSpreading, FewOutputsOfManyElements) {
  struct Case {
    Shape shape;
    const char* axis;
  };
  for (const Case& c : {Case{Shape{20001}, "0"}, Case{Shape{8191}, "0"}, Case{Shape{8192}, "0"},
                        Case{Shape{3001, 3}, "0"}, Case{Shape{31, 5}, "0"}, Case{Shape{33, 5}, "0"},
                        Case{Shape{2, 9001}, "1"}, Case{Shape{2, 1500, 3}, "1"},
                        Case{Shape{40, 3, 50}, "(0,2)"}, Case{Shape{1100, 2, 3}, "(0,1)"}}) {
    for (const char* op : {"sum", "mean", "max", "min", "nansum", "norm"}) {
      if (std::string_view(op) == "norm" && c.axis[0] == '(') continue;
      SCOPED_TRACE(std::string(op) + " " + to_string(c.shape) + " along " + c.axis);
      expect_same(op, {c.shape}, {{"axis", c.axis}});
    }
  }
  // Products of numbers near 1, and integers, whose sums are exact in any order.
  Values factors(5000, 1.0f);
  for (std::size_t i = 0; i < factors.size(); i += 100) factors[i] = i % 200 == 0 ? 2.0f : 0.5f;
  expect_same_outputs("prod", {{factors, Shape{5000}}}, {{"axis", "0"}});
  for (const char* type : {"int32", "int64", "uint8"})
    expect_same_outputs("sum", {{random_values(9000, 0, 9), Shape{3000, 3}, type}},
                        {{"axis", "0"}});
  for (const char* type : {"float16", "bfloat16", "float64"})
    expect_same_outputs("sum", {{random_values(30000, -1, 1), Shape{10000, 3}, type}},
                        {{"axis", "0"}}, type[0] == 'f' && type[5] == '6' ? 1e-12 : 2e-2);
}

TEST(GpuSpreading, NotANumberAndInfinityComeThroughSlices) {
  Values values(30000, 1.0f);
  values[20011] = NAN;
  values[77] = INFINITY;
  NDArray x = array_of(values, Shape{10000, 3}, kGpu);
  for (const char* op : {"sum", "max", "min"}) {
    const Values found = values_of(call(op, {&x}, {{"axis", "0"}}));
    ASSERT_EQ(found.size(), 3u);
    EXPECT_TRUE(std::isnan(found[20011 % 3])) << op;
    EXPECT_FALSE(std::isnan(found[0]) && std::isnan(found[1]) && std::isnan(found[2])) << op;
  }
  EXPECT_EQ(values_of(call("max", {&x}, {{"axis", "0"}}))[77 % 3], INFINITY);
  NDArray none = array_of({}, Shape{0, 3}, kGpu);
  EXPECT_EQ(values_of(call("sum", {&none}, {{"axis", "0"}})), (Values{0, 0, 0}));
}

TEST(GpuSpreading, RunsOfAnyLengthAreCopied) {
  for (const char* type : {"uint8", "float16", "float32", "float64"}) {
    for (const int64_t inner : {1, 2, 3, 4, 6, 8, 16, 24}) {
      SCOPED_TRACE(std::string(type) + ", runs of " + std::to_string(inner));
      const Shape shape{3, 4, inner};
      const Input x{random_values(shape.size(), 0, 30), shape, type};
      expect_same_outputs("transpose", {x}, {{"axes", "(1,0,2)"}});
      expect_same_outputs("transpose", {x}, {{"axes", "(2,1,0)"}});
      expect_same_outputs("slice", {x}, {{"begin", "(1,1,0)"}, {"end", "(3,3,None)"}});
      expect_same_outputs("tile", {x}, {{"reps", "(2,1,1)"}});
      expect_same_outputs("reverse", {x}, {{"axis", "1"}});
      if (inner > 2)  // begins where packs of 16 bytes do not
        expect_same_outputs("slice_axis", {x}, {{"axis", "2"}, {"begin", "1"}, {"end", "None"}});
      const Input y{random_values(shape.size(), 0, 30), shape, type};
      expect_same_outputs("Concat", {x, y}, {{"num_args", "2"}, {"dim", "1"}});
      const Input rows{{3, 0, 1, 3, 2, 1}, Shape{2, 3}, "int32"};
      const Input table{random_values(4 * inner, 0, 30), Shape{4, inner}, type};
      expect_same_outputs("take", {table, rows}, {{"axis", "0"}});
    }
  }
}

// Lines that are cut out of arrays along each axis.
TEST(GpuSpreading, LinesAlongEachAxis) {
  for (const char* axis : {"0", "1", "2"}) {
    expect_same("softmax", {Shape{7, 33, 5}}, {{"axis", axis}});
    expect_same("log_softmax", {Shape{7, 33, 5}}, {{"axis", axis}});
    expect_same("sort", {Shape{7, 33, 5}}, {{"axis", axis}});
    expect_same("argmax", {Shape{7, 33, 5}}, {{"axis", axis}});
    expect_same("cumsum", {Shape{7, 33, 5}}, {{"axis", axis}});
  }
}

}  // namespace
}  // namespace mxnet
