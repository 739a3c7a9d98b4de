// SPDX-License-Identifier: Apache-2.0
// The source of chains computes what the operators compute on the CPU. It is compiled for the host,
// with a few words that stand in for those of CUDA; what a GPU would add is its own mathematical
// functions and its instructions for half types.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "op/loops/convert.h"
#include "op/rows/row_math.h"
#include "op/run/dispatch.h"
#include "random_chain.h"

namespace mxnet::testing {
namespace {

using namespace mxnet::cuda;

constexpr uint32_t kSeed = 7;
constexpr int64_t kSize = 101;  // not a multiple of any group

// CUDA's words for a host: one block of one thread.
constexpr const char* kHostWords = R"(
#include <math.h>
#define __global__
#define __launch_bounds__(n)
struct Index { unsigned x; };
static const Index blockIdx{0}, threadIdx{0}, blockDim{1}, gridDim{1};
extern "C" {
float (*mx_widen)(int, unsigned short);
unsigned short (*mx_narrow)(int, float);
double (*mx_erfinv)(double);
}
#define MX_WIDEN_HALF(kind, bits) mx_widen(kind, bits)
#define MX_NARROW_HALF(kind, value) mx_narrow(kind, value)
static inline double erfinv(double x) { return mx_erfinv(x); }
static inline float erfinvf(float x) { return float(mx_erfinv(double(x))); }
)";

float widen(int kind, unsigned short bits) {
  float16 half;
  bfloat16 brain;
  half.bits = brain.bits = bits;
  return kind == 0 ? static_cast<float>(half) : static_cast<float>(brain);
}
unsigned short narrow(int kind, float value) {
  return kind == 0 ? convert<float16>(value).bits : convert<bfloat16>(value).bits;
}

// Programs for the host, compiled into one library.
class HostLibrary {
 public:
  explicit HostLibrary(const std::vector<std::string>& sources) {
    // A name of its own: the linker would give a library of the same name once more.
    static int number = 0;
    const auto folder = std::filesystem::path(::testing::TempDir());
    const std::string base =
        (folder / fmt::format("mxnet_chains_{}_{}", ::getpid(), number++)).string();
    {
      std::ofstream file(base + ".cc");
      file << kHostWords << chain_prelude();
      for (std::size_t i = 0; i < sources.size(); ++i) {
        for (const char* name : {"this_chain", ChainSource::kKernel})
          file << "#undef " << name << "\n#define " << name << " " << name << "_" << i << "\n";
        file << sources[i].substr(std::strlen(chain_prelude()));
      }
    }
    // Without contraction, as kernels are compiled.
    const std::string command = std::string(MX_HOST_COMPILER) +
                                " -std=c++17 -O1 -ffp-contract=off -w -shared -fPIC -o " + base +
                                ".so " + base + ".cc";
    EXPECT_EQ(std::system(command.c_str()), 0);
    handle_ = ::dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << ::dlerror();
    std::filesystem::remove(base + ".cc");
    std::filesystem::remove(base + ".so");
    *static_cast<decltype(&widen)*>(::dlsym(handle_, "mx_widen")) = widen;
    *static_cast<decltype(&narrow)*>(::dlsym(handle_, "mx_narrow")) = narrow;
    using Function = double (*)(double);
    *static_cast<Function*>(::dlsym(handle_, "mx_erfinv")) = row_math::erfinv;
  }
  void run(std::size_t i, const ChainArguments& arguments) const {
    const std::string name = std::string(ChainSource::kKernel) + "_" + std::to_string(i);
    void* found = ::dlsym(handle_, name.c_str());
    ASSERT_NE(found, nullptr) << name;
    reinterpret_cast<void (*)(ChainArguments)>(found)(arguments);
  }

 private:
  void* handle_ = nullptr;
};

class NoResources final : public KernelResources {
 public:
  void* workspace(std::size_t bytes) override {
    blocks_.emplace_back(bytes + 64);
    auto at = reinterpret_cast<uintptr_t>(blocks_.back().data());
    return reinterpret_cast<void*>((at + 63) / 64 * 64);
  }
  Tensor make_out(int, const Shape&) override { return {}; }

 private:
  std::vector<std::vector<std::byte>> blocks_;
};

// Arrays of a chain: inputs with small numbers of both signs, outputs of zeros.
struct Arrays {
  std::vector<std::vector<std::max_align_t>> memory;
  std::vector<Tensor> tensors;
  Shape full{kSize}, one{1};

