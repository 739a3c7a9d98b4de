// SPDX-License-Identifier: Apache-2.0
// Convolutions as cuDNN's descriptors. The library itself checks them when they are finalized,
// which needs no GPU; what it offers for them, and what runs, does.
#include "plugin/cuda/dnn/convolution.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace mxnet::cuda {
namespace {

Convolution example(ConvPass pass) {
  Convolution convolution;
  convolution.pass = pass;
  convolution.dtype = DType::kFloat16;
  convolution.data = {8, 64, 56, 56};
  convolution.weight = {128, 64, 3, 3};
  convolution.output = {8, 128, 28, 28};
  convolution.pad = {1, 1};
  convolution.stride = {2, 2};
  convolution.dilate = {1, 1};
  return convolution;
}

TEST(Convolution, StridesFollowTheLayout) {
  EXPECT_EQ(packed_strides({2, 3, 4, 5}, false), (std::vector<int64_t>{60, 20, 5, 1}));
  EXPECT_EQ(packed_strides({2, 3, 4, 5}, true), (std::vector<int64_t>{60, 1, 15, 3}));
  EXPECT_EQ(packed_strides({2, 3, 4}, true), (std::vector<int64_t>{12, 1, 3}));
}

TEST(Convolution, TextHoldsAllThatAChoiceDependsOn) {
  const Convolution base = example(ConvPass::kForward);
  EXPECT_NE(base.to_string().find("8x64x56x56"), std::string::npos) << base.to_string();
  for (int field = 0; field < 12; ++field) {
    Convolution other = base;
    if (field == 0) other.pass = ConvPass::kWeightGradient;
    if (field == 1) other.dtype = DType::kFloat32;
    if (field == 2) other.channels_last = true;
    if (field == 3) other.data[0] = 9;
    if (field == 4) other.pad = {0, 1};
    if (field == 5) other.stride = {1, 2};
    if (field == 6) other.dilate = {2, 1};
    if (field == 7) other.groups = 2;
    if (field == 8) other.bias = true;
    if (field == 9) other.sum = true;
    if (field == 10) other.activation = {PostOp::Kind::kRelu};
    if (field == 11) other.activation = {PostOp::Kind::kClip, 0, 6};
    if (field >= 8) {
      EXPECT_EQ(other.alone().to_string(), base.to_string());
    }
    EXPECT_NE(other.to_string(), base.to_string()) << field;
  }
}

// A status alone tells nobody which of a dozen attributes is at fault.
TEST(Convolution, AnErrorHoldsWhatCudnnSaysOfIt) {
  Convolution wrong = example(ConvPass::kForward);
  wrong.output[1] = 7;  // not the filters of the weight
  try {
    convolution_operations(wrong);
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string prefix = "cudnnBackendFinalize: CUDNN_STATUS_BAD_PARAM";
    EXPECT_EQ(error.message().substr(0, prefix.size()), prefix);
    EXPECT_GT(error.message().size(), prefix.size() + 10) << error.message();
  }
}

TEST(Convolution, TypesWithoutConvolutionsAreRefused) {
  EXPECT_EQ(cudnn_dtype(DType::kBFloat16), CUDNN_DATA_BFLOAT16);
  EXPECT_EQ(cudnn_sum_dtype(DType::kFloat16), CUDNN_DATA_FLOAT);
  EXPECT_EQ(cudnn_sum_dtype(DType::kFloat64), CUDNN_DATA_DOUBLE);
  EXPECT_THROW(cudnn_dtype(DType::kInt32), Error);
}

TEST(Convolution, CudnnTakesTheOperationsOfAllPassesAndLayouts) {
  for (const ConvPass pass :
       {ConvPass::kForward, ConvPass::kDataGradient, ConvPass::kWeightGradient}) {
    for (const DType dtype :
         {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
      Convolution convolution = example(pass);
      convolution.dtype = dtype;
      EXPECT_NO_THROW(convolution_operations(convolution));
      convolution.channels_last = true;
      EXPECT_NO_THROW(convolution_operations(convolution, 1.0));
    }
  }
  Convolution volume = example(ConvPass::kForward);
  volume.data = {2, 8, 6, 6, 6};
  volume.weight = {4, 2, 3, 3, 3};
  volume.output = {2, 4, 6, 6, 6};
  volume.pad = volume.stride = volume.dilate = {1, 1, 1};
  volume.groups = 4;
  EXPECT_NO_THROW(convolution_operations(volume));
}

TEST(Convolution, CudnnTakesABiasThatIsAddedBeforeResultsAreRounded) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    for (const bool channels_last : {false, true}) {
      Convolution convolution = example(ConvPass::kForward);
      convolution.dtype = dtype;
      convolution.channels_last = channels_last;
      EXPECT_EQ(convolution_operations(convolution).size(), 1u);
      convolution.bias = true;
      EXPECT_EQ(convolution_operations(convolution).size(), 2u);
    }
  }
}

TEST(Convolution, CudnnTakesEachActivationBehindABiasAndASum) {
  const PostOp activations[] = {{PostOp::Kind::kRelu},
                                {PostOp::Kind::kRelu, 0.25f},
                                {PostOp::Kind::kClip, 0, 6},
                                {PostOp::Kind::kSigmoid},
                                {PostOp::Kind::kTanh}};
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32}) {
    for (const bool channels_last : {false, true}) {
      Convolution convolution = example(ConvPass::kForward);
      convolution.dtype = dtype;
      convolution.channels_last = channels_last;
      convolution.sum = true;
      EXPECT_EQ(convolution_operations(convolution).size(), 2u);
      for (const PostOp& activation : activations) {
        convolution.activation = activation;
        convolution.bias = false;
        EXPECT_EQ(convolution_operations(convolution).size(), 3u);
        convolution.bias = true;
        EXPECT_EQ(convolution_operations(convolution).size(), 4u);
      }
    }
  }
  Convolution lacking = example(ConvPass::kForward);
  lacking.activation = {PostOp::Kind::kLinear, 2, 1};
  EXPECT_THROW(convolution_operations(lacking), Error);
}

TEST(Convolution, WhatDoesNotFitIsAnErrorThatNamesTheCall) {
  Convolution wrong = example(ConvPass::kForward);
  wrong.output = {8, 128, 55, 28};
  try {
    convolution_operations(wrong);
    ADD_FAILURE() << "an output of another size was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.tag(), "cudnn");
    EXPECT_NE(error.message().find("cudnnBackend"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace mxnet::cuda
