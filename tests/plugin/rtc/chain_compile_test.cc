// SPDX-License-Identifier: Apache-2.0
// Chains become PTX for the GPUs that wheels are built for, and for the newest that the toolkit
// knows. NVRTC needs no GPU for that.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "base/error.h"
#include "op/pointwise.h"
#include "plugin/cuda/rtc/chain_ops.h"
#include "plugin/cuda/rtc/compiler.h"
#include "plugin/cuda/rtc/nvrtc.h"
#include "random_chain.h"

namespace mxnet::testing {
namespace {

using namespace mxnet::cuda;

constexpr uint32_t kSeed = 20261120;

// Several chains as one program: a compilation costs more to begin than a chain costs.
class Batch {
 public:
  void add(const TestChain& test) {
    ChainRefusal refusal;
    const auto source = chain_source(test.chain, test.inputs, &refusal);
    ASSERT_TRUE(source) << refusal.reason;
    for (const char* name : {"this_chain", ChainSource::kKernel})
      text_ += std::string("#undef ") + name + "\n#define " + name + " " + name + "_" +
               std::to_string(count_) + "\n";
    text_ += source->text.substr(std::string(chain_prelude()).size());
    ++count_;
  }
  int count() const { return count_; }
  std::string ptx(int architecture) const {
    return compile({.source = chain_prelude() + text_,
                    .name = "batch.cu",
                    .architecture = architecture,
                    // The front end does all of its work, the optimiser little.
                    .options = {"--fmad=false", "--Ofast-compile=max"},
                    .exports = {},
                    .ptx = true})
        .image;
  }

 private:
  std::string text_;
  int count_ = 0;
};

int entries(const std::string& ptx) {
  int count = 0;
  for (std::size_t at = ptx.find(".entry"); at != std::string::npos;
       at = ptx.find(".entry", at + 1))
    ++count;
  return count;
}

// Compiles all batches for all three architectures and counts the kernels that come out.
int compile_all(const std::vector<Batch>& batches) {
  const int newest = Nvrtc::get().architectures().back();
  EXPECT_GE(newest, 90);
  std::atomic<std::size_t> next{0};
  std::atomic<int> kernels{0};
  const int architectures[] = {80, 90, newest};
  const auto work = [&] {
    for (std::size_t job = next++; job < batches.size() * 3; job = next++) {
      const Batch& batch = batches[job / 3];
      try {
        const std::string ptx = batch.ptx(architectures[job % 3]);
        EXPECT_EQ(entries(ptx), batch.count());
        kernels += entries(ptx);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  };
  std::thread other(work);
  work();
  other.join();
  return kernels;
}

std::vector<Batch> batched(const std::vector<TestChain>& chains, std::size_t each) {
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    if (i % each == 0) batches.emplace_back();
    batches.back().add(chains[i]);
  }
  return batches;
}

TEST(ChainCompile, EveryPointwiseOperatorHasSource) {
  const std::vector<std::string> known = known_operators();
  for (const OpDef* op : Registry::get().ops()) {
    // Their parameters are private to their file.
    static const std::set<std::string> kWithout = {"smooth_l1", "_backward_smooth_l1",
                                                   "hard_sigmoid", "_backward_hard_sigmoid",
                                                   "_contrib_quadratic"};
    if (pointwise_kernel(*op) == nullptr || kWithout.count(op->name()) != 0) continue;
    EXPECT_TRUE(std::binary_search(known.begin(), known.end(), op->name())) << op->name();
  }
  EXPECT_GT(chain_operators().size(), 200u);
}

TEST(ChainCompile, EveryOperatorForThreeArchitectures) {
  std::vector<TestChain> chains;
  for (const OpDef* op : chain_operators()) {
    // The first type that it takes; the others are in the random chains.
    for (const DType dtype : {DType::kFloat32, DType::kInt32, DType::kBool}) {
      auto chain = single_chain(*op, dtype, 1000);
      if (!chain) continue;
      chains.push_back(std::move(*chain));
      break;
    }
  }
  EXPECT_EQ(chains.size(), chain_operators().size());
  RecordProperty("chains", static_cast<int>(chains.size()));
  EXPECT_EQ(compile_all(batched(chains, 60)), static_cast<int>(chains.size()) * 3);
}

TEST(ChainCompile, AThousandRandomChainsForThreeArchitectures) {
  RecordProperty("seed", kSeed);
  std::mt19937 rng(kSeed);
  std::vector<TestChain> chains;
  for (int i = 0; i < 1000; ++i) chains.push_back(random_chain(rng, 1000));
  EXPECT_EQ(compile_all(batched(chains, 60)), 3000) << "seed " << kSeed;
}

}  // namespace
}  // namespace mxnet::testing
