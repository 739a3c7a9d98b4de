// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16: every one of the 65536 values, and the roundings, against independent
// references.
#include "base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "base/half_bulk.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mxnet {
namespace {

constexpr uint32_t kSeed = 20261120;
constexpr int kRandomFloats = 2'000'000;

uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }
float16 half_of(uint32_t bits) { return std::bit_cast<float16>(static_cast<uint16_t>(bits)); }
bfloat16 brain_of(uint32_t bits) { return std::bit_cast<bfloat16>(static_cast<uint16_t>(bits)); }
bool is_nan16(uint32_t bits) { return (bits & 0x7fffu) > 0x7c00u; }

// The definition of the format: sign, exponent, mantissa, put together by ldexp.
double half_by_definition(uint32_t bits) {
  const int exponent = static_cast<int>((bits >> 10) & 31),
            mantissa = static_cast<int>(bits & 1023);
  double value;
  if (exponent == 31) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, -24);
  } else {
    value = std::ldexp(1024 + mantissa, exponent - 25);
  }
  return (bits & 0x8000u) != 0 ? -value : value;
}

// Nearest of all halves by search over the ordered magnitudes, ties to the even bit pattern.
uint16_t nearest_half(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double x = std::fabs(static_cast<double>(value));
  if (x >= 65520.0) return static_cast<uint16_t>(sign | 0x7c00);  // half-way to 2^16
  uint32_t low = 0, high = 0x7bff;
  while (low < high) {  // largest half that is <= x
    const uint32_t middle = (low + high + 1) / 2;
    if (half_by_definition(middle) <= x) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const double below = half_by_definition(low);
  const double above = low == 0x7bff ? 65536.0 : half_by_definition(low + 1);
  const bool up = x - below > above - x || (x - below == above - x && (low & 1) != 0);
  return static_cast<uint16_t>(sign | (low + (up ? 1 : 0)));
}

std::vector<float> awkward_floats() {
  std::vector<float> values;
  for (uint32_t half = 0; half < 0x7c00;
       ++half) {  // each half, its ties, and the floats beside them
    const double a = half_by_definition(half);
    const double b = half == 0x7bff ? 65536.0 : half_by_definition(half + 1);
    const float tie = static_cast<float>((a + b) / 2);
    for (float x : {static_cast<float>(a), tie, std::nextafterf(tie, 0.0f),
                    std::nextafterf(tie, std::numeric_limits<float>::infinity())}) {
      values.push_back(x);
      values.push_back(-x);
    }
  }
  const float limits[] = {0.0f, std::numeric_limits<float>::denorm_min(),
                          std::numeric_limits<float>::min(), std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::infinity()};
  for (float x : limits) {
    values.push_back(x);
    values.push_back(-x);
  }
  std::mt19937 random(kSeed);
  for (int i = 0; i < kRandomFloats; ++i) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(x)) values.push_back(x);
  }
  return values;
}

TEST(Half, EveryValueIsWidenedExactly) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = half_of(bits);
    if (is_nan16(bits)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(value), half_by_definition(bits)) << bits;
      ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    }
  }
}

TEST(Half, EveryValueSurvivesTheWayThroughFloat) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const uint16_t back = float16(static_cast<float>(half_of(bits))).bits;
    // A signalling NaN comes back quiet; everything else bit for bit.
    ASSERT_EQ(back, is_nan16(bits) ? (bits | 0x200u) : bits);
  }
}

TEST(Half, RoundsToNearestAndTiesToEven) {
  for (float x : awkward_floats())
    ASSERT_EQ(float16(x).bits, nearest_half(x)) << std::hexfloat << x << " seed " << kSeed;
}

#if defined(__FLT16_MAX__)
TEST(Half, AgreesWithTheCompilersOwnType) {
  for (float x : awkward_floats()) {
    ASSERT_EQ(float16(x).bits, std::bit_cast<uint16_t>(static_cast<_Float16>(x)))
        << std::hexfloat << x << " seed " << kSeed;
  }
}
#endif

TEST(Half, NaNsStayNaNsAndKeepTheirSign) {
  for (uint32_t bits : {0x7f800001u, 0x7fc00000u, 0xff800001u, 0xffffffffu, 0x7f802000u}) {
    const uint16_t half = float16(std::bit_cast<float>(bits)).bits;
    EXPECT_TRUE(is_nan16(half)) << std::hex << bits;
    EXPECT_EQ((half & 0x8000) != 0, (bits >> 31) != 0);
    const uint16_t brain = bfloat16(std::bit_cast<float>(bits)).bits;
    EXPECT_GT(brain & 0x7fff, 0x7f80) << std::hex << bits;
    EXPECT_EQ((brain & 0x8000) != 0, (bits >> 31) != 0);
  }
}

TEST(BFloat, EveryValueIsTheTopOfAFloatAndComesBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = brain_of(bits);
    ASSERT_EQ(bits_of(value), bits << 16);
    const bool nan = (bits & 0x7fffu) > 0x7f80u;
    ASSERT_EQ(bfloat16(value).bits, nan ? (bits | 0x40u) : bits);
  }
}

