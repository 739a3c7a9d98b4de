// SPDX-License-Identifier: Apache-2.0
// Operators on the plug-in's own kernels, run in host memory: from the call through dispatch, the
// engine and the launch to the numbers, which are those of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "device/device_registry.h"
#include "op/generators/random_streams.h"
#include "op/run/gpu.h"
#include "tests/exec/arrays.h"
#include "tests/plugin/emulated/both_devices.h"
#include "tests/plugin/emulated/host_math.h"  // before what is in words of CUDA
#include "tests/setting.h"

#include "plugin/cuda/philox.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

TEST(GpuOperators, KernelsComeFromThePlugin) {
  ASSERT_NE(gpu_table(), nullptr);
  EXPECT_STREQ(cuda_plugin()->description, "CUDA runtime 13000");
  EXPECT_STREQ(gpu_kernel(Registry::get().at("transpose"))->name, "portable");
  EXPECT_STREQ(gpu_kernel(Registry::get().at("FullyConnected"))->name, "cuda");
}

TEST(GpuOperators, FunctionsOfElementsAreTheCpus) {
  for (const char* op : {"exp", "erf", "gammaln", "rsqrt", "floor", "relu", "erfinv", "arccos"})
    expect_same(op, {Shape{7, 33}});
  for (const char* op : {"elemwise_add", "_hypot", "_mod", "_power", "_greater"})
    expect_same(op, {Shape{5, 13}, Shape{5, 13}});
  expect_same("_rdiv_scalar", {Shape{100}}, {{"scalar", "0.3"}});
  expect_same("Activation", {Shape{40}}, {{"act_type", "softrelu"}});
}

// Beside a pole the distance from it decides: pi times a number of several digits has none of it.
TEST(GpuOperators, TheSlopeOfLgammaBesideItsPolesIsTheCpus) {
  Values found[2];
  for (int d = 0; d < 2; ++d) {
    Input poles{{-1, -2, -7, -1000, -4000000}, Shape{5}};
    poles.dtype = "float64";
    NDArray at = poles.on(d == 0 ? Device::cpu() : kGpu);
    NDArray x = call("_plus_scalar", {&at}, {{"scalar", "1e-8"}}), ones = call("ones_like", {&x});
    for (const float value : values_as_float(call("_backward_gammaln", {&ones, &x})))
      found[d].push_back(value);
    NDArray none = call("_backward_gammaln", {&ones, &at});  // at the poles themselves
    for (const float value : values_as_float(none)) EXPECT_TRUE(std::isnan(value));
  }
  for (std::size_t i = 0; i < found[0].size(); ++i)
    EXPECT_NEAR(found[1][i], found[0][i], 1e-6 * std::fabs(found[0][i])) << i;
}

TEST(GpuOperators, BroadcastInEveryDimension) {
  expect_same("broadcast_add", {Shape{3, 1, 5}, Shape{1, 4, 5}});
  expect_same("broadcast_mul", {Shape{3, 4, 1}, Shape{3, 1, 2}});
  expect_same("broadcast_power", {Shape{1}, Shape{6, 5}});
  expect_same("broadcast_lesser", {Shape{2, 1, 3, 1}, Shape{1, 4, 1, 5}});
  // Lines that are whole packs of 16 bytes, and that are not; one element that meets a line.
  struct Case {
    Shape a, b;
  };
  for (const Case& c :
       {Case{Shape{5, 48}, Shape{1, 48}}, Case{Shape{1, 48}, Shape{5, 48}},
        Case{Shape{2, 3, 16}, Shape{1, 3, 1}}, Case{Shape{3, 1}, Shape{3, 32}},
        Case{Shape{2, 3, 1, 16}, Shape{2, 1, 4, 16}}, Case{Shape{4, 1, 16}, Shape{1, 7, 1}},
        Case{Shape{5, 20}, Shape{1, 20}}, Case{Shape{16, 1}, Shape{1, 3}}}) {
    for (const char* dtype : {"uint8", "float16", "float32", "float64"})
      for (const char* op : {"broadcast_sub", "broadcast_maximum"})
        expect_same_outputs(op, {{random_values(c.a.size(), 4, 9), c.a, dtype},
                                 {random_values(c.b.size(), 0, 4), c.b, dtype}});
  }
}

