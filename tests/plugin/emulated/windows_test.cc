// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling on the plug-in's own kernels, run in host memory: the numbers are those
// of the CPU.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/exec/arrays.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

TEST(GpuWindows, ConvolutionsOfOneToThreeDimensions) {
  expect_same("Convolution", {Shape{2, 3, 9}, Shape{4, 3, 3}, Shape{4}},
              {{"kernel", "(3,)"}, {"num_filter", "4"}, {"stride", "(2,)"}, {"pad", "(1,)"}});
  expect_same("Convolution", {Shape{2, 4, 7, 6}, Shape{6, 2, 3, 2}, Shape{6}},
              {{"kernel", "(3,2)"}, {"num_filter", "6"}, {"num_group", "2"}, {"dilate", "(2,1)"}});
  expect_same("Convolution", {Shape{2, 7, 6, 4}, Shape{5, 3, 3, 4}},
              {{"kernel", "(3,3)"}, {"num_filter", "5"}, {"no_bias", "1"}, {"layout", "NHWC"}});
  expect_same("Convolution", {Shape{2, 7, 6, 4}, Shape{5, 3, 3, 4}, Shape{5}},
              {{"kernel", "(3,3)"}, {"num_filter", "5"}, {"layout", "NHWC"}});
  expect_same("Deconvolution", {Shape{2, 3, 4, 5}, Shape{3, 2, 3, 3}, Shape{2}},
              {{"kernel", "(3,3)"},
               {"num_filter", "2"},
               {"stride", "(2,2)"},
               {"adj", "(1,0)"},
               {"pad", "(1,1)"},
               {"no_bias", "0"}});
  for (const char* op : {"_backward_Convolution_data"})
    expect_same(op, {Shape{2, 4, 3, 2, 4}, Shape{2, 3, 5, 4, 6}, Shape{4, 3, 3, 3, 3}},
                {{"kernel", "(3,3,3)"}, {"num_filter", "4"}, {"wanted", "1"}, {"no_bias", "1"}});
  for (const char* wanted : {"2", "3", "4", "7"})
    expect_same("_backward_Convolution", {Shape{2, 4, 5, 4}, Shape{2, 3, 7, 6}, Shape{4, 3, 3, 3}},
                {{"kernel", "(3,3)"}, {"num_filter", "4"}, {"wanted", wanted}});
}

// Rows of an array begin where its elements do, which is not where engines load.
TEST(GpuWindows, ConvolutionsOfViews) {
  const Attrs window{{"kernel", "(2,2)"}, {"num_filter", "2"}, {"no_bias", "1"}};
  const Shape kernels{2, 1, 2, 2}, map{2, 2, 2, 2};
  std::vector<Values> found[2];
  const Device devices[] = {Device::cpu(), kGpu};
  for (int d = 0; d < 2; ++d) {
    Attrs attrs = window;
    attrs.push_back({"wanted", "3"});
    NDArray images = array_of(random_values(27, -2, 2), Shape{3, 1, 3, 3}, devices[d]);
    NDArray data = images.slice(1, 3);
    NDArray weight = array_of(random_values(kernels.size(), -2, 2), kernels, devices[d]);
    NDArray dout = array_of(random_values(map.size(), -2, 2), map, devices[d]);
    found[d].push_back(values_of(call("Convolution", {&data, &weight}, window)));
    NDArray* const inputs[] = {&dout, &data, &weight};
    for (const NDArray& gradient : call_op("_backward_Convolution", inputs, attrs))
      found[d].push_back(values_of(gradient));
    attrs.back().second = "1";
    call_into(data, "_backward_Convolution_data", {&dout, &data, &weight}, attrs);
    found[d].push_back(values_of(images));
  }
  ASSERT_EQ(found[1].size(), 4u);
  for (std::size_t i = 0; i < found[0].size(); ++i) {
    ASSERT_EQ(found[1][i].size(), found[0][i].size());
    for (std::size_t k = 0; k < found[0][i].size(); ++k)
      EXPECT_NEAR(found[1][i][k], found[0][i][k], 1e-5) << i << " [" << k << "]";
  }
}

