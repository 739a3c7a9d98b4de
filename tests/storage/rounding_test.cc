// SPDX-License-Identifier: Apache-2.0
// The documented chunk sizes against an independent, slow computation, for many sizes and settings.
#include "storage/rounding.h"
#include "base/config.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace mxnet {
namespace {

using Wide = unsigned __int128;  // nothing overflows in the independent computation

// Counts up instead of computing: multiples of `unit`.
Wide multiple(Wide bytes, Wide unit) {
  const Wide whole = bytes / unit * unit;
  return whole == bytes ? whole : whole + unit;
}

Wide expected_chunk(PoolType type, const PoolConfig& config, bool small_blocks, Wide bytes) {
  const Wide page = config.page_size;
  if (type == PoolType::kUnpooled) return bytes;
  if (small_blocks && page > 64 && 2 * bytes <= page) {
    Wide power = 64;
    while (power < bytes) power *= 2;
    return power;
  }
  if (type == PoolType::kNaive) {
    const Wide large = config.large_alloc_round_size;
    if (large != 1 && bytes > large) return multiple(bytes, large);
    return multiple(bytes, page);
  }
  Wide cutoff = 1;
  for (int i = 0; i < config.round_linear_cutoff; ++i) cutoff *= 2;
  if (bytes > cutoff) return multiple(bytes, cutoff);
  Wide power = 1;
  while (power < bytes || power < page) power *= 2;
  return power;
}

// Both sides of every multiple and power that matters, and what lies between.
std::set<std::size_t> interesting_sizes() {
  std::set<std::size_t> sizes;
  for (int bit = 0; bit < 50; ++bit) {
    for (std::size_t factor : {1, 3, 5, 7}) {
      const std::size_t at = (std::size_t{1} << bit) * factor;
      for (std::size_t size : {at - 1, at, at + 1, at + at / 2 + 13}) {
        if (size > 0) sizes.insert(size);
      }
    }
  }
  for (std::size_t size = 1; size < 20000; size += 7) sizes.insert(size);
  return sizes;
}

struct Setting {
  int64_t page;
  int64_t large;
  int cutoff;
};

class ChunkSize : public ::testing::TestWithParam<PoolType> {};

TEST_P(ChunkSize, IsTheDocumentedOneForEverySizeAndSetting) {
  const Setting settings[] = {
      {4096, 2 << 20, 24},  // the defaults
      {4096, 1, 24},       {1, 2 << 20, 24},    {64, 4096, 12},
      {4096, 3000, 12},    {4096, 5000000, 30}, {65536, 2 << 20, 16},
      {2 << 20, 1, 21},    {512, 1 << 30, 62},  {16, 12345, 4},
      {1, 2, 0},           {4096, 4097, 40},
  };
  for (const Setting& setting : settings) {
    PoolConfig config;
    config.page_size = setting.page;
    config.large_alloc_round_size = setting.large;
    config.round_linear_cutoff = setting.cutoff;
    for (const bool small_blocks : {false, true}) {
      const Rounding rounding(GetParam(), config, "MXNET_CPU", small_blocks);
      for (const std::size_t size : interesting_sizes()) {
        ASSERT_EQ(Wide{rounding(size)}, expected_chunk(GetParam(), config, small_blocks, size))
            << "size " << size << ", page " << setting.page << ", large " << setting.large
            << ", cutoff " << setting.cutoff << ", small blocks " << small_blocks;
      }
    }
  }
}

TEST_P(ChunkSize, ThatNoMemoryHasIsImpossibleInsteadOfWrappingAround) {
  PoolConfig config;
  const Rounding rounding(GetParam(), config, "MXNET_GPU");
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t size : {most, most - 1, most - 4095, most / 2 + 1, most / 2}) {
    EXPECT_EQ(rounding(size), Rounding::kImpossible) << size;
  }
}

std::string type_name(const ::testing::TestParamInfo<PoolType>& info) {
  const char* const names[] = {"Naive", "Round", "Unpooled"};
  return names[static_cast<int>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Storage, ChunkSize,
                         ::testing::Values(PoolType::kNaive, PoolType::kRound, PoolType::kUnpooled),
                         type_name);

TEST(Rounding, RefusesACutoffBelowThePageAndNamesTheVariable) {
  PoolConfig config;
  config.page_size = 1 << 16;
  config.round_linear_cutoff = 15;
  try {
    Rounding(PoolType::kRound, config, "MXNET_CPU_PINNED");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kValue);
    EXPECT_EQ(error.tag(), "MXNET_CPU_PINNED_MEM_POOL_ROUND_LINEAR_CUTOFF");
    EXPECT_NE(error.message().find("given 15, expected at least 16"), std::string::npos);
  }
  Rounding(PoolType::kNaive, config, "MXNET_CPU_PINNED");  // the cutoff is none of its business
}

TEST(Rounding, RefusesAPageThatIsNoPowerOfTwo) {
  PoolConfig config;
  config.page_size = 5000;
  EXPECT_THROW(Rounding(PoolType::kNaive, config, "MXNET_CPU"), Error);
}

}  // namespace
}  // namespace mxnet
