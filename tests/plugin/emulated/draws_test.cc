// SPDX-License-Identifier: Apache-2.0
// Random numbers and dropout on the plug-in's own kernels, run in host memory: numbers of their
// own, of which moments, seeds and the generator are those that they should be.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "op/generators/random_streams.h"
#include "tests/exec/arrays.h"
#include "tests/plugin/emulated/both_devices.h"
#include "tests/plugin/emulated/host_math.h"  // before what is in words of CUDA

#include "plugin/cuda/philox.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

// The numbers are other ones than the CPU's; their moments and their seeds are not.
TEST(GpuDraws, RandomNumbersFollowTheirSeed) {
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

TEST(GpuDraws, DropoutKeepsThePartThatItSays) {
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
TEST(GpuDraws, DropoutTakesViewsOfAnyType) {
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
TEST(GpuDraws, PhiloxIsThePublishedOne) {
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

}  // namespace
}  // namespace mxnet
