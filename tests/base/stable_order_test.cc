// SPDX-License-Identifier: Apache-2.0
// Places in order of their keys.
#include "base/stable_order.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

namespace mxnet {
namespace {

using Places = std::vector<std::size_t>;

TEST(StableOrder, PutsTheLargestFirstAndKeepsEqualOnesAsTheyWere) {
  const std::vector<double> keys{1, 3, -0.0, 3, 0.0, -2};
  EXPECT_EQ(places_by_descending(keys), (Places{1, 3, 0, 2, 4, 5}));
  EXPECT_EQ(places_by_descending({}), Places{});
}

TEST(StableOrder, PutsTheSmallestFirstAndKeepsEqualOnesAsTheyWere) {
  constexpr int64_t kLarge = (int64_t{1} << 53) + 1;  // a double has no place for it
  const std::vector<int64_t> keys{kLarge, kLarge - 1, 7, kLarge, 7, -1};
  EXPECT_EQ(places_by_ascending(keys), (Places{5, 2, 4, 1, 0, 3}));
}

TEST(StableOrder, NamesEachPlaceOnceWhateverIsNotANumber) {
  std::vector<double> keys(100);
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = i % 3 == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(i % 7);
  Places places = places_by_descending(keys), all(keys.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::ranges::sort(places);
  EXPECT_EQ(places, all);
}

}  // namespace
}  // namespace mxnet
