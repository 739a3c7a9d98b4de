// SPDX-License-Identifier: Apache-2.0
// Operators on integers that stand for real numbers, on the plug-in's kernels: integers and ranges
// are those of the CPU.
#include <gtest/gtest.h>

#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

const char* const kBytes[] = {"int8", "uint8"};

Input reals(const Shape& shape) { return {random_values(shape.size(), -4, 6), shape}; }
// The whole range of the type.
Input bytes(const Shape& shape, std::string_view dtype) {
  Values values = dtype == "int8" ? random_values(shape.size(), -128, 127)
                                  : random_values(shape.size(), 0, 255);
  return {values, shape, dtype.data()};
}
Input end(float value) { return {{value}, Shape{1}}; }

TEST(GpuQuantized, RealNumbersBecomeIntegersAndBack) {
  const Input x = reals(Shape{3, 17});
  for (const char* type : kBytes) {
    const Attrs to{{"out_type", type}};
    expect_same_outputs("_contrib_quantize", {x, end(-4), end(6)}, to);
    for (const Input& range : {end(5), end(0)})  // of nothing but zero, too
      expect_same_outputs("_contrib_dequantize", {bytes(Shape{40}, type), end(-3), range});
  }
  for (const char* type : {"int8", "uint8", "auto"}) {
    expect_same_outputs("_contrib_quantize_v2", {x}, {{"out_type", type}});
    expect_same_outputs("_contrib_quantize_v2", {x},
                        {{"out_type", type}, {"min_calib_range", "0"}, {"max_calib_range", "3.5"}});
  }
  expect_same_outputs("_contrib_quantize_v2", {bytes(Shape{20}, "uint8")}, {{"out_type", "uint8"}});
  expect_same_outputs("_contrib_quantize_asym", {x});
  expect_same_outputs("_contrib_quantize_asym", {x},
                      {{"min_calib_range", "-2"}, {"max_calib_range", "5"}});
}

TEST(GpuQuantized, WideIntegersBecomeBytes) {
  Input sums{random_values(50, -9000, 8000), Shape{50}, "int32"};
  for (const char* type : kBytes)
    expect_same_outputs("_contrib_requantize", {sums, end(-1e6f), end(1e6f)}, {{"out_type", type}});
  expect_same_outputs("_contrib_requantize", {sums, end(-1e6f), end(1e6f)},
                      {{"min_calib_range", "-2"}, {"max_calib_range", "1.5"}});
}

// The range of a result follows from those of the arguments, whatever is in these.
TEST(GpuQuantized, ProductsOfNothingHaveARange) {
  const Input none{{}, Shape{0}, "int8"};
  expect_same_outputs("_contrib_quantized_elemwise_mul",
                      {none, none, end(-1), end(2), end(-0.5f), end(0.75f)});
}

TEST(GpuQuantized, ElementByElement) {
  for (const char* left : kBytes) {
    const Input a = bytes(Shape{2, 3, 20}, left);
    expect_same_outputs("_contrib_quantized_flatten", {a, end(-1), end(2)});
    expect_same_outputs("_contrib_quantized_act", {a, end(-1), end(2)}, {{"act_type", "relu"}});
    for (const char* right : kBytes) {
      const std::vector<Input> pair{
          a, bytes(Shape{2, 3, 20}, right), end(-1), end(2), end(-0.5f), end(0.75f)};
      const Attrs calibrated{{"min_calib_range", "-2"}, {"max_calib_range", "2.5"}};
      expect_same_outputs("_contrib_quantized_elemwise_add", pair);
      expect_same_outputs("_contrib_quantized_elemwise_add", pair, calibrated);
      expect_same_outputs("_contrib_quantized_elemwise_mul", pair);
      expect_same_outputs("_contrib_quantized_elemwise_mul", pair, calibrated);
      expect_same_outputs("_contrib_quantized_elemwise_mul", pair, {{"enable_float_output", "1"}});
    }
    const Input channels = reals(Shape{3}), variance{{0.5f, 1, 2}, Shape{3}};
    expect_same_outputs("_contrib_quantized_batch_norm",
                        {a, channels, channels, channels, variance, end(-1), end(2)},
                        {{"min_calib_range", "-3"}, {"max_calib_range", "4"}});
  }
  const Input rows{{0, 4, -1, 9, 2}, Shape{5}};
  expect_same_outputs("_contrib_quantized_embedding",
                      {rows, bytes(Shape{5, 7}, "int8"), end(-1), end(2)},
                      {{"input_dim", "5"}, {"output_dim", "7"}});
}

