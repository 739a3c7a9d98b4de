// SPDX-License-Identifier: Apache-2.0
// Rows that save memory, and what is expected of them: none makes a plan larger, alone or beside
// any other row.
#pragma once
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "setting.h"

namespace mxnet::plan_savings {

using Row = std::pair<const char*, std::string>;
using Bytes = std::function<std::size_t()>;

// Rows that save memory, with budgets of which some are kept without doing anything and some never.
inline std::vector<Row> saving_rows(std::size_t plain) {
  return {{"MXNET_BACKWARD_DO_MIRROR", "1"},
          {"MXNET_MEMORY_OPT", "1"},
          {"MXNET_BACKWARD_MIRROR_BUDGET", "1"},
          {"MXNET_BACKWARD_MIRROR_BUDGET", std::to_string(1 + plain * 6 / 10)},
          {"MXNET_BACKWARD_MIRROR_BUDGET", std::to_string(1 + plain * 9 / 10)},
          {"MXNET_BACKWARD_MIRROR_BUDGET", std::to_string(2 * plain + 1)},
          {"NNVM_AUTO_SEARCH_MATCH_RANGE", "1"}};
}

// What else changes a plan, most of it to the worse.
inline const std::vector<Row> kOtherRows = {
    {"MXNET_EXEC_ENABLE_INPLACE", "0"},   {"NNVM_EXEC_MATCH_RANGE", "0"},
    {"NNVM_EXEC_MATCH_RANGE", "2"},       {"MXNET_USE_FUSION", "0"},
    {"MXNET_EXEC_BULK_EXEC_TRAIN", "0"},  {"MXNET_SUBGRAPH_BACKEND", "NONE"},
    {"MXNET_ELIMINATE_COMMON_EXPR", "0"}, {"MXNET_EXEC_NUM_TEMP", "2"}};

inline std::string text_of(const Row& row) { return std::string(row.first) + "=" + row.second; }

// Bytes of a plan with rows that are set; each set of rows is planned once.
class PlanBytes {
 public:
  explicit PlanBytes(Bytes bytes) : bytes_(std::move(bytes)) {}

  std::size_t with(const std::vector<Row>& rows) {
    std::set<std::string> key;
    for (const Row& row : rows) key.insert(text_of(row));
    const auto [known, is_new] = known_.try_emplace(std::move(key));
    if (is_new) {
      std::deque<Setting> settings;
      for (const Row& row : rows) settings.emplace_back(row.first, row.second);
      known->second = bytes_();
    }
    return known->second;
  }

 private:
  const Bytes bytes_;
  std::map<std::set<std::string>, std::size_t> known_;
};

// Each row that saves memory, beside each of `others`.
inline void expect_savings(PlanBytes& bytes, const std::vector<Row>& others) {
  for (const Row& other : others) {
    const std::size_t without = bytes.with({other});
    for (const Row& saving : saving_rows(without)) {
      if (saving.first == std::string_view(other.first)) continue;
      EXPECT_LE(bytes.with({other, saving}), without)
          << text_of(saving) << " beside " << text_of(other);
    }
  }
}

// Each of them alone, beside each other one, and beside some other row; and what is on by default
// is worth it.
inline void expect_savings(PlanBytes bytes, std::size_t round) {
  const std::size_t plain = bytes.with({});
  for (const Row& saving : saving_rows(plain))
    EXPECT_LE(bytes.with({saving}), plain) << text_of(saving);
  EXPECT_LE(bytes.with({{"MXNET_MEMORY_OPT", "1"}}),
            bytes.with({{"MXNET_BACKWARD_DO_MIRROR", "1"}}));
  for (const char* name :
       {"MXNET_USE_FUSION", "MXNET_EXEC_ENABLE_INPLACE", "NNVM_EXEC_MATCH_RANGE"}) {
    EXPECT_LE(plain, bytes.with({{name, "0"}})) << name;
  }
  expect_savings(bytes, saving_rows(plain));
  expect_savings(bytes, {kOtherRows[round % kOtherRows.size()]});
}

}  // namespace mxnet::plan_savings