TEST(GpuOperators, ReductionsOfRowsColumnsAndAll) {
  for (const char* axis : {"0", "1", "2", "(0,2)", "(0,1,2)"}) {
    expect_same("sum", {Shape{6, 40, 33}}, {{"axis", axis}});
    expect_same("max", {Shape{6, 40, 33}}, {{"axis", axis}});
    expect_same("mean", {Shape{6, 40, 33}}, {{"axis", axis}});
  }
  expect_same("norm", {Shape{5000}});
  expect_same("sum", {Shape{3, 9000}}, {{"axis", "0"}});
}

TEST(GpuOperators, MovedElementsLieWhereTheCpuPutsThem) {
  expect_same("transpose", {Shape{3, 4, 5}}, {{"axes", "(2,0,1)"}});
  expect_same("slice", {Shape{8, 9}}, {{"begin", "(1,8)"}, {"end", "(7,0)"}, {"step", "(2,-3)"}});
  expect_same("reverse", {Shape{4, 5}}, {{"axis", "(0,1)"}});
  expect_same("_copyto", {Shape{5, 7}});
  expect_same("tile", {Shape{2, 3}}, {{"reps", "(3,1,2)"}});
  expect_same("Concat", {Shape{2, 3}, Shape{2, 5}}, {{"num_args", "2"}, {"dim", "1"}});
  expect_same("diag", {Shape{4, 6}}, {{"k", "1"}});
  expect_same("take", {Shape{6, 4}, Shape{3}}, {{"axis", "1"}, {"mode", "wrap"}});
}

// By tiles: whole ones, what is left over of them, several matrices, elements of each size, two of
// which move as one, and lines that are too short for tiles.
TEST(GpuOperators, TransposedElementsOfEverySizeLieWhereTheCpuPutsThem) {
  struct Case {
    Shape shape;
    const char* axes;
  };
  for (const Case& c : {Case{Shape{64, 64}, "(1,0)"}, Case{Shape{100, 67}, "(1,0)"},
                        Case{Shape{16, 200}, "(1,0)"}, Case{Shape{3, 33, 5, 19}, "(0,2,3,1)"},
                        Case{Shape{2, 70, 3, 40}, "(3,2,1,0)"}, Case{Shape{40, 3, 17}, "(2,1,0)"},
                        Case{Shape{35, 40, 2}, "(1,0,2)"}, Case{Shape{15, 100}, "(1,0)"}}) {
    for (const char* dtype : {"uint8", "float16", "float32", "float64"})
      expect_same_outputs("transpose", {{random_values(c.shape.size(), 0, 100), c.shape, dtype}},
                          {{"axes", c.axes}});
  }
  expect_same("SwapAxis", {Shape{20, 3, 50}}, {{"dim1", "0"}, {"dim2", "2"}});
  expect_same("space_to_depth", {Shape{2, 3, 64, 32}}, {{"block_size", "2"}});
}

// The kernel of MXNET_ENFORCE_DETERMINISM, which adds in the order of the host: bit for bit.
TEST(GpuOperators, RowsThatMeetAreAddedInTheOrderOfThePositionsWhereResultsMustRepeat) {
  const Setting repeat("MXNET_ENFORCE_DETERMINISM", "1");
  std::mt19937 rng(kSeed);
  std::uniform_real_distribution<float> uniform(-1e4f, 1e4f);
  Values slopes(50 * 3), positions(50);
  for (float& slope : slopes) slope = uniform(rng);
  for (float& position : positions) position = static_cast<float>(rng() % 7);
  const auto gradient = [&](Device device, const char* op, const Shape& in, const Attrs& attrs) {
    NDArray dy = array_of(slopes, Shape{50, 3}, device), table(in, DType::kFloat32, device);
    NDArray at = array_of(positions, Shape{50}, device);
    return values_of(call(op, {&dy, &at, &table}, attrs));
  };
  const Attrs attrs{{"input_dim", "9"}, {"output_dim", "3"}};
  EXPECT_EQ(gradient(kGpu, "_backward_Embedding", Shape{9, 3}, attrs),
            gradient(Device::cpu(), "_backward_Embedding", Shape{9, 3}, attrs));
  EXPECT_EQ(gradient(kGpu, "_backward_take", Shape{5, 3}, {{"mode", "wrap"}}),
            gradient(Device::cpu(), "_backward_take", Shape{5, 3}, {{"mode", "wrap"}}));
}

