// SPDX-License-Identifier: Apache-2.0
// Which vector instructions loops may use: what the processor has, up to the level that is set.
#include "base/simd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace mxnet {
namespace {

CpuFeatures of_a_wide_processor() {
  CpuFeatures has;
  has.sse = has.sse2 = has.sse3 = has.sse4_1 = has.sse4_2 = true;
  has.avx = has.avx2 = has.f16c = has.fma = true;
  has.avx512f = has.avx512bw = has.avx512vl = has.avx512dq = has.avx512cd = true;
  has.avx512vbmi = has.avx512vnni = has.avx512bf16 = has.avx512fp16 = true;
  has.amx_tile = has.amx_int8 = has.amx_bf16 = true;
  return has;
}

TEST(VectorLevel, BoundsWhatAProcessorHas) {
  const CpuFeatures wide = of_a_wide_processor();
  EXPECT_TRUE(within_level(wide, 2).amx_bf16);
  const CpuFeatures avx2 = within_level(wide, 1);
  EXPECT_TRUE(avx2.fma && avx2.f16c && avx2.sse4_2);
  EXPECT_FALSE(avx2.avx512f || avx2.avx512vbmi || avx2.avx512bf16 || avx2.amx_tile);
  const CpuFeatures sse = within_level(wide, 0);
  EXPECT_TRUE(sse.sse4_2);
  EXPECT_FALSE(sse.avx || sse.avx2 || sse.f16c || sse.fma);
  for (int level : {0, 1, 2}) EXPECT_EQ(level_of(within_level(wide, level)), level);
}

TEST(VectorLevel, AllOfASetIsNeeded) {
  CpuFeatures no_fma = of_a_wide_processor(), early_avx512 = of_a_wide_processor();
  early_avx512.avx512bw = false;
  EXPECT_EQ(level_of(early_avx512), 1);
  no_fma.avx512f = no_fma.fma = false;
  EXPECT_EQ(level_of(no_fma), 0);
}

TEST(VectorLevelDeathTest, ALowerLevelIsTakenInsteadOfTheProcessors) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // a process that has not read it yet
  const auto level = [](const char* set) {
    setenv("MXNET_CPU_VECTOR_LEVEL", set, 1);
    std::exit(simd_level());
  };
  const int has = level_of(cpu_features());
  EXPECT_EXIT(level("0"), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(level("1"), testing::ExitedWithCode(std::min(has, 1)), "");
  EXPECT_EXIT(level("auto"), testing::ExitedWithCode(has), "");
}

}  // namespace
}  // namespace mxnet
