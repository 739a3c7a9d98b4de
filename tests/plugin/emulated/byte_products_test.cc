// SPDX-License-Identifier: Apache-2.0
// Layers of int8 on tensor cores. The stand-in for cuBLASLt refuses what its documentation does:
// other sizes, addresses and types are kernels of ours, and sums are those of the CPU.
#include "engine/engine.h"
#include "fake_cublaslt.h"
#include "setting.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing;       // NOLINT(google-build-using-namespace)
using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

// The whole range of the type.
Input bytes(Shape shape, const char* dtype = "int8", int64_t behind = 0) {
  const bool sign = std::string_view(dtype) == "int8";
  return {random_values(shape.size(), sign ? -128 : 0, sign ? 127 : 255), shape, dtype, behind};
}
Input end(float value) { return {{value}, Shape{1}}; }

// A layer's results are the CPU's, with a bias and without, made by so many of cuBLASLt's products.
void expect_layer(const char* op, const Input& data, const Input& weight, Attrs attrs,
                  int products) {
  const Input bias = bytes({weight.shape[0]});
  const std::vector<Input> with{data,    weight,    bias,        end(-2),  end(3),
                                end(-1), end(1.5f), end(-0.25f), end(0.5f)};
  const std::vector<Input> without{data, weight, end(-2), end(3), end(-1), end(1.5f)};
  for (const std::vector<Input>* inputs : {&with, &without}) {
    if (inputs == &without) attrs.push_back({"no_bias", "1"});
    Engine::get().wait_for_all();  // products of other tests count as well
    fake_cublaslt::take_counts();
    expect_same_outputs(op, *inputs, attrs);
    EXPECT_EQ(fake_cublaslt::take_counts().products, products);
  }
}

struct DenseLayer {
  int64_t rows, depth, units;
  int products;
  const char* dtype = "int8";
  int64_t behind = 0;
};
void expect_dense(const DenseLayer& layer) {
  SCOPED_TRACE(::testing::Message() << layer.rows << " x " << layer.depth << " of " << layer.dtype
                                    << " behind " << layer.behind << " to " << layer.units);
  expect_layer("_contrib_quantized_fully_connected",
               bytes({layer.rows, layer.depth}, layer.dtype, layer.behind),
               bytes({layer.units, layer.depth}), {{"num_hidden", std::to_string(layer.units)}},
               layer.products);
}

TEST(GpuByteProducts, DenseLayersAreExactWhoeverMultiplies) {
  for (const DenseLayer& layer : {DenseLayer{3, 36, 8, 1},
                                  {1, 4, 4, 1},
                                  {17, 100, 12, 1},
                                  {0, 8, 4, 0},
                                  {5, 0, 4, 0},
                                  {3, 35, 8, 0},
                                  {3, 36, 7, 0},
                                  {3, 36, 8, 0, "uint8"},
                                  {3, 36, 8, 1, "int8", 4},
                                  {3, 36, 8, 0, "int8", 2},
                                  {3, 36, 8, 0, "int8", 1}})
    expect_dense(layer);
}

TEST(GpuByteProducts, WithoutTensorCoresKernelsOfOursMultiply) {
  {
    const Setting off("MXNET_CUDA_ALLOW_TENSOR_CORE", "0");
    expect_dense({3, 40, 8, 0});
  }
  fake_cublaslt::lack_bytes(true);
  expect_dense({3, 40, 8, 0});
  fake_cublaslt::lack_bytes(false);
  expect_dense({3, 40, 8, 1});  // what was refused is not kept
}

// Sums that leave int32 wrap around, as on the CPU: nobody promises that of the library.
TEST(GpuByteProducts, SumsThatMightNotFitAreOurs) {
  for (const auto& [depth, products] : {std::pair{131068, 1}, {131072, 0}}) {
    Input data{Values(static_cast<std::size_t>(depth), -128), Shape{1, depth}, "int8"};
    Input weight{Values(static_cast<std::size_t>(4 * depth), -128), Shape{4, depth}, "int8"};
    expect_layer("_contrib_quantized_fully_connected", data, weight, {{"num_hidden", "4"}},
                 products);
  }
}

struct Convolution {
  Shape image, weight;
  Attrs attrs;
  int products;
};
TEST(GpuByteProducts, ConvolutionsAreProductsOfWhatEachPlaceSees) {
  const Convolution all[] = {
      {{2, 4, 7, 6}, {8, 4, 3, 2}, {{"kernel", "(3,2)"}, {"pad", "(1,1)"}, {"stride", "(2,1)"}}, 1},
      {{2, 4, 9, 8}, {4, 4, 3, 3}, {{"kernel", "(3,3)"}, {"dilate", "(2,3)"}, {"pad", "(2,3)"}}, 1},
      {{3, 16, 5, 5}, {12, 16, 1, 1}, {{"kernel", "(1,1)"}}, 1},
      {{2, 4, 11}, {4, 4, 3}, {{"kernel", "(3,)"}, {"stride", "(3,)"}}, 1},
      {{1, 4, 4, 5, 3}, {4, 4, 2, 2, 2}, {{"kernel", "(2,2,2)"}, {"pad", "(1,0,1)"}}, 1},
      {{0, 4, 5, 5}, {4, 4, 3, 3}, {{"kernel", "(3,3)"}}, 0},
      {{2, 3, 7, 7}, {4, 3, 3, 3}, {{"kernel", "(3,3)"}}, 0},  // rows of 27
      {{2, 4, 7, 7}, {6, 4, 3, 3}, {{"kernel", "(3,3)"}}, 0},  // rows of 6 sums
      {{2, 8, 7, 7}, {8, 4, 3, 3}, {{"kernel", "(3,3)"}, {"num_group", "2"}}, 0}};
  for (const Convolution& one : all) {
    SCOPED_TRACE(to_string(one.image) + " " + to_string(one.weight));
    Attrs attrs = one.attrs;
    attrs.push_back({"num_filter", std::to_string(one.weight[0])});
    const Input weight = bytes(one.weight);
    expect_layer("_contrib_quantized_conv", bytes(one.image), weight, attrs, one.products);
    expect_layer("_contrib_quantized_conv", bytes(one.image, "uint8"), weight, attrs, 0);
  }
}

// 64 MiB hold what the places of two of these images see, and their sums.
TEST(GpuByteProducts, ManyImagesGoInPieces) {
  expect_layer("_contrib_quantized_conv", bytes({3, 1, 600, 600}), bytes({4, 1, 8, 8}),
               {{"kernel", "(8,8)"}, {"num_filter", "4"}}, 2);
}

}  // namespace
}  // namespace mxnet
