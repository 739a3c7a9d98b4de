// SPDX-License-Identifier: Apache-2.0
// From the variables to the engine: each row of the configuration changes which one is chosen. And
// the same for matrix products.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/config.h"
#include "base/error.h"
#include "plugin/cuda/blas/gemm_choice.h"
#include "plugin/cuda/dnn/convolution.h"
#include "plugin/cuda/dnn/engine_cache.h"

namespace mxnet::cuda {
namespace {

using enum NumericalNote;

EngineConfig engine(int64_t number, std::vector<NumericalNote> notes, std::size_t workspace = 0) {
  return {.engine = number, .knobs = {{1, 2}}, .notes = std::move(notes), .workspace = workspace};
}

// The engine that is chosen among two, of which the first has `note` and is faster.
int64_t chosen(const CudaConfig& config, NumericalNote note, ConvPass pass = ConvPass::kForward) {
  const std::vector<EngineConfig> engines = {engine(1, {note}), engine(2, {})};
  const EngineChoice choice =
      choose_engine("test", engines, engine_policy(config, pass, std::nullopt, 1024),
                    [](const EngineConfig& e) { return static_cast<double>(e.engine); });
  return engines[choice.chosen.value()].engine;
}

TEST(EngineChoice, TensorCoresNeedPermission) {
  CudaConfig config;
  EXPECT_EQ(chosen(config, TENSOR_CORE), 1);
  config.allow_tensor_core = false;
  EXPECT_EQ(chosen(config, TENSOR_CORE), 2);
}

TEST(EngineChoice, DownConversionNeedsPermission) {
  CudaConfig config;
  EXPECT_EQ(chosen(config, DOWN_CONVERT_INPUTS), 2);
  config.tensor_op_math_allow_conversion = true;
  EXPECT_EQ(chosen(config, DOWN_CONVERT_INPUTS), 1);
}

TEST(EngineChoice, ReducedSumsNeedPermission) {
  CudaConfig config;
  EXPECT_EQ(chosen(config, REDUCED_PRECISION_REDUCTION), 1);
  config.cudnn_allow_reduced_precision_reduction = false;
  EXPECT_EQ(chosen(config, REDUCED_PRECISION_REDUCTION), 2);
}

TEST(EngineChoice, FourierNeedsPermission) {
  CudaConfig config;
  EXPECT_EQ(chosen(config, FFT), 1);
  config.cudnn_allow_fft = false;
  EXPECT_EQ(chosen(config, FFT), 2);
}

TEST(EngineChoice, WinogradNeedsPermission) {
  for (const NumericalNote note :
       {WINOGRAD, WINOGRAD_TILE_4x4, WINOGRAD_TILE_6x6, WINOGRAD_TILE_13x13}) {
    CudaConfig config;
    EXPECT_EQ(chosen(config, note), 1);
    config.cudnn_allow_winograd = false;
    EXPECT_EQ(chosen(config, note), 2);
  }
}

TEST(EngineChoice, OnlyRepeatableEnginesRemainWhereEnforced) {
  CudaConfig config;
  EXPECT_EQ(chosen(config, NONDETERMINISTIC), 1);
  config.enforce_determinism = true;
  EXPECT_EQ(chosen(config, NONDETERMINISTIC), 2);
}

TEST(EngineChoice, DisabledEnginesAreLeftOut) {
  CudaConfig config;
  config.cudnn_disabled_conv_fwd_engines = "1,7";
  EXPECT_EQ(chosen(config, STRICT_NAN_PROP, ConvPass::kForward), 2);
  EXPECT_EQ(chosen(config, STRICT_NAN_PROP, ConvPass::kDataGradient), 1);
  config.cudnn_disabled_conv_dgrad_engines = "1";
  EXPECT_EQ(chosen(config, STRICT_NAN_PROP, ConvPass::kDataGradient), 2);
  EXPECT_EQ(chosen(config, STRICT_NAN_PROP, ConvPass::kWeightGradient), 1);
  config.cudnn_disabled_conv_wgrad_engines = "1";
  EXPECT_EQ(chosen(config, STRICT_NAN_PROP, ConvPass::kWeightGradient), 2);
}

TEST(EngineChoice, TuningTakesTheFastestWithinItsLimit) {
  // In the order of the heuristics; an engine takes as long as its number says.
  const std::vector<EngineConfig> engines = {engine(3, {}), engine(2, {}), engine(1, {}, 2 << 20)};
  const auto chosen_by = [&](int tune) {
    CudaConfig config;
    config.cudnn_autotune_default = tune;
    const EngineChoice choice =
        choose_engine("test", engines, engine_policy(config, ConvPass::kForward, std::nullopt, 1),
                      [](const EngineConfig& e) { return static_cast<double>(e.engine); });
    return engines[choice.chosen.value()].engine;
  };
  EXPECT_EQ(chosen_by(0), 3);
  EXPECT_EQ(chosen_by(1), 2);
  EXPECT_EQ(chosen_by(2), 1);
}

TEST(EngineChoice, VerboseLevelsPrintOneOrAll) {
  const auto report = [](int level) {
    CudaConfig config;
    config.cudnn_algo_verbose_level = level;
    return choose_engine("test", {engine(5, {FFT}), engine(4, {})},
                         engine_policy(config, ConvPass::kForward, std::nullopt, 1),
                         [](const EngineConfig& e) { return static_cast<double>(e.engine); })
        .report;
  };
  EXPECT_EQ(report(0), "");
  EXPECT_EQ(report(1), "test\n* 1 eng:4 k1=2 [] workspace:0 time:4.0000ms\n");
  EXPECT_EQ(report(2),
            "test\n  0 eng:5 k1=2 [FFT] workspace:0 time:5.0000ms\n"
            "* 1 eng:4 k1=2 [] workspace:0 time:4.0000ms\n");
}

TEST(EngineChoice, HeuristicsAreAsked) {
  CudaConfig config;
  const auto first = [&] { return heuristics(config).front(); };
  EXPECT_EQ(first(), CUDNN_HEUR_MODE_B);
  config.cudnn_heur_mode = std::optional<int>(0);
  EXPECT_EQ(first(), CUDNN_HEUR_MODE_INSTANT);
  config.cudnn_heur_mode = std::optional<int>(1);
  EXPECT_EQ(first(), CUDNN_HEUR_MODE_B);
  EXPECT_EQ(heuristics(config).back(), CUDNN_HEUR_MODE_FALLBACK);
}

TEST(EngineCache, AChoiceIsMadeOnceForAllProcesses) {
  const auto folder =
      std::filesystem::path(::testing::TempDir()) / ("engines_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  const std::vector<EngineConfig> engines = {engine(2, {}), engine(1, {})};
  const EnginePolicy policy = engine_policy(CudaConfig(), ConvPass::kForward, std::nullopt, 1024);
  int timed = 0;
  const auto timer = [&](const EngineConfig& e) -> std::optional<double> {
    ++timed;
    return static_cast<double>(e.engine);
  };
  EngineCache cache(DiskCache(folder, 1 << 20)), other(DiskCache(folder, 1 << 20));
  EXPECT_EQ(cache.choose("key", "test", engines, policy, timer).chosen, 1u);
  EXPECT_EQ(timed, 2);
  EXPECT_EQ(cache.choose("key", "test", engines, policy, timer).chosen, 1u);
  EXPECT_EQ(other.choose("key", "test", engines, policy, timer).chosen, 1u);
  EXPECT_EQ(timed, 2);
  // Without a timer: before plans of the other engines are made.
  EXPECT_EQ(other.kept("key", "test", engines, policy).chosen, 1u);
  EXPECT_FALSE(other.kept("another key", "test", engines, policy).chosen);
  EnginePolicy verbose = policy;
  verbose.verbose = 1;
  EXPECT_EQ(other.kept("key", "test", engines, verbose).report,
            "test (chosen before)\n* 1 eng:1\n");
  other.choose("another key", "test", engines, policy, timer);
  EXPECT_EQ(timed, 4);
  // An engine that a new driver no longer offers is chosen anew.
  EXPECT_EQ(other.choose("key", "test", {engine(2, {})}, policy, timer).chosen, 0u);
  EXPECT_EQ(timed, 5);
  std::filesystem::remove_all(folder);
}

TEST(EngineCache, AFullDevicesChoiceIsNotKept) {
  const auto folder =
      std::filesystem::path(::testing::TempDir()) / ("full_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  const std::vector<EngineConfig> engines = {engine(2, {}), engine(1, {})};
  const EnginePolicy policy = engine_policy(CudaConfig(), ConvPass::kForward, std::nullopt, 1024);
  bool full = true;
  const auto timer = [&](const EngineConfig& e) -> std::optional<double> {
    if (full && e.engine == 1) throw Error(ErrorCode::kOutOfMemory, "gpu(0)", "full");
    return static_cast<double>(e.engine);
  };
  EngineCache cache(DiskCache(folder, 1 << 20)), other(DiskCache(folder, 1 << 20));
  EXPECT_EQ(cache.choose("key", "test", engines, policy, timer).chosen, 0u);
  EXPECT_FALSE(other.kept("key", "test", engines, policy).chosen);
  full = false;
  EXPECT_EQ(cache.choose("key", "test", engines, policy, timer).chosen, 1u);
  EXPECT_EQ(other.kept("key", "test", engines, policy).chosen, 1u);
  std::filesystem::remove_all(folder);
}

TEST(GemmChoice, TypesOfProducts) {
  const CudaConfig config;
  const auto choice = [&](DType dtype) { return gemm_choice(config, {.dtype = dtype}); };
  EXPECT_EQ(choice(DType::kFloat32).compute, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(choice(DType::kFloat64).scale, CUDA_R_64F);
  EXPECT_EQ(choice(DType::kFloat16).compute, CUBLAS_COMPUTE_32F) << "half is summed in float";
  EXPECT_EQ(choice(DType::kBFloat16).elements, CUDA_R_16BF);
  EXPECT_THROW(choice(DType::kInt32), Error);
}

TEST(GemmChoice, VariablesPermitTensorCoresAndConversion) {
  CudaConfig config;
  config.tensor_op_math_allow_conversion = true;
  EXPECT_EQ(gemm_choice(config, {}).compute, CUBLAS_COMPUTE_32F_FAST_16F);
  EXPECT_EQ(gemm_choice(config, {.dtype = DType::kBFloat16}).compute, CUBLAS_COMPUTE_32F);
  config.allow_tensor_core = false;
  EXPECT_EQ(gemm_choice(config, {}).compute, CUBLAS_COMPUTE_32F_PEDANTIC);
  EXPECT_EQ(gemm_choice(config, {.dtype = DType::kFloat64}).compute, CUBLAS_COMPUTE_64F_PEDANTIC);
}

TEST(GemmChoice, OnlyHalfTypesMayHaveTensorCoresAllTheSame) {
  CudaConfig config;
  const auto wider = [&](const GemmRequest& request) {
    return with_tensor_cores(gemm_choice(config, request));
  };
  EXPECT_FALSE(wider({.dtype = DType::kFloat16})) << "they are permitted";
  config.allow_tensor_core = false;
  config.fc_true_fp16 = true;
  EXPECT_FALSE(wider({}));
  EXPECT_FALSE(wider({.dtype = DType::kFloat64}));
  EXPECT_EQ(wider({.dtype = DType::kBFloat16})->compute, CUBLAS_COMPUTE_32F);
  const GemmRequest layer{.dtype = DType::kFloat16, .fully_connected = true};
  EXPECT_EQ(wider(layer)->compute, CUBLAS_COMPUTE_16F);
  EXPECT_EQ(wider(layer)->scale, CUDA_R_16F);
}

TEST(GemmChoice, HalfIsSummedInHalfOnlyWhenAsked) {
  CudaConfig config;
  const GemmRequest layer{.dtype = DType::kFloat16, .fully_connected = true};
  EXPECT_EQ(gemm_choice(config, layer).compute, CUBLAS_COMPUTE_32F);
  config.fc_true_fp16 = true;
  EXPECT_EQ(gemm_choice(config, layer).compute, CUBLAS_COMPUTE_16F);
  EXPECT_EQ(gemm_choice(config, layer).scale, CUDA_R_16F);
  EXPECT_EQ(gemm_choice(config, {.dtype = DType::kFloat16}).compute, CUBLAS_COMPUTE_32F)
      << "other products are not meant";
}

TEST(GemmChoice, EpiloguesDoWhatComesBehindAProduct) {
  CudaConfig config;
  const auto epilogue = [&](const GemmRequest& request) {
    return gemm_choice(config, request).epilogue;
  };
  EXPECT_EQ(epilogue({}), CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(epilogue({.bias = true}), CUBLASLT_EPILOGUE_BIAS);
  EXPECT_EQ(epilogue({.relu = true}), CUBLASLT_EPILOGUE_RELU);
  EXPECT_EQ(epilogue({.bias = true, .relu = true}), CUBLASLT_EPILOGUE_RELU_BIAS);
  EXPECT_EQ(epilogue({.sums_a = true}), CUBLASLT_EPILOGUE_BGRADB) << "our left is its second";
  EXPECT_EQ(epilogue({.dtype = DType::kFloat64, .bias = true}), CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_TRUE(gemm_choice(config, {.dtype = DType::kFloat64, .relu = true}).bare());
  config.fc_true_fp16 = true;
  GemmRequest layer{.dtype = DType::kFloat16, .bias = true, .fully_connected = true};
  EXPECT_EQ(epilogue(layer), CUBLASLT_EPILOGUE_BIAS);
  layer = {.dtype = DType::kFloat16, .sums_a = true, .fully_connected = true};
  EXPECT_EQ(epilogue(layer), CUBLASLT_EPILOGUE_DEFAULT) << "sums of gradients are sums of floats";
}

// A table of products that is kept by choices has another entry when a live variable changes.
TEST(GemmChoice, OtherVariablesAreOtherChoices) {
  CudaConfig config;
  const GemmChoice before = gemm_choice(config, {});
  EXPECT_EQ(gemm_choice(config, {}), before);
  config.allow_tensor_core = false;
  EXPECT_NE(gemm_choice(config, {}), before);
}

}  // namespace
}  // namespace mxnet::cuda
