// SPDX-License-Identifier: Apache-2.0
// Run-time fusion without a GPU: NVRTC compiles every row and random chains for the architectures
// that the plug-in is built for and for the newest that the toolkit knows.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "plugin/cuda/fusion_compiler.h"
#include "plugin/cuda/fusion_source.h"

namespace mxnet::cuda {
namespace {

using Kind = RowText::Kind;

constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64};

class Fusion : public testing::Test {
 protected:
  void SetUp() override {
    if (!compiler_.available()) GTEST_SKIP() << compiler_.why_not();
  }
  std::vector<int> targets() const {
    std::vector<int> all{80, 90};
    const int newest = compiler_.architectures().back();
    if (newest > 90) all.push_back(newest);
    return all;
  }
  void expect_compiles(const std::string& source, std::size_t kernels) {
    for (const int target : targets()) {
      const CompileResult result = compiler_.compile(source, target);
      ASSERT_EQ(result.error, "") << "for " << target << "\n" << source.substr(0, 20000);
      std::size_t found = 0;
      for (std::size_t at = 0; (at = result.ptx.find(".entry", at)) != std::string::npos; ++at)
        ++found;
      EXPECT_EQ(found, kernels);
    }
  }
  FusionCompiler compiler_{""};
};

int arity(Kind kind) {
  return kind == Kind::kUnary ? 1 : kind == Kind::kUnarySlope || kind == Kind::kBinary ? 2 : 3;
}

FusedChain single(const RowText& row, DType dtype) {
  FusedChain chain;
  FusedStep step{.row = &row, .compute = dtype, .result = dtype};
  for (int i = 0; i < arity(row.kind); ++i) {
    chain.inputs.push_back({dtype, false});
    step.in.push_back(i);
  }
  chain.steps = {step};
  chain.outputs = {0};
  return chain;
}

// Operators on bits are for integers alone.
bool of_integers(const RowText& row) {
  const std::string_view name = row.name;
  return name == "bitwise_and" || name == "bitwise_or" || name == "bitwise_xor" || name == "lcm";
}

TEST_F(Fusion, EveryRowCompilesForEveryTarget) {
  std::string source = fused_prelude();
  std::size_t kernels = 0;
  for (const RowText& row : row_texts()) {
    for (const DType dtype : kFloats) {
      const DType used = of_integers(row) ? DType::kInt32 : dtype;
      source += fused_kernel(single(row, used), "k" + std::to_string(kernels++));
      if (used != dtype) break;
    }
    if (!row.real)
      source += fused_kernel(single(row, DType::kInt64), "k" + std::to_string(kernels++));
  }
  EXPECT_GT(kernels, 400u);
  expect_compiles(source, kernels);
}

FusedChain random_chain(std::mt19937& rng) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(rng() % n); };
  FusedChain chain;
  const DType dtype = kFloats[below(3)];
  for (std::size_t i = 0, n = 1 + below(4); i < n; ++i)
    chain.inputs.push_back({dtype, below(4) == 0});
  const auto rows = row_texts();
  for (std::size_t k = 0, n = 2 + below(6); k < n; ++k) {
    const RowText* row;
    do row = &rows[below(rows.size())];
    while (of_integers(*row));
    FusedStep step{.row = row, .compute = dtype, .result = dtype};
    int wanted = arity(row->kind);
    if (row->kind == Kind::kBinary && below(2) == 0) {
      step.number_at = static_cast<int>(below(2));
      step.number = static_cast<double>(below(1000)) / 7 - 70;
      --wanted;
    }
    for (int i = 0; i < wanted; ++i) {
      const std::size_t any = below(chain.inputs.size() + k);
      step.in.push_back(any < chain.inputs.size()
                            ? static_cast<int>(any)
                            : -1 - static_cast<int>(any - chain.inputs.size()));
    }
    chain.steps.push_back(step);
  }
  chain.outputs = {static_cast<int>(chain.steps.size()) - 1};
  if (below(3) == 0) chain.outputs.push_back(0);
  return chain;
}

TEST_F(Fusion, RandomChainsCompileForEveryTarget) {
  constexpr unsigned kSeed = 20101;
  SCOPED_TRACE(kSeed);
  std::mt19937 rng(kSeed);
  constexpr std::size_t kChains = 1000;
  std::string source = fused_prelude();
  for (std::size_t c = 0; c < kChains; ++c)
    source += fused_kernel(random_chain(rng), "k" + std::to_string(c));
  expect_compiles(source, kChains);
}

TEST_F(Fusion, ErrorsOfTheCompilerAreItsLog) {
  const CompileResult result = compiler_.compile("this is no program", 90);
  EXPECT_TRUE(result.ptx.empty());
  EXPECT_NE(result.error.find("fused.cu"), std::string::npos) << result.error;
}

TEST_F(Fusion, CacheOnDiskIsUsedAndKeyedBySourceAndArchitecture) {
  std::string folder = (std::filesystem::temp_directory_path() / "mxnet-fusion-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const FusionCompiler cached(folder + "/inner");
  const std::string source = fused_prelude() +
                             fused_kernel(single(*find_row(Kind::kUnary, "sigmoid"),
                                                 DType::kFloat32), "k");
  const std::string first = cached.compile(source, 90).ptx;
  EXPECT_NE(first.find(".entry k"), std::string::npos);
  const std::string file = cached.cache_file(source, 90);
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_NE(file, cached.cache_file(source, 80));
  EXPECT_NE(file, cached.cache_file(source + " ", 90));
  // What lies there is what comes, unless it is broken.
  std::ofstream(file) << "// changed\n}\n";
  EXPECT_EQ(cached.compile(source, 90).ptx, "// changed\n}\n");
  std::ofstream(file) << "cut sho";
  EXPECT_EQ(cached.compile(source, 90).ptx, first);
  std::filesystem::remove_all(folder);
}

TEST(FusionSource, ResultsAreRoundedAndNumbersExact) {
  FusedChain chain;
  chain.inputs = {{DType::kFloat16, false}, {DType::kFloat16, true}};
  chain.steps = {{.row = find_row(Kind::kBinary, "add"),
                  .in = {0, 1},
                  .compute = DType::kFloat16,
                  .result = DType::kFloat16},
                 {.row = find_row(Kind::kBinary, "multiply"),
                  .in = {-1},
                  .number_at = 1,
                  .number = 0.1,
                  .compute = DType::kFloat16,
                  .result = DType::kFloat16}};
  chain.outputs = {1};
  const std::string text = fused_kernel(chain, "f");
  EXPECT_NE(text.find("f(long long n, const float16* in0, const float16* in1, float16* out0)"),
            std::string::npos) << text;
  EXPECT_NE(text.find("const T a = load<T>(in0[i]); const T b = load<T>(in1[0]);"),
            std::string::npos) << text;
  EXPECT_NE(text.find("Store<float16>::of(0x1.999999999999ap-4)"), std::string::npos) << text;
  EXPECT_NE(text.find("s1 = Store<float16>::of(multiply(a, b))"), std::string::npos) << text;
}

}  // namespace
}  // namespace mxnet::cuda