TEST(BFloat, RoundsToNearestAndTiesToEven) {
  std::mt19937 random(kSeed);
  for (int i = 0; i < kRandomFloats; ++i) {
    // A third of the draws are exact ties.
    uint32_t bits = static_cast<uint32_t>(random());
    if (i % 3 == 0) bits = (bits & 0xffff0000u) | 0x8000u;
    const float x = std::bit_cast<float>(bits);
    if (!std::isfinite(x)) continue;
    const uint32_t down = bits & 0xffff0000u, rest = bits & 0xffffu;
    const bool up = rest > 0x8000u || (rest == 0x8000u && (down & 0x10000u) != 0);
    ASSERT_EQ(bfloat16(x).bits, (down + (up ? 0x10000u : 0u)) >> 16) << std::hex << bits;
  }
}

class HalfBulk : public testing::TestWithParam<int> {};

TEST_P(HalfBulk, GivesTheBitsOfSingleConversions) {
  const auto& paths = half_detail::bulk_paths();
  if (GetParam() >= paths.count) GTEST_SKIP() << "this CPU has " << paths.count << " paths";
  const half_detail::BulkPath& path = paths.paths[GetParam()];
  SCOPED_TRACE(path.name);

  std::vector<float16> halves(65536);
  std::vector<bfloat16> brains(65536);
  for (uint32_t i = 0; i < 65536; ++i) {
    halves[i] = half_of(i);
    brains[i] = brain_of(i);
  }
  std::vector<float> wide(65536);
  path.half_to_float(halves.data(), wide.data(), wide.size());
  for (uint32_t i = 0; i < 65536; ++i) ASSERT_EQ(bits_of(wide[i]), bits_of(halves[i])) << i;
  path.bfloat_to_float(brains.data(), wide.data(), wide.size());
  for (uint32_t i = 0; i < 65536; ++i) ASSERT_EQ(bits_of(wide[i]), bits_of(brains[i])) << i;

  std::vector<float> floats = awkward_floats();
  for (uint32_t nan : {0x7f800001u, 0x7fc12345u, 0xff800001u, 0xffffffffu})
    floats.insert(floats.begin() + nan % 97, std::bit_cast<float>(nan));
  halves.resize(floats.size());
  brains.resize(floats.size());
  path.float_to_half(floats.data(), halves.data(), floats.size());
  path.float_to_bfloat(floats.data(), brains.data(), floats.size());
  for (std::size_t i = 0; i < floats.size(); ++i) {
    ASSERT_EQ(halves[i].bits, float16(floats[i]).bits) << std::hex << bits_of(floats[i]);
    ASSERT_EQ(brains[i].bits, bfloat16(floats[i]).bits) << std::hex << bits_of(floats[i]);
  }
}

TEST_P(HalfBulk, WritesExactlyTheGivenCountAtAnyAlignment) {
  const auto& paths = half_detail::bulk_paths();
  if (GetParam() >= paths.count) GTEST_SKIP() << "this CPU has " << paths.count << " paths";
  const half_detail::BulkPath& path = paths.paths[GetParam()];
  for (std::size_t start = 0; start < 3; ++start) {
    for (std::size_t count = 0; count < 40; ++count) {
      std::vector<float> floats(64);
      for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(i) - 7.5f;
      std::vector<float16> halves(64, float16(-1.0f));
      path.float_to_half(floats.data() + start, halves.data() + start, count);
      for (std::size_t i = 0; i < 64; ++i) {
        const bool inside = i >= start && i < start + count;
        ASSERT_EQ(static_cast<float>(halves[i]), inside ? floats[i] : -1.0f)
            << start << " " << count;
      }
    }
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
// Whether the processor says that upper halves of its vector registers hold something.
bool upper_halves_in_use() {
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return (low & 4u) != 0;
}
__attribute__((target("avx"))) void free_upper_halves() { __asm__ volatile("vzeroupper"); }

// They would make all SSE code that the thread runs from then on several times slower.
TEST_P(HalfBulk, LeavesNoUpperHalvesInUse) {
  const auto& paths = half_detail::bulk_paths();
  if (GetParam() >= paths.count) GTEST_SKIP() << "this CPU has " << paths.count << " paths";
  uint32_t answers = 0, unused = 0;
  if (!__builtin_cpu_supports("avx") ||
      __get_cpuid_count(0xd, 1, &answers, &unused, &unused, &unused) == 0 || (answers & 4u) == 0)
    GTEST_SKIP() << "this CPU does not say what is in use";
  const half_detail::BulkPath& path = paths.paths[GetParam()];
  std::vector<float> floats(100, 1.5f);
  std::vector<float16> halves(floats.size());
  std::vector<bfloat16> brains(floats.size());
  free_upper_halves();
  if (upper_halves_in_use()) GTEST_SKIP() << "they are always in use here";
  path.float_to_half(floats.data(), halves.data(), halves.size());
  EXPECT_FALSE(upper_halves_in_use()) << path.name << ", to float16";
  path.half_to_float(halves.data(), floats.data(), halves.size());
  EXPECT_FALSE(upper_halves_in_use()) << path.name << ", from float16";
  path.float_to_bfloat(floats.data(), brains.data(), brains.size());
  EXPECT_FALSE(upper_halves_in_use()) << path.name << ", to bfloat16";
  path.bfloat_to_float(brains.data(), floats.data(), brains.size());
  EXPECT_FALSE(upper_halves_in_use()) << path.name << ", from bfloat16";
}
#endif

INSTANTIATE_TEST_SUITE_P(Paths, HalfBulk, testing::Range(0, 3));

}  // namespace
}  // namespace mxnet
