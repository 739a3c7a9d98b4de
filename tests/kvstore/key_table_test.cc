// SPDX-License-Identifier: Apache-2.0
// Keys: their kinds, their order, errors.
#include "kvstore/key_table.h"

#include <gtest/gtest.h>

#include "kvstore/stores.h"

namespace mxnet::kvstore {
namespace {

using testing_kvstore::error_of;
using Some = std::vector<Key>;

TEST(KeyTable, AKeyIsAddedOnce) {
  KeyTable table;
  table.add(Some{"a", "b"});
  EXPECT_NE(error_of([&] { table.add(Some{"c", "b"}); }).find("'b'"), std::string::npos);
  EXPECT_EQ(table.size(), 2U) << "a failed call adds nothing";
  EXPECT_EQ(table.add(Some{"c"}).front(), 2U);
}

TEST(KeyTable, ForgottenKeysMayBeAddedAgainOfAnyKind) {
  KeyTable table;
  table.add(Some{"a", "b", "c"});
  table.forget_from(1);
  EXPECT_EQ(table.size(), 1U);
  EXPECT_NE(error_of([&] { table.at("b"); }).find("'b'"), std::string::npos);
  EXPECT_EQ(table.add(Some{"c"}).front(), 1U);
  table.forget_from(0);
  EXPECT_EQ(table.add(Some{7}).front(), 0U);
}

TEST(KeyTable, KindsOfKeysDoNotMix) {
  KeyTable table;
  table.add(Some{3});
  EXPECT_NE(error_of([&] { table.add(Some{"a"}); }).find("integer, as 3"), std::string::npos);
  EXPECT_NE(error_of([&] { table.at("3"); }).find("'3'"), std::string::npos);
}

TEST(KeyTable, AnUnknownKeyIsNamed) {
  KeyTable table;
  table.add(Some{3});
  EXPECT_NE(error_of([&] { table.at(4); }).find("key 4"), std::string::npos);
}

TEST(KeyTable, GroupsOfIntegersComeByValueAndKeepTheOrderWithin) {
  KeyTable table;
  table.add(Some{9, 5});
  const KeyGroups groups(table, Some{9, 5, 9});
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(table.key(groups[0].index), Key(5));
  EXPECT_EQ(std::vector(groups[1].places.begin(), groups[1].places.end()),
            (std::vector<std::size_t>{0, 2}));
}

TEST(KeyTable, GroupsOfTextsComeInTheOrderOfTheirAdding) {
  KeyTable table;
  table.add(Some{"z", "a"});
  const KeyGroups groups(table, Some{"a", "z"});
  EXPECT_EQ(table.key(groups[0].index), Key("z"));
}

}  // namespace
}  // namespace mxnet::kvstore
