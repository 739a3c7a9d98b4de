// SPDX-License-Identifier: Apache-2.0
// The rows against tests/data/env-names.json, the list of variables that documentation and code of
// the reference know: names, ranges and defaults, computed here independently of the rows.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/config.h"
#include "base/config_row.h"
#include "paths.h"

namespace mxnet {
namespace {

struct Fact {
  std::string name, list, type, fallback, allowed;
  bool has_default;
};

nlohmann::json data() {
  std::ifstream file(test_data("env-names.json"));
  return nlohmann::json::parse(file);
}

std::vector<Fact> facts() {
  std::vector<Fact> all;
  const auto table = data();
  for (const auto& v : table.at("variables")) {
    all.push_back({v.at("name"), v.at("list"), v.value("type", ""), v.value("default", ""),
                   v.value("allowed", ""), v.contains("default")});
  }
  return all;
}

TEST(ConfigFacts, EveryNameIsARowOrASpellingOfOne) {
  size_t documented = 0, undocumented = 0, newer = 0;
  for (const Fact& fact : facts()) {
    EXPECT_NE(find_row(fact.name), nullptr) << fact.name;
    documented += fact.list == "documented";
    undocumented += fact.list == "undocumented_upstream";
    newer += fact.list == "additional_2.0";
  }
  EXPECT_EQ(documented, 95u);
  EXPECT_EQ(undocumented, 64u);
  EXPECT_EQ(newer, 23u);
}

TEST(ConfigFacts, OldAndNewSpellingsMeetInOneRow) {
  const auto pairs = data().at("aliases");
  EXPECT_EQ(pairs.size(), 12u);
  for (const auto& pair : pairs) {
    std::string one = pair.at(0), other = pair.at(1);
    for (std::string* name : {&one, &other}) {
      if (name->ends_with('*')) *name = name->substr(0, name->size() - 1) + "FUSE_CONV_BN";
    }
    EXPECT_NE(find_row(one), nullptr) << one;
    EXPECT_EQ(find_row(one), find_row(other)) << one << " " << other;
  }
}

// ">=N", "A..B", "power of two" and comma-separated numbers or names
// mean what they say at their very limits.
TEST(ConfigFacts, DocumentedRangesAreTheRowsRanges) {
  size_t checked = 0;
  for (const Fact& fact : facts()) {
    const Row& row = *find_row(fact.name);
    const auto accepts = [&](const std::string& text) { return row.accepts(text); };
    std::smatch m;
    if (std::regex_match(fact.allowed, m, std::regex(R"(>=(\d+).*)"))) {
      const int lo = std::stoi(m[1]);
      EXPECT_TRUE(accepts(std::to_string(lo))) << fact.name;
      EXPECT_FALSE(accepts(std::to_string(lo - 1))) << fact.name;
    } else if (std::regex_match(fact.allowed, m, std::regex(R"((\d+)\.\.(\d+).*)"))) {
      EXPECT_TRUE(accepts(m[1])) << fact.name;
      EXPECT_TRUE(accepts(m[2])) << fact.name;
      EXPECT_FALSE(accepts(std::to_string(std::stoi(m[1]) - 1))) << fact.name;
      EXPECT_FALSE(accepts(std::to_string(std::stoi(m[2]) + 1))) << fact.name;
    } else if (fact.allowed == "power of two") {
      EXPECT_TRUE(accepts("65536")) << fact.name;
      EXPECT_FALSE(accepts("65537")) << fact.name;
    } else if (std::regex_match(fact.allowed, std::regex(R"(\w+(,\w+)+)"))) {
      std::stringstream words(fact.allowed);
      for (std::string word; std::getline(words, word, ',');)
        EXPECT_TRUE(accepts(word)) << fact.name << "=" << word;
      for (const char* other : {"-1", "3", "Foo"})
        EXPECT_FALSE(accepts(other)) << fact.name << "=" << other;
    } else {
      continue;
    }
    ++checked;
  }
  EXPECT_GE(checked, 75u);
}

TEST(ConfigFacts, ListedDefaultsAreTheRowsDefaults) {
  // Defaults that the lists give in words or as code, or that DESIGN or a
  // later page of theirs decides otherwise.
  const std::set<std::string> in_words = {
      "DMLC_PS_VAN_TYPE",              // two different "none"
      "KMP_AFFINITY",                  // a suggestion
      "MXNET_CPU_MEM_POOL_PAGE_SIZE",  // "not stated": 4096, as the code for GPUs
      "MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE",
      "MXNET_GPU_MEM_POOL_PAGE_SIZE",
      "MXNET_CUDA_GRAPHS_DBG_FILE",
      "MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS",
      "MXNET_CUDNN_DISABLED_CONV_DGRAD_ENGINES",
      "MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES",
      "MXNET_CUDNN_DISABLED_CONV_WGRAD_ENGINES",
      "MXNET_CUDNN_HEUR_MODE",
      "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD",  // "=MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN"
      "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD",
      "MXNET_EXEC_MATCH_RANGE",  // 10 under its old name, 16 under the new one
      "LD_LIBRARY_PATH",         // "None"
      "MXNET_HOME",
      "MXNET_LIBRARY_PATH",
      "MXNET_OMP_MAX_THREADS",
      "MXNET_STORAGE_FALLBACK_LOG_VERBOSE",
      "MXNET_SUBGRAPH_BACKEND",
      "MXNET_TENSORRT_MAX_BATCH_SIZE",
      "MXNET_UPDATE_AGGREGATION_SIZE",
      "MXNET_USE_NUM_CORES_OPERATOR_TUNING",
      "MXNET_USE_OPERATOR_TUNING",
      "OMP_NUM_THREADS",
  };
  size_t checked = 0;
  for (const Fact& fact : facts()) {
    if (!fact.has_default || in_words.contains(fact.name)) continue;
    const Row& row = *find_row(fact.name);
    ASSERT_TRUE(row.accepts(fact.fallback)) << fact.name << " " << fact.fallback;
    Config listed;
    row.store(fact.fallback, listed);
    EXPECT_EQ(row.print(Config()), row.print(listed)) << fact.name;
    ++checked;
  }
  EXPECT_GE(checked, 120u);
}

}  // namespace
}  // namespace mxnet
