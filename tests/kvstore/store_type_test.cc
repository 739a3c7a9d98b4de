// SPDX-License-Identifier: Apache-2.0
// What the names of stores say.
#include "kvstore/store_type.h"

#include <gtest/gtest.h>

#include "kvstore/stores.h"

namespace mxnet::kvstore {
namespace {

using testing_kvstore::error_of;

TEST(StoreType, NamesSayWhereSumsAreFormed) {
  for (const char* name : {"local", "local_update_cpu", "local_allreduce_cpu"})
    EXPECT_FALSE(parse_store_type(name).on_device) << name;
  for (const char* name : {"device", "local_allreduce_device", "dist_device_sync"})
    EXPECT_TRUE(parse_store_type(name).on_device) << name;
}

TEST(StoreType, NamesSayHowProcessesMeet) {
  EXPECT_FALSE(parse_store_type("device").distributed);
  EXPECT_TRUE(parse_store_type("dist_sync").distributed);
  EXPECT_FALSE(parse_store_type("dist_sync").async);
  EXPECT_TRUE(parse_store_type("dist_async").async);
  EXPECT_TRUE(parse_store_type("dist_sync_p3").sliced);
  EXPECT_TRUE(parse_store_type("p3").distributed);
}

TEST(StoreType, LetterCaseDoesNotMatter) {
  EXPECT_EQ(parse_store_type("Dist_SYNC").name, "dist_sync");
}

TEST(StoreType, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  const std::string error = error_of([] { parse_store_type("devise"); });
  EXPECT_NE(error.find("'devise'"), std::string::npos) << error;
  EXPECT_NE(error.find("device"), std::string::npos) << error;
}

}  // namespace
}  // namespace mxnet::kvstore