TEST(GpuOperators, ProductsOfMatrices) {
  expect_same("dot", {Shape{7, 5}, Shape{5, 6}});
  expect_same("dot", {Shape{5, 7}, Shape{6, 5}}, {{"transpose_a", "1"}, {"transpose_b", "1"}});
  expect_same("batch_dot", {Shape{3, 4, 5}, Shape{3, 6, 5}}, {{"transpose_b", "1"}});
  expect_same("_npi_matmul", {Shape{2, 1, 4, 5}, Shape{3, 5, 6}});
  expect_same("FullyConnected", {Shape{4, 3, 5}, Shape{6, 15}, Shape{6}}, {{"num_hidden", "6"}});
}

TEST(GpuOperators, ProductsOfIntegersWrap) {
  const std::pair<Shape, Shape> shapes[] = {
      {Shape{5}, Shape{5}},          {Shape{4, 5}, Shape{5}},       {Shape{7, 65}, Shape{65, 9}},
      {Shape{2, 3, 4}, Shape{4, 3}}, {Shape{3, 2100}, Shape{2100}}, {Shape{4, 0}, Shape{0, 3}}};
  for (const char* dtype : {"int8", "uint8", "int32", "int64"}) {
    for (const auto& [left, right] : shapes) {
      const Input a{random_values(left.size(), 1, 120), left, dtype};
      const Input b{random_values(right.size(), 1, 120), right, dtype};
      expect_same_outputs("_np_dot", {a, b});
    }
    const Input a{random_values(20, 1, 120), Shape{5, 4}, dtype};
    const Input b{random_values(15, 1, 120), Shape{3, 5}, dtype};
    expect_same_outputs("_npi_einsum", {a, b}, {{"subscripts", "mi,jm->ij"}, {"num_args", "2"}});
  }
}

