// SPDX-License-Identifier: Apache-2.0
// Compilation of chains in the background: who waits for what, and what is said.
#include "plugin/cuda/rtc/chain_kernels.h"
#include "base/config.h"

#include <gtest/gtest.h>

#include <latch>

#include "base/error.h"
#include "plugin/cuda/rtc/nvrtc.h"
#include "random_chain.h"

namespace mxnet::testing {
namespace {

using namespace mxnet::cuda;

TestChain chain_of(const std::string& name) {
  return *single_chain(Registry::get().at(name), DType::kFloat32, 100);
}

// What is written to stderr while `call` runs.
template <class F>
std::string log_of(const F& call) {
  ::testing::internal::CaptureStderr();
  call();
  return ::testing::internal::GetCapturedStderr();
}

TEST(ChainKernels, NobodyWaitsForTheCompiler) {
  std::latch may_compile(1);
  CudaConfig config;
  ChainKernels kernels(config, [&](const CompileRequest& request) {
    may_compile.wait();
    return CompiledCode{"code of " + request.name, {}};
  });
  const TestChain test = chain_of("exp");
  const ChainKernel* kernel = kernels.find(test.chain, test.inputs, 90);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->state.load(), ChainKernel::State::kCompiling);
  EXPECT_EQ(kernels.find(test.chain, test.inputs, 90), kernel) << "one compilation";
  EXPECT_NE(kernels.find(test.chain, test.inputs, 80), kernel) << "another GPU";
  may_compile.count_down();
  kernels.drain();
  EXPECT_EQ(kernel->state.load(), ChainKernel::State::kReady);
  EXPECT_EQ(kernel->code.image, "code of chain.cu");
}

TEST(ChainKernels, RealOnesAreCompiledForTheirGpu) {
  CudaConfig config;
  ChainKernels kernels(config, compile);
  const TestChain test = chain_of("sigmoid");
  const ChainKernel* kernel = kernels.find(test.chain, test.inputs, 90);
  kernels.drain();
  ASSERT_EQ(kernel->state.load(), ChainKernel::State::kReady);
  EXPECT_EQ(kernel->code.image.substr(1, 3), "ELF");
  EXPECT_NE(kernel->code.image.find(ChainSource::kKernel), std::string::npos);
}

TEST(ChainKernels, AFailureIsSaidOnceAndLeavesTheOperatorsAsTheyAre) {
  CudaConfig config;
  ChainKernels kernels(config, [](const CompileRequest&) -> CompiledCode {
    throw Error(ErrorCode::kGeneric, "rtc", "no compiler today");
  });
  const std::string said = log_of([&] {
    for (const char* name : {"exp", "log"}) {
      const TestChain test = chain_of(name);
      const ChainKernel* kernel = kernels.find(test.chain, test.inputs, 90);
      kernels.drain();
      EXPECT_EQ(kernel->state.load(), ChainKernel::State::kFailed);
    }
  });
  const std::size_t first = said.find("no compiler today");
  EXPECT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("no compiler today", first + 1), std::string::npos) << said;
}

TEST(ChainKernels, SourceIsPrintedWhenAsked) {
  const auto said = [](bool verbose) {
    CudaConfig config;
    config.rtc_verbose = verbose;
    ChainKernels kernels(config, [](const CompileRequest&) { return CompiledCode(); });
    return log_of([&] {
      const TestChain test = chain_of("tanh");
      kernels.find(test.chain, test.inputs, 90);
      kernels.find(test.chain, test.inputs, 90);
      kernels.drain();
    });
  };
  EXPECT_EQ(said(false), "");
  const std::string text = said(true);
  const std::size_t kernel = text.find("value_tanh<float>(x0));  // tanh");
  EXPECT_NE(kernel, std::string::npos) << text;
  EXPECT_EQ(text.find("value_tanh<float>(x0));  // tanh", kernel + 1), std::string::npos) << text;
  EXPECT_EQ(text.find("struct Compute"), std::string::npos) << "words that all kernels share";
}

TEST(ChainKernels, ChainsOfTooManyArraysStayUnfusedAndSaySo) {
  TestChain test = chain_of("exp");
  PointwiseChain& chain = test.chain;
  while (chain.steps.size() < 40) {
    PointwiseStep step = chain.steps.front();
    step.in = {-static_cast<int>(chain.steps.size())};
    chain.steps.push_back(step);
  }
  chain.outputs = {39};
  for (int k = 0; k < 35; ++k) chain.outputs.push_back(k);
  chain.finish();
  const auto said = [&](bool warning) {
    CudaConfig config;
    config.rtc_size_warning = warning;
    ChainKernels kernels(config, [](const CompileRequest&) { return CompiledCode(); });
    return log_of([&] {
      for (int i = 0; i < 2; ++i) EXPECT_EQ(kernels.find(test.chain, test.inputs, 90), nullptr);
    });
  };
  const std::string text = said(true);
  const std::size_t first = text.find("given 37 arrays, expected at most 32");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("given 37", first + 1), std::string::npos) << text;
  EXPECT_EQ(said(false), "");
}

}  // namespace
}  // namespace mxnet::testing
