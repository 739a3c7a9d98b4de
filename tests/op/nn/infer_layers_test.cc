// SPDX-License-Identifier: Apache-2.0
// What layers know of their weights and outputs before all of data is known.
#include <gtest/gtest.h>

#include "base/error.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

constexpr int64_t kOpen = Shape::kUnknownDim;

struct Types {
  std::vector<ArrayType> in, out;
};

// float32 data of this shape; everything else is found out.
Types infer_from(const char* name, AttrList attrs, const Shape& data, const Shape& out = {}) {
  const OpDef& op = Registry::get().at(name);
  const ParamsPtr params = op.parse(attrs);
  Types types;
  types.in.resize(static_cast<std::size_t>(op.num_inputs(params.get())));
  types.out.resize(1);
  types.in[0] = {data, DType::kFloat32};
  types.out[0].shape = out;
  Infer infer(op, params.get(), types.in, types.out);
  op.infer(params.get(), infer);
  return types;
}

TEST(InferLayers, WeightsOfAConvolutionFollowFromChannels) {
  const std::pair<std::string_view, std::string_view> attrs[] = {
      {"kernel", "(3, 5)"}, {"num_filter", "8"}, {"num_group", "2"}, {"stride", "(2, 1)"}};
  const Types types = infer_from("Convolution", attrs, {kOpen, 6, 32, kOpen});
  EXPECT_EQ(types.in[1].shape, (Shape{8, 3, 3, 5}));
  EXPECT_EQ(types.in[2].shape, (Shape{8}));
  EXPECT_EQ(types.in[2].dtype, DType::kFloat32);
  EXPECT_EQ(types.out[0].shape, (Shape{kOpen, 8, 15, kOpen}));
}

TEST(InferLayers, WeightsOfADeconvolutionAreTheOtherWayRound) {
  const std::pair<std::string_view, std::string_view> attrs[] = {
      {"kernel", "(4, 4)"}, {"num_filter", "8"}, {"stride", "(2, 2)"}, {"pad", "(1, 1)"}};
  const Types types = infer_from("Deconvolution", attrs, {2, 6, 7, kOpen});
  ASSERT_EQ(types.in.size(), 2u);  // no bias by default
  EXPECT_EQ(types.in[1].shape, (Shape{6, 8, 4, 4}));
  EXPECT_EQ(types.out[0].shape, (Shape{2, 8, 14, kOpen}));
}

TEST(InferLayers, ChannelsMayComeLast) {
  const std::pair<std::string_view, std::string_view> attrs[] = {
      {"kernel", "(3, 3)"}, {"num_filter", "8"}, {"layout", "NHWC"}};
  const Types types = infer_from("Convolution", attrs, {2, 9, 9, 4});
  EXPECT_EQ(types.in[1].shape, (Shape{8, 3, 3, 4}));
  EXPECT_EQ(types.out[0].shape, (Shape{2, 7, 7, 8}));
}

TEST(InferLayers, FullyConnectedCountsARow) {
  const std::pair<std::string_view, std::string_view> flat[] = {{"num_hidden", "7"}};
  EXPECT_EQ(infer_from("FullyConnected", flat, {kOpen, 3, 4}).in[1].shape, (Shape{7, 12}));
  EXPECT_EQ(infer_from("FullyConnected", flat, {5, kOpen, 4}).in[1].shape, (Shape{7, kOpen}));
  const std::pair<std::string_view, std::string_view> deep[] = {{"num_hidden", "7"},
                                                                {"flatten", "False"}};
  const Types types = infer_from("FullyConnected", deep, {kOpen, 3, 4});
  EXPECT_EQ(types.in[1].shape, (Shape{7, 4}));
  EXPECT_EQ(types.out[0].shape, (Shape{kOpen, 3, 7}));
}

TEST(InferLayers, TheBatchIsKnownFromTheOutputToo) {
  const std::pair<std::string_view, std::string_view> attrs[] = {{"num_hidden", "7"}};
  EXPECT_EQ(infer_from("FullyConnected", attrs, {kOpen, 3}, {5, 7}).in[0].shape, (Shape{5, 3}));
  const std::pair<std::string_view, std::string_view> kernel[] = {{"kernel", "(1,)"},
                                                                  {"num_filter", "7"}};
  EXPECT_EQ(infer_from("Convolution", kernel, {kOpen, 3, 4}, {5, 7, 4}).in[0].shape,
            (Shape{5, 3, 4}));
}

TEST(InferLayers, WhatDoesNotFitIsNamed) {
  const std::pair<std::string_view, std::string_view> attrs[] = {{"kernel", "(3, 3)"},
                                                                 {"num_filter", "8"}};
  try {
    infer_from("Convolution", attrs, {2, 3, 2, 8});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'data' of shape (2,3,2,8)"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace mxnet
