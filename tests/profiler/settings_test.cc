// SPDX-License-Identifier: Apache-2.0
// The keys of set_config, their defaults, and what is refused.
#include "profiler/settings.h"
#include "base/config.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace mxnet::profiler {
namespace {

Settings parse(std::initializer_list<KeyValue> texts) {
  return parse_settings("F", std::span<const KeyValue>(texts.begin(), texts.size()));
}

std::string refusal(std::string_view key, std::string_view text) {
  try {
    parse({{key, text}});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kValue);
    EXPECT_EQ(error.tag(), "F");
    return error.message();
  }
  return "";
}

TEST(ProfilerSettings, DefaultsAreThoseOfTheRelease) {
  const Settings settings = parse({});
  EXPECT_EQ(settings.mode, unsigned{kModeAll});
  EXPECT_EQ(settings.file_name, "profile.json");
  EXPECT_TRUE(settings.continuous_dump);
  EXPECT_EQ(settings.dump_period, 1.0);
  EXPECT_FALSE(settings.aggregate_stats);
  EXPECT_FALSE(settings.server);
}

TEST(ProfilerSettings, BeforeAnyConfigurationTheModeIsTheEnvironments) {
  ProfilerConfig config;
  EXPECT_EQ(default_settings(config).mode, 13U);
  config.mode = 2;
  EXPECT_EQ(default_settings(config).mode, unsigned{kModeImperative});
}

TEST(ProfilerSettings, EachKindOfEventHasItsSwitch) {
  EXPECT_EQ(parse({{"profile_symbolic", "False"}}).mode, kModeAll & ~unsigned{kModeSymbolic});
  EXPECT_EQ(parse({{"profile_imperative", "0"}}).mode, kModeAll & ~unsigned{kModeImperative});
  EXPECT_EQ(parse({{"profile_api", "false"}}).mode, kModeAll & ~unsigned{kModeCCalls});
  EXPECT_EQ(parse({{"profile_memory", "False"}}).mode, kModeAll & ~unsigned{kModeMemory});
  EXPECT_EQ(parse({{"profile_memory", "False"}, {"profile_all", "True"}}).mode, unsigned{kModeAll});
}

TEST(ProfilerSettings, TheOthersAreStored) {
  const Settings settings = parse({{"filename", "/tmp/x y.json"},
                                   {"continuous_dump", "False"},
                                   {"dump_period", "0.25"},
                                   {"aggregate_stats", "1"},
                                   {"profile_process", "server"}});
  EXPECT_EQ(settings.file_name, "/tmp/x y.json");
  EXPECT_FALSE(settings.continuous_dump);
  EXPECT_EQ(settings.dump_period, 0.25);
  EXPECT_TRUE(settings.aggregate_stats);
  EXPECT_TRUE(settings.server);
}

TEST(ProfilerSettings, WhatIsRefusedNamesWhatIsAllowed) {
  EXPECT_EQ(refusal("profile_gpu", "1"),
            "given the key 'profile_gpu', expected one of filename, profile_all, profile_symbolic, "
            "profile_imperative, profile_memory, profile_api, continuous_dump, dump_period, "
            "aggregate_stats, profile_process");
  EXPECT_EQ(refusal("profile_all", "maybe"), "given profile_all = 'maybe', expected True or False");
  for (const char* period : {"0", "-1", "nan", "inf", "1e99", "abc", "1s", ""})
    EXPECT_EQ(refusal("dump_period", period),
              std::string("given dump_period = '") + period + "', expected seconds, more than 0");
  EXPECT_EQ(refusal("filename", ""), "given filename = '', expected the path of a file");
  EXPECT_EQ(refusal("profile_process", "zz"),
            "given profile_process = 'zz', expected worker or server");
}

}  // namespace
}  // namespace mxnet::profiler
