// SPDX-License-Identifier: Apache-2.0
// What the library says of its operators is what existing programs read from the reference: names,
// aliases, arguments in order, type texts with defaults (tests/data/ops.json).
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "op/op_def.h"
#include "paths.h"

namespace mxnet {
namespace {

using Args = std::vector<std::pair<std::string, std::string>>;

struct Fact {
  std::vector<std::string> aliases;
  std::string key_var_num_args;
  Args args;
};

const std::map<std::string, Fact>& facts() {
  static const std::map<std::string, Fact> all = [] {
    std::map<std::string, Fact> facts;
    std::ifstream file(test_data("ops.json"));
    for (const auto& op : nlohmann::json::parse(file))
      facts[op.at("name")] = {op.at("aliases"), op.at("key_var_num_args"), op.at("args")};
    return facts;
  }();
  return all;
}

Args args_of(const OpDef& op) {
  Args args;
  for (const OpArg& arg : op.args()) args.emplace_back(arg.name, arg.type);
  for (const ParamField& field : op.schema().fields()) {
    if (field.listed) args.emplace_back(field.name, field.type);
  }
  return args;
}

// Operators that only gradients call, and those of tests.
bool is_internal(const std::string& name) {
  static const std::set<std::string> others{
      "_cast_like", "_contrib_backward_gradientmultiplier", "_npi_backward_ediff1d",
      "_reduce_mean_as", "_reduce_sum_as", "_sum_to_like", "_topk_take", "_npi_isin",
      "_sg_attention", "_sg_constant", "_sg_conv", "_sg_conv_weight", "_sg_dense", "_sg_pointwise",
      "_sg_rnn",
      // one operator where the release's Python has several
      "_adadelta_update", "_adamax_update", "_nadam_update"};
  return name.starts_with("_backward_") || name.starts_with("_test_") ||
         name.starts_with("_sg_onednn_") || others.contains(name);
}

std::string text_of(const Args& args) {
  std::string text;
  for (const auto& [name, type] : args) text += "  " + name + ": " + type + "\n";
  return text;
}

TEST(OpInfo, ArgumentsEqualTheReference) {
  for (const OpDef* op : Registry::get().ops()) {
    const auto fact = facts().find(op->name());
    if (fact == facts().end()) continue;
    EXPECT_EQ(text_of(args_of(*op)), text_of(fact->second.args)) << op->name();
    EXPECT_EQ(op->key_var_num_args(), fact->second.key_var_num_args) << op->name();
  }
}

TEST(OpInfo, AliasesNameTheSameOperator) {
  for (const auto& [name, fact] : facts()) {
    const OpDef* op = Registry::get().find(name);
    if (op == nullptr) continue;
    EXPECT_EQ(op->name(), name);
    for (const std::string& alias : fact.aliases)
      EXPECT_EQ(Registry::get().find(alias), op) << alias;
    for (const std::string& alias : op->aliases()) {
      EXPECT_NE(std::find(fact.aliases.begin(), fact.aliases.end(), alias), fact.aliases.end())
          << alias << " is not an alias of " << name;
    }
  }
}

TEST(OpInfo, NothingElseHasAPublicName) {
  for (const OpDef* op : Registry::get().ops())
    EXPECT_TRUE(facts().contains(op->name()) || is_internal(op->name())) << op->name();
}

TEST(OpInfo, EveryOperatorIsDescribed) {
  for (const OpDef* op : Registry::get().ops()) {
    if (op->name().starts_with("_test_")) continue;
    EXPECT_FALSE(op->doc().empty()) << op->name();
    for (const OpArg& arg : op->args())
      EXPECT_FALSE(arg.doc.empty()) << op->name() << ' ' << arg.name;
    for (const ParamField& field : op->schema().fields())
      EXPECT_FALSE(field.doc.empty()) << op->name() << ' ' << field.name;
  }
}

TEST(OpInfo, CountsWhatIsPresent) {
  std::size_t ops = 0, aliases = 0, all_aliases = 0;
  for (const auto& [name, fact] : facts()) {
    all_aliases += fact.aliases.size();
    if (Registry::get().find(name) == nullptr) continue;
    ++ops;
    for (const std::string& alias : fact.aliases) aliases += Registry::get().find(alias) != nullptr;
  }
  std::printf("operators present: %zu of %zu, aliases: %zu of %zu\n", ops, facts().size(), aliases,
              all_aliases);
  EXPECT_EQ(facts().size(), 611u);
  EXPECT_EQ(all_aliases, 281u);
  EXPECT_GT(ops, 0u);
}

}  // namespace
}  // namespace mxnet