  Arrays(const TestChain& test, uint32_t seed) {
    std::mt19937 rng(seed);
    for (const ChainInput& input : test.inputs) {
      Tensor& tensor = add(input.dtype, input.single);
      dispatch_dtype(input.dtype, "test", [&]<class T>(TypeTag<T>) {
        for (int64_t i = 0; i < tensor.size(); ++i)
          tensor.as<T>()[i] = convert<T>(static_cast<double>(rng() % 1000) / 250.0 -
                                         (is_floating(input.dtype) ? 2.0 : 0.0));
      });
    }
    for (const int step : test.chain.outputs)
      add(test.chain.steps[static_cast<std::size_t>(step)].dtype, false);
  }
  Tensor& add(DType dtype, bool single) {
    memory.emplace_back(static_cast<std::size_t>(kSize));
    return tensors.emplace_back(Tensor{memory.back().data(), single ? &one : &full, dtype});
  }
};

// Equal but for the last bits of mathematical functions, which the two compilations take from
// different libraries; one such bit may be the last of a half type.
void expect_alike(const Tensor& a, const Tensor& b, const std::string& what) {
  dispatch_dtype(a.dtype, "test", [&]<class T>(TypeTag<T>) {
    const double precision = a.dtype == DType::kBFloat16  ? 0.016
                             : a.dtype == DType::kFloat16 ? 0.002
                             : a.dtype == DType::kFloat64 ? 1e-7
                                                          : 1e-4;
    int64_t different = 0;
    std::string first;
    for (int64_t i = 0; i < a.size(); ++i) {
      const auto x = static_cast<double>(convert<double>(a.as<T>()[i]));
      const auto y = static_cast<double>(convert<double>(b.as<T>()[i]));
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      if (std::abs(x - y) <= precision * std::max({1e-3, std::abs(x), std::abs(y)})) continue;
      if (different++ == 0)
        first = std::to_string(x) + " on the CPU, " + std::to_string(y) + " in the kernel, at " +
                std::to_string(i);
    }
    EXPECT_EQ(different, 0) << what << " to " << dtype_name(a.dtype) << ": " << first;
  });
}

void compare(const std::vector<TestChain>& chains) {
  std::vector<std::string> sources;
  std::vector<int> vectors;
  for (const TestChain& test : chains) {
    ChainRefusal refusal;
    const auto source = chain_source(test.chain, test.inputs, &refusal);
    ASSERT_TRUE(source) << refusal.reason;
    sources.push_back(source->text);
    vectors.push_back(source->vector);
  }
  const HostLibrary library(sources);
  const OpDef& op = Registry::get().at(PointwiseChain::kName);
  const KernelEntry& kernel = op.kernels()[0];
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const TestChain& test = chains[i];
    const auto seed = static_cast<uint32_t>(kSeed + i);
    Arrays expected(test, seed), found(test, seed), unaligned(test, seed);
    const std::size_t inputs = test.inputs.size();
    NoResources resources;
    const std::span<const Tensor> all(expected.tensors);
    KernelContext context(all.first(inputs), all.subspan(inputs), Device::cpu(), nullptr, false,
                          resources);
    kernel.run(&test.chain, context);
    for (auto [groups, arrays] :
         {std::pair{kSize / vectors[i], &found}, std::pair{int64_t{0}, &unaligned}}) {
      ChainArguments arguments{kSize, groups, {}};
      for (std::size_t a = 0; a < arrays->tensors.size(); ++a)
        arguments.arrays[a] = arrays->tensors[a].data;
      library.run(i, arguments);
      for (std::size_t o = inputs; o < arrays->tensors.size(); ++o)
        expect_alike(expected.tensors[o], arrays->tensors[o], std::string(test.chain.title));
    }
  }
}

TEST(ChainResults, EveryOperatorInEveryType) {
  std::vector<TestChain> chains;
  for (const OpDef* op : chain_operators()) {
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16, DType::kInt64,
                              DType::kUInt8, DType::kBool}) {
      if (auto chain = single_chain(*op, dtype, kSize)) chains.push_back(std::move(*chain));
    }
  }
  compare(chains);
}

// Steps whose results the last bit of a function could move by a whole number are left out.
TEST(ChainResults, RandomChains) {
  std::mt19937 rng(kSeed);
  std::vector<TestChain> chains;
  while (chains.size() < 120) {
    TestChain test = random_chain(rng, kSize);
    const bool steady = std::all_of(
        test.chain.steps.begin(), test.chain.steps.end(), [](const PointwiseStep& step) {
          static const std::vector<std::string> kExact = {
              "add",     "sub",    "mul",     "plus",     "minus",  "maximum",
              "minimum", "relu",   "abs",     "negative", "square", "equal",
              "greater", "lesser", "logical", "clip",     "less",   "where"};
          return std::any_of(kExact.begin(), kExact.end(), [&](const std::string& word) {
            return step.op->name().find(word) != std::string::npos;
          });
        });
    if (steady) chains.push_back(std::move(test));
  }
  compare(chains);
}

}  // namespace
}  // namespace mxnet::testing
