// SPDX-License-Identifier: Apache-2.0
// The process's configuration as the C ABI and Python see it, from the real environment of this
// program and of children started with a bad one.
#include "base/config_table.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/config.h"
#include "base/config_resolve.h"
#include "base/config_row.h"
#include "base/error.h"

namespace mxnet {
namespace {

nlohmann::json row_of(const std::string& name) {
  for (const auto& row : nlohmann::json::parse(config_to_json())) {
    if (row.at("name") == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return {};
}

TEST(ConfigTable, JsonHasARowForEachWithAllItsColumns) {
  const auto table = nlohmann::json::parse(config_to_json());
  ASSERT_EQ(table.size(), config_rows().size());
  for (const auto& row : table) {
    for (const char* column : {"name", "section", "field", "type", "default", "allowed", "when",
                               "value", "source", "spelling", "effect", "note", "doc"}) {
      EXPECT_TRUE(row.at(column).is_string()) << row.at("name") << " " << column;
    }
    EXPECT_TRUE(row.at("aliases").is_array());
  }
}

TEST(ConfigTable, JsonFollowsALiveChange) {
  EXPECT_EQ(row_of("MXNET_ENGINE_INFO").at("source"), "default");
  config_set("MXNET_ENGINE_INFO", "true");
  const auto row = row_of("MXNET_ENGINE_INFO");
  EXPECT_EQ(row.at("value"), "1");
  EXPECT_EQ(row.at("source"), "set");
  EXPECT_EQ(row.at("when"), "live");
  EXPECT_EQ(config_get("MXNET_ENGINE_INFO"), "1");
  EXPECT_TRUE(config().engine.info);
  config_set("MXNET_ENGINE_INFO", std::nullopt);
  EXPECT_EQ(row_of("MXNET_ENGINE_INFO").at("source"), "default");
}

TEST(ConfigTable, AliasesAreListedWithTheirRow) {
  EXPECT_EQ(row_of("MXNET_ONEDNN_ENABLED").at("aliases"), nlohmann::json({"MXNET_MKLDNN_ENABLED"}));
  EXPECT_EQ(row_of("MXNET_DISABLE_ONEDNN_FC_SUM").at("aliases"),
            nlohmann::json({"MXNET_DISABLE_MKLDNN_FC_SUM", "MXNET_DISABLE_DNNL_FC_SUM"}));
}

TEST(ConfigTable, GettingAnUnknownNameSuggests) {
  try {
    config_get("MXNET_ENGINE_TIPE");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("did you mean MXNET_ENGINE_TYPE"), std::string::npos);
  }
}

TEST(ConfigTable, SnapshotIsTheEnvironment) {
  const EnvSnapshot snapshot = snapshot_environment();
  const char* path = ::getenv("PATH");
  ASSERT_NE(path, nullptr);
  EXPECT_EQ(snapshot.at("PATH"), path);
  EXPECT_EQ(config_variable("PATH"), path);
}

// Runs this very program again, as `name=value test --gtest_filter=ConfigChild.*`, and
// returns what it wrote to standard output and error together. ConfigChild uses the
// process's configuration like any first caller.
std::string child_output(const std::string& name, const std::string& value) {
  int fds[2];
  EXPECT_EQ(::pipe(fds), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(fds[1], 1);
    ::dup2(fds[1], 2);
    ::setenv(name.c_str(), value.c_str(), 1);
    for (const char* part : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) ::unsetenv(part);
    ::execl("/proc/self/exe", "config_test", "--gtest_filter=ConfigChild.*",
            "--gtest_also_run_disabled_tests", nullptr);
    ::_exit(127);
  }
  ::close(fds[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(fds[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  ::close(fds[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << text;
  return text;
}

// What the tests below run as a child. Reports twice, so that a
// failure that is not kept would show.
TEST(ConfigChild, Reports) {
  for (int i = 0; i < 2; ++i) {
    try {
      const Config& c = config();
      std::cout << "engine " << static_cast<int>(c.engine.type) << '\n';
      EXPECT_EQ(config_if_resolved(), &c);
    } catch (const Error& error) {
      std::cout << "error " << i << ' ' << error.message() << '\n';
      EXPECT_EQ(config_if_resolved(), nullptr);
    }
  }
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

TEST(ConfigEnvironment, IsReadByTheFirstCall) {
  EXPECT_EQ(count(child_output("MXNET_ENGINE_TYPE", "NaiveEngine"), "engine 0"), 2u);
}

TEST(ConfigEnvironment, ABadValueFailsEveryCall) {
  const std::string text = child_output("MXNET_ENGINE_TYPE", "Foo");
  const std::string message = "MXNET_ENGINE_TYPE: given \"Foo\", expected NaiveEngine";
  EXPECT_EQ(count(text, "error 0 " + message), 1u) << text;
  EXPECT_EQ(count(text, "error 1 " + message), 1u) << text;
}

TEST(ConfigEnvironment, AnUnknownNameIsLoggedOnce) {
  const std::string text = child_output("MXNET_ENGIN_TYPE", "NaiveEngine");
  EXPECT_EQ(count(text, "did you mean MXNET_ENGINE_TYPE?"), 1u) << text;
  EXPECT_EQ(count(text, "engine 2"), 2u) << text;
}

TEST(ConfigEnvironment, AHugeValueFailsWithAShortMessage) {
  // The kernel takes at most 128 KiB for one string of an exec.
  const std::string text = child_output("MXNET_HOME", std::string(100'000, '\xff'));
  EXPECT_EQ(count(text, "(100000 bytes), expected UTF-8 text of at most 65536 bytes"), 2u) << text;
}

}  // namespace
}  // namespace mxnet
