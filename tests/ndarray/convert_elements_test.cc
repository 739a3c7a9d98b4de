// SPDX-License-Identifier: Apache-2.0
// All pairs of element types, and the corners where types do not fit each other.
#include "ndarray/convert_elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace mxnet {
namespace {

template <class To, class From>
std::vector<To> converted(const std::vector<From>& from) {
  std::vector<To> to(from.size());
  convert_elements(to.data(), dtype_of<To>, from.data(), dtype_of<From>,
                   static_cast<int64_t>(from.size()));
  return to;
}

template <class From>
void check_all_from() {
  constexpr int kCount = 37;  // not a multiple of any vector width
  const std::unique_ptr<From[]> from(new From[kCount]);
  for (int i = 0; i < kCount; ++i) from[i] = static_cast<From>(i);
  const auto check = [&]<class To>(To) {
    const std::unique_ptr<To[]> to(new To[kCount]);
    convert_elements(to.get(), dtype_of<To>, from.get(), dtype_of<From>, kCount);
    const bool flag = std::is_same_v<From, bool> || std::is_same_v<To, bool>;
    for (int i = 0; i < kCount; ++i) {
      EXPECT_EQ(static_cast<float>(to[i]), static_cast<float>(flag ? i != 0 : i))
          << dtype_name(dtype_of<From>) << " to " << dtype_name(dtype_of<To>);
    }
  };
#define MX_CHECK_TO(name, type, tag) check(type{});
  MX_DTYPES(MX_CHECK_TO)
#undef MX_CHECK_TO
}

TEST(ConvertElements, SmallNumbersSurviveEveryPair) {
#define MX_CHECK_FROM(name, type, tag) check_all_from<type>();
  MX_DTYPES(MX_CHECK_FROM)
#undef MX_CHECK_FROM
}

TEST(ConvertElements, FloatsToIntegersDropTheFraction) {
  const std::vector<float> from{1.9f, -1.9f, 0.5f, -0.5f, 300.7f};
  EXPECT_EQ(converted<int32_t>(from), (std::vector<int32_t>{1, -1, 0, 0, 300}));
  EXPECT_EQ(converted<uint8_t>(from), (std::vector<uint8_t>{1, 255, 0, 0, 44}));
  EXPECT_EQ(converted<int8_t>(from), (std::vector<int8_t>{1, -1, 0, 0, 44}));
}

TEST(ConvertElements, OutOfRangeIsTheLowestInteger) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> from{3e9f, 1e20f, -1e20f, std::nanf(""), inf, -inf};
  EXPECT_EQ(converted<int32_t>(from), std::vector<int32_t>(6, INT32_MIN));
  EXPECT_EQ(converted<uint8_t>(from), std::vector<uint8_t>(6, 0));
  EXPECT_EQ(converted<int64_t>(from), (std::vector<int64_t>{3'000'000'000, INT64_MIN, INT64_MIN,
                                                            INT64_MIN, INT64_MIN, INT64_MIN}));
  EXPECT_EQ(converted<int32_t>(
                std::vector<double>{-2147483648.0, -2147483648.9, 2147483647.9, 2147483648.0}),
            (std::vector<int32_t>{INT32_MIN, INT32_MIN, INT32_MAX, INT32_MIN}));
}

TEST(ConvertElements, IntegersWrap) {
  EXPECT_EQ(converted<int8_t>(std::vector<int64_t>{300, -300, 1ll << 40}),
            (std::vector<int8_t>{44, -44, 0}));
  EXPECT_EQ(converted<uint8_t>(std::vector<int8_t>{-1}), std::vector<uint8_t>{255});
}

TEST(ConvertElements, AnythingButZeroIsTrue) {
  bool flags[5];
  const float from[] = {0.0f, -0.0f, 0.1f, std::nanf(""), -3.0f};
  convert_elements(flags, DType::kBool, from, DType::kFloat32, 5);
  EXPECT_EQ(std::vector<int>(flags, flags + 5), (std::vector<int>{0, 0, 1, 1, 1}));
}

}  // namespace
}  // namespace mxnet