TEST(GpuQuantized, ProductsAreTheCpus) {
  for (const char* type : kBytes) {
    const Input data = bytes(Shape{3, 4, 9}, type), weight = bytes(Shape{5, 36}, "int8");
    const Input ends[] = {end(-2), end(3), end(-1), end(1.5f), end(-0.25f), end(0.5f)};
    expect_same_outputs("_contrib_quantized_fully_connected",
                        {data, weight, ends[0], ends[1], ends[2], ends[3]},
                        {{"num_hidden", "5"}, {"no_bias", "1"}});
    expect_same_outputs("_contrib_quantized_fully_connected",
                        {data, bytes(Shape{5, 9}, "int8"), bytes(Shape{5}, "int8"), ends[0],
                         ends[1], ends[2], ends[3], ends[4], ends[5]},
                        {{"num_hidden", "5"}, {"flatten", "0"}});
    const Input image = bytes(Shape{2, 4, 7, 6}, type), filters = bytes(Shape{6, 2, 3, 2}, "int8");
    expect_same_outputs("_contrib_quantized_conv",
                        {image, filters, bytes(Shape{6}, "int8"), ends[0], ends[1], ends[2],
                         ends[3], ends[4], ends[5]},
                        {{"kernel", "(3,2)"},
                         {"stride", "(2,1)"},
                         {"pad", "(1,1)"},
                         {"dilate", "(1,2)"},
                         {"num_filter", "6"},
                         {"num_group", "2"}});
  }
}

TEST(GpuQuantized, WindowsAndJoinedArrays) {
  for (const char* type : kBytes) {
    const Input image = bytes(Shape{2, 3, 7, 6}, type);
    for (const char* kind : {"max", "avg"}) {
      for (const char* counts : {"0", "1"})
        expect_same_outputs("_contrib_quantized_pooling", {image, end(-1), end(2)},
                            {{"kernel", "(3,2)"},
                             {"stride", "(2,2)"},
                             {"pad", "(1,1)"},
                             {"pooling_convention", "full"},
                             {"pool_type", kind},
                             {"count_include_pad", counts}});
      expect_same_outputs("_contrib_quantized_pooling", {image, end(-1), end(2)},
                          {{"global_pool", "1"}, {"pool_type", kind}});
    }
    expect_same_outputs("_contrib_quantized_concat",
                        {image, bytes(Shape{2, 5, 7, 6}, "int8"), bytes(Shape{2, 1, 7, 6}, "uint8"),
                         end(-1), end(2), end(-2), end(1), end(0), end(0.5f)},
                        {{"num_args", "3"}, {"dim", "1"}});
  }
}

TEST(GpuQuantized, RangesByEntropy) {
  for (const int64_t bins : {1, 7, 41, 401}) {
    for (const int levels : {1, 3, 7, 255}) {
      if (levels > bins) continue;
      Values hist = random_values(bins, 0, 30), edges;
      for (std::size_t i = 0; i < hist.size(); i += 3) hist[i] = 0;  // empty ones
      for (int64_t i = 0; i <= bins; ++i)
        edges.push_back(static_cast<float>(2 * i - bins) / static_cast<float>(bins));
      expect_same_outputs("_contrib_calibrate_entropy",
                          {{hist, Shape{bins}}, {edges, Shape{bins + 1}}},
                          {{"num_quantized_bins", std::to_string(levels)}});
    }
  }
  // None is defined: the first range.
  expect_same_outputs("_contrib_calibrate_entropy",
                      {{Values(9, 0), Shape{9}}, {random_values(10, -1, 1), Shape{10}}},
                      {{"num_quantized_bins", "3"}});
}

}  // namespace
}  // namespace mxnet