TEST(GpuOperators, ConvolutionsOfOneToThreeDimensions) {
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
TEST(GpuOperators, ConvolutionsOfViews) {
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

TEST(GpuOperators, PoolingOfEveryKind) {
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
TEST(GpuOperators, PoolingOfLargeWindows) {
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

TEST(GpuOperators, TheFirstOfEqualMaximaIsTakenAndNanIsPassedOver) {
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

TEST(GpuOperators, ElementsPickedFromLines) {
  expect_same("pick", {Shape{5, 7}, Shape{5}});
  expect_same("pick", {Shape{5, 3, 4}, Shape{5, 4}}, {{"axis", "1"}, {"mode", "wrap"}});
  expect_same("_backward_pick", {Shape{5}, Shape{5, 7}, Shape{5}});
}

// Result, gradients and moving averages of a normalised layer, on both devices.
TEST(GpuOperators, BatchNormalisationTrainsAsOnTheCpu) {
  // Channels that a thread loads one by one, and some at once.
  for (const auto& [axis, channels] :
       {std::pair("1", 3), {"3", 3}, {"1", 8}, {"3", 8}, {"3", 12}}) {
    const int64_t c = channels;
    const auto train = [&, axis = axis](Device device) {
      std::mt19937 rng(kSeed);
      std::normal_distribution<float> normal(1.0f, 2.0f);
      const auto random = [&](Shape shape) {
        Values values(static_cast<std::size_t>(shape.size()));
        for (float& value : values) value = normal(rng);
        return array_of(values, shape, device);
      };
      const Shape shape{4, c, 50, c};
      NDArray x = random(shape), gamma = random(Shape{c}), beta = random(Shape{c});
      const Values zeros(static_cast<std::size_t>(c)), ones(zeros.size(), 1);
      NDArray mean = array_of(zeros, {}, device), var = array_of(ones, {}, device);
      NDArray factors = random(shape);
      NDArray dx = array_of(Values(static_cast<std::size_t>(shape.size())), shape, device);
      NDArray dgamma = array_of(zeros, {}, device);
      mark_variable(x, Request::kWrite, dx);
      mark_variable(gamma, Request::kWrite, dgamma);
      NDArray loss;
      {
        const Recording recording;
        NDArray y = call("BatchNorm", {&x, &gamma, &beta, &mean, &var},
                         {{"axis", axis}, {"fix_gamma", "False"}, {"momentum", "0.8"}});
        NDArray scaled = call("elemwise_mul", {&y, &factors});
        loss = call("sum", {&scaled});
      }
      backward_from(loss);
      Values all = values_of(dx);
      for (const NDArray* array : {&dgamma, &mean, &var, &loss})
        for (const float value : values_of(*array)) all.push_back(value);
      return all;
    };
    const Values expected = train(Device::cpu()), result = train(kGpu);
    ASSERT_EQ(result.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(result[i], expected[i], 2e-4 * (1 + std::fabs(expected[i])))
          << i << ", axis " << axis << ", seed " << kSeed;
  }
}

// The numbers are other ones than the CPU's; their moments and their seeds are not.
TEST(GpuOperators, RandomNumbersFollowTheirSeed) {
  const auto draw = [](const char* op, const Attrs& more) {
    Attrs attrs{{"shape", "(20000,)"}, {"ctx", "gpu(0)"}};
    attrs.insert(attrs.end(), more.begin(), more.end());
    RandomStreams::seed_all(kSeed);
    NDArray out = array_of(Values(20000), {}, kGpu);
    call_into(out, op, {}, attrs);
    return values_of(out);
  };
  const auto moments = [](const Values& values) {
    double sum = 0, squares = 0;
    for (const float value : values) sum += value;
    const double mean = sum / static_cast<double>(values.size());
    for (const float value : values) squares += (value - mean) * (value - mean);
    return std::pair(mean, squares / static_cast<double>(values.size()));
  };
  const Values uniform = draw("_random_uniform", {{"low", "-1"}, {"high", "3"}});
  EXPECT_EQ(uniform, draw("_random_uniform", {{"low", "-1"}, {"high", "3"}}));
  EXPECT_NEAR(moments(uniform).first, 1.0, 0.05);
  EXPECT_NEAR(moments(uniform).second, 16.0 / 12.0, 0.05);
  const Values normal = draw("_random_normal", {{"loc", "2"}, {"scale", "0.5"}});
  EXPECT_NEAR(moments(normal).first, 2.0, 0.02);
  EXPECT_NEAR(moments(normal).second, 0.25, 0.02);
  const Values exponential = draw("_random_exponential", {{"lam", "4"}});
  EXPECT_NEAR(moments(exponential).first, 0.25, 0.02);
}

TEST(GpuOperators, DropoutKeepsThePartThatItSays) {
  NDArray x = array_of(Values(20000, 3.0f), {}, kGpu);
  const Values y = values_of(call("Dropout", {&x}, {{"p", "0.25"}, {"mode", "always"}}));
  int kept = 0;
  for (const float value : y) {
    ASSERT_TRUE(value == 0.0f || value == 4.0f) << value;
    kept += value != 0.0f;
  }
  EXPECT_NEAR(kept, 15000, 400);
}

// A view may begin at any of its elements: the widest load that all of these allow is 16 bytes.
TEST(GpuOperators, DropoutTakesViewsOfAnyType) {
  for (const char* dtype : {"float16", "bfloat16", "float32", "float64"}) {
    for (const int64_t behind : {1, 2, 4, 8}) {
      const Input input{Values(101, 3.0f), Shape{101}, dtype, behind};
      NDArray x = input.on(kGpu);
      int kept = 0;
      for (const float value : values_as_float(call("Dropout", {&x}, {{"mode", "always"}}))) {
        ASSERT_TRUE(value == 0.0f || value == 6.0f) << dtype << " " << behind << ": " << value;
        kept += value != 0.0f;
      }
      EXPECT_NEAR(kept, 50, 25) << dtype << " " << behind;
    }
  }
}

// Test vectors that the generator's authors publish.
TEST(GpuOperators, PhiloxIsThePublishedOne) {
  const auto block = [](cuda::PhiloxWords counter, uint32_t key0, uint32_t key1) {
    const cuda::PhiloxWords words = cuda::philox_block(counter, key0, key1);
    return std::vector<uint32_t>(words.word, words.word + 4);
  };
  using Words = std::vector<uint32_t>;
  EXPECT_EQ(block({{0, 0, 0, 0}}, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(block({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(block({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(GpuOperators, SoftmaxAlongAnyAxis) {
  expect_same("softmax", {Shape{4, 5, 6}}, {{"axis", "1"}, {"temperature", "0.5"}});
  expect_same("log_softmax", {Shape{3, 2000}});
  expect_same("softmin", {Shape{3, 7}});
}

// Rows that a warp, a block and none of these can hold, with and without whole packs of 16 bytes.
TEST(GpuOperators, SoftmaxOfRowsOfAnyLength) {
  for (const int64_t length : {1, 9, 64, 200, 512, 513, 2000, 4096, 5000}) {
    for (const char* dtype : {"float32", "float16", "bfloat16", "float64"}) {
      const double tolerance = std::string_view(dtype) == "bfloat16"  ? 1e-2
                               : std::string_view(dtype) == "float16" ? 1e-3
                                                                      : 1e-6;
      const Input x{random_values(3 * length, -4, 4), Shape{3, length}, dtype};
      const Input y{random_values(3 * length, 0, 1), Shape{3, length}, dtype};
      const Input dy{random_values(3 * length, -1, 1), Shape{3, length}, dtype};
      for (const char* op : {"softmax", "log_softmax"})
        expect_same_outputs(op, {x}, {{"temperature", "1.5"}}, tolerance);
      // Sums of the gradient are of as many terms as a row has: in float on both devices.
      for (const char* op : {"_backward_softmax", "_backward_log_softmax"})
        expect_same_outputs(op, {dy, y, x}, {}, std::max(tolerance, 1e-4));
    }
  }
  // Rows of which a part is used, from none to all.
  const Input lengths{{0, 1, 33, 70, 100}, Shape{5}, "int32"};
  for (const char* dtype : {"float32", "float16"})
    expect_same_outputs("softmax", {{random_values(500, -4, 4), Shape{5, 100}, dtype}, lengths},
                        {{"use_length", "1"}}, 1e-3);
}

// As attention has them; parts of a row of which one has nothing else meet wherever the row is cut.
TEST(GpuOperators, SoftmaxOfRowsThatBeginWithMaskedPlaces) {
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  for (const int64_t length : {4, 70, 2000}) {
    Values rows = random_values(3 * length, -4, 4);
    std::fill_n(rows.begin(), length - 2, kMasked);
    std::fill_n(rows.begin() + length, length, kMasked);  // all of the second: no numbers
    for (const std::string_view dtype : {"float32", "float64", "float16"}) {
      const Input data{rows, Shape{3, length}, dtype.data()};
      const double tolerance = dtype == "float16" ? 1e-3 : 1e-6;
      for (const char* op : {"softmax", "log_softmax"})
        expect_same_outputs(op, {data}, {}, tolerance);
    }
  }
}

// An element that is no number is its row's alone, held or not.
TEST(GpuOperators, SoftmaxOfWhatIsNotFiniteIsNoNumberAndOtherRowsAreWhole) {
  for (const float odd : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    for (const int64_t length : {4, 70, 2000, 5000}) {
      Values rows = random_values(3 * length, -4, 4);
      rows[static_cast<std::size_t>(2 * length - 2)] = odd;
      for (const char* dtype : {"float32", "float16"}) {
        const Input data{rows, Shape{3, length}, dtype};
        for (const char* op : {"softmax", "log_softmax"}) expect_same_outputs(op, {data}, {}, 1e-3);
      }
    }
  }
}

// What reads and writes 16 bytes at once: arrays that are views begin anywhere between those.
TEST(GpuOperators, ArraysMayBeginWithinSixteenBytes) {
  for (const char* dtype : {"float32", "float16"}) {
    const double tolerance = std::string_view(dtype) == "float16" ? 1e-2 : 1e-4;
    for (const int64_t behind : {1, 3, 4, 8}) {
      const auto rows = [&](int64_t count, float low) {
        return Input{random_values(count * 64, low, 4), Shape{count, 64}, dtype, behind};
      };
      const Input gamma{random_values(64, 0, 1), Shape{64}, dtype, behind};
      expect_same_outputs("softmax", {rows(5, -4)}, {}, tolerance);
      expect_same_outputs("_backward_softmax", {rows(5, -4), rows(5, 0), rows(5, -4)}, {},
                          16 * tolerance);
      expect_same_outputs("LayerNorm", {rows(5, -4), gamma, gamma}, {}, tolerance);
      for (const char* axis : {"0", "1", "()"})
        expect_same_outputs("sum", {rows(40, -4)}, {{"axis", axis}}, tolerance);
      expect_same_outputs("broadcast_sub", {rows(5, -4), gamma});
      expect_same_outputs("exp", {rows(5, -4)}, {}, tolerance);
      expect_same_outputs("elemwise_add", {rows(5, -4), rows(5, 0)});
      expect_same_outputs("transpose", {rows(40, -4)});
      // Written where the rows lie: fills, and what comes from other types.
      for (const Device device : {Device::cpu(), kGpu}) {
        NDArray out = rows(5, 0).on(device), other = rows(5, 1).on(device);
        call_into(out, "_full", {}, {{"shape", "(5, 64)"}, {"value", "2.5"}, {"dtype", dtype}});
        EXPECT_EQ(values_as_float(out), Values(5 * 64, 2.5f)) << dtype << behind;
        call_into(out, "_copy", {&other});
        EXPECT_EQ(values_as_float(out), values_as_float(other)) << dtype << behind;
      }
    }
  }
}

TEST(GpuOperators, AddRequestsAndAliasesHoldThere) {
  NDArray x = array_of({1, 2, 3}, {}, kGpu), out = array_of({10, 10, 10}, {}, kGpu);
  const OpDef& op = Registry::get().at("square");
  const NDArray* in[] = {&x};
  NDArray* outputs[] = {&out};
  const Request add[] = {Request::kAdd};
  invoke(op, parse_attrs(op, {})->params(), in, outputs, {.requests = add});
  EXPECT_EQ(values_of(out), (Values{11, 14, 19}));
  call_into(x, "reverse", {&x}, {{"axis", "0"}});
  EXPECT_EQ(values_of(x), (Values{3, 2, 1}));
}

// Two layers, a loss, gradients and updates: nothing leaves the device between steps.
TEST(GpuOperators, ASmallNetworkTrainsAsOnTheCpu) {
  const auto train = [](Device device) {
    std::mt19937 rng(kSeed);
    std::normal_distribution<float> normal;
    const auto random = [&](Shape shape) {
      Values values(static_cast<std::size_t>(shape.size()));
      for (float& value : values) value = normal(rng);
      return array_of(values, shape, device);
    };
    NDArray x = random(Shape{16, 8}), target = random(Shape{16, 1});
    NDArray w1 = random(Shape{12, 8}), b1 = random(Shape{12}), w2 = random(Shape{1, 12});
    NDArray* const weights[] = {&w1, &b1, &w2};
    for (int step = 0; step < 5; ++step) {
      std::vector<NDArray> gradients;
      for (NDArray* weight : weights) {
        const Values zeros(static_cast<std::size_t>(weight->shape().size()));
        gradients.push_back(array_of(zeros, weight->shape(), device));
        mark_variable(*weight, Request::kWrite, gradients.back());
      }
      NDArray loss;
      {
        const Recording recording;
        NDArray hidden = call("FullyConnected", {&x, &w1, &b1}, {{"num_hidden", "12"}});
        NDArray active = call("tanh", {&hidden});
        NDArray y =
            call("FullyConnected", {&active, &w2}, {{"num_hidden", "1"}, {"no_bias", "True"}});
        NDArray error = call("elemwise_sub", {&y, &target});
        NDArray squares = call("square", {&error});
        loss = call("mean", {&squares});
      }
      backward_from(loss);
      for (std::size_t i = 0; i < 3; ++i)
        call_into(*weights[i], "sgd_update", {weights[i], &gradients[i]}, {{"lr", "0.1"}});
    }
    return values_of(w2);
  };
  const Values expected = train(Device::cpu()), result = train(kGpu);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(result[i], expected[i], 1e-4) << "seed " << kSeed;
}

}  // namespace
}  // namespace mxnet