TEST(GpuWindows, PoolingOfEveryKind) {
  for (const char* type : {"max", "avg", "sum", "lp"})
    for (const char* convention : {"valid", "full"}) {
      const Attrs attrs{{"kernel", "(3,2)"}, {"stride", "(2,2)"},
                        {"pad", "(1,0)"},    {"pool_type", type},
                        {"p_value", "2"},    {"pooling_convention", convention}};
      expect_same("Pooling", {Shape{2, 3, 7, 8}}, attrs);
    }
  expect_same("Pooling", {Shape{2, 6, 5, 3}}, {{"global_pool", "1"}, {"layout", "NHWC"}});
  const Attrs square{{"kernel", "(3,3)"}, {"stride", "(2,2)"}, {"pad", "(1,1)"}};
  for (const char* op : {"_backward_Pooling_max", "_backward_Pooling_sum"})
    expect_same(op, {Shape{2, 3, 4, 4}, Shape{2, 3, 7, 7}}, square);
  expect_same("_backward_Pooling_pick", {Shape{2, 3, 7, 7}, Shape{2, 3, 7, 7}}, square);
  Attrs norm = square;
  norm.insert(norm.end(), {{"pool_type", "lp"}, {"p_value", "3"}});
  expect_same("_backward_Pooling_lp", {Shape{2, 3, 4, 4}, Shape{2, 3, 7, 7}, Shape{2, 3, 4, 4}},
              norm);
}

// Windows that a warp or a block looks at together; with 255 pixels and more their maxima are kept
// in wider numbers.
TEST(GpuWindows, PoolingOfLargeWindows) {
  struct Case {
    Shape image, map;
    Attrs attrs;
  };
  const Attrs spread{{"kernel", "(9,7)"}, {"pad", "(4,3)"}};
  Attrs of_zeros = spread;
  of_zeros.emplace_back("pooling_convention", "full");
  const Case cases[] = {
      {Shape{2, 3, 7, 9}, Shape{2, 3, 1, 1}, {{"global_pool", "1"}}},
      {Shape{2, 7, 9, 3}, Shape{2, 1, 1, 3}, {{"global_pool", "1"}, {"layout", "NHWC"}}},
      {Shape{1, 2, 33, 35}, Shape{1, 2, 1, 1}, {{"global_pool", "1"}}},
      {Shape{1, 2, 70}, Shape{1, 2, 8}, {{"kernel", "(33,)"}, {"stride", "(5,)"}}},
      {Shape{1, 2, 40, 3}, Shape{1, 2, 3, 3}, {{"kernel", "(34,1)"}, {"stride", "(3,1)"}}},
      {Shape{1, 2, 11, 12}, Shape{1, 2, 11, 12}, spread},
      {Shape{1, 2, 11, 12}, Shape{1, 2, 11, 12}, of_zeros},
      {Shape{1, 2, 4, 5, 6}, Shape{1, 2, 2, 1, 2}, {{"kernel", "(3,5,4)"}, {"stride", "(1,2,2)"}}},
      {Shape{1, 1, 18, 30}, Shape{1, 1, 3, 1}, {{"kernel", "(16,16)"}, {"stride", "(1,15)"}}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(to_string(c.image));
    for (const char* type : {"max", "avg", "sum", "lp"}) {
      Attrs attrs = c.attrs;
      attrs.insert(attrs.end(), {{"pool_type", type}, {"p_value", "2"}});
      expect_same("Pooling", {c.image}, attrs);
    }
    expect_same("_backward_Pooling_max", {c.map, c.image}, c.attrs);
    expect_same("_backward_Pooling_sum", {c.map, c.image}, c.attrs);
    expect_same("_backward_Pooling_pick", {c.image, c.image}, c.attrs);
  }
}

TEST(GpuWindows, TheFirstOfEqualMaximaIsTakenAndNanIsPassedOver) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr int kSide = 8;
  Values few, lowest(kSide * kSide, -kInfinity), odd;
  for (int i = 0; i < kSide * kSide; ++i) {
    few.push_back(static_cast<float>(i * 7 % 5));
    odd.push_back(i % 3 == 0 ? std::nanf("") : i % 3 == 1 ? -kInfinity : -1);
  }
  const Attrs global{{"global_pool", "1"}}, small{{"kernel", "(3,3)"}, {"stride", "(2,2)"}};
  const Shape image{1, 1, kSide, kSide};
  for (const Values& values : {few, lowest, odd}) {
    const Input data{values, image};
    expect_same_outputs("Pooling", {data}, global);
    expect_same_outputs("Pooling", {data}, small);
    expect_same_outputs("_backward_Pooling_max", {{{3}, Shape{1, 1, 1, 1}}, data}, global);
    expect_same_outputs("_backward_Pooling_max",
                        {{{1, 2, 3, 4, 5, 6, 7, 8, 9}, Shape{1, 1, 3, 3}}, data}, small);
  }
}

}  // namespace
}  // namespace mxnet
