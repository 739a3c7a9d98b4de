// SPDX-License-Identifier: Apache-2.0
// Live fields: they read and write like their value, whole values at a
// time, and old texts stay valid.
#include "base/config_types.h"

#include <gtest/gtest.h>

#include <climits>

namespace mxnet {
namespace {

TEST(ConfigLive, ReadsAndWritesLikeItsValue) {
  Live<int> number;
  EXPECT_EQ(number, 0);
  number = 7;
  EXPECT_EQ(number + 1, 8);
  const Live<int> copy = number;
  number = 9;
  EXPECT_EQ(copy, 7);
  const Live<LogLevel> level = LogLevel::kError;
  EXPECT_EQ(level.get(), LogLevel::kError);
}

TEST(ConfigLive, EveryIntAndNoneFitInOneWord) {
  Live<std::optional<int>> field;
  EXPECT_EQ(field.get(), std::nullopt);
  for (const int value : {INT_MIN, -1, 0, 1, INT_MAX}) {
    field = value;
    EXPECT_EQ(field.get(), std::optional<int>(value));
  }
  field = std::optional<int>();
  EXPECT_EQ(field.get(), std::nullopt);
}

TEST(ConfigLive, AReferenceToATextOutlivesAChange) {
  Live<std::string> field(std::string("first value, too long to lie inside the string object"));
  const std::string& seen = field.get();
  field = std::string("second");
  EXPECT_EQ(seen, "first value, too long to lie inside the string object");
  EXPECT_EQ(field.get(), "second");
}

TEST(ConfigLive, EqualTextsShareOneCopy) {
  EXPECT_EQ(&interned("a text"), &interned(std::string("a ") + "text"));
  EXPECT_NE(&interned("a text"), &interned("another"));
}

}  // namespace
}  // namespace mxnet
