// SPDX-License-Identifier: Apache-2.0
// One test a row, generated from the table: a new row is tested the moment it is written.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/config.h"
#include "base/config_resolve.h"
#include "base/config_row.h"
#include "base/error.h"
#include "paths.h"

namespace mxnet {
namespace {

std::vector<const Row*> all_rows() {
  std::vector<const Row*> rows;
  for (const auto& row : config_rows()) rows.push_back(row.get());
  return rows;
}

class ConfigRow : public ::testing::TestWithParam<const Row*> {
 protected:
  const Row& row() const { return *GetParam(); }
};

TEST_P(ConfigRow, DefaultIsAcceptedAndIsWhatAnUntouchedConfigHolds) {
  const std::string text(default_text(row().name));
  // An empty default is the empty list or text; given in the environment it
  // means unset, so it need not be accepted.
  EXPECT_TRUE(row().accepts(text)) << quote_text(text);
  Config stored;
  row().store(text, stored);
  EXPECT_EQ(row().print(Config()), row().print(stored));
}

// A text that no row of this type accepts.
std::string nonsense_for(const Row& row) {
  return std::string(row.type()) == "text" ? "\xff" : "\x01nonsense";
}

TEST_P(ConfigRow, RejectsNonsenseNamingVariableValueAndAllowed) {
  const std::string bad = nonsense_for(row());
  if (row().allowed() == ConfigText<std::string>::syntax()) {  // any bytes
    EXPECT_TRUE(row().accepts(bad));
    return;
  }
  try {
    resolve({{row().name, bad}});
    FAIL() << "accepted " << quote_text(bad);
  } catch (const Error& error) {
    EXPECT_NE(error.message().find(row().name), std::string::npos);
    EXPECT_NE(error.message().find(quote_text(bad)), std::string::npos);
    EXPECT_NE(error.message().find(row().allowed()), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConfigRow, ::testing::ValuesIn(all_rows()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(ConfigRows, NamesFieldsAndPlacesAreUnique) {
  std::set<std::string> names, fields;
  std::set<size_t> places;
  for (const Row* row : all_rows()) {
    EXPECT_TRUE(names.insert(row->name).second) << row->name;
    EXPECT_TRUE(fields.insert(std::string(row->section) + "." + row->field).second) << row->name;
    EXPECT_TRUE(places.insert(row->offset()).second) << row->name;
    for (const std::string& spelling : spellings_of(*row))
      EXPECT_TRUE(names.insert(spelling).second) << spelling;
  }
}

TEST(ConfigRows, EachSaysWhatItIs) {
  for (const Row* row : all_rows()) {
    EXPECT_NE(row->allowed(), "") << row->name;
    EXPECT_GT(std::string(row->doc).size(), 10u) << row->name;
    EXPECT_TRUE(std::string(row->doc).ends_with('.')) << row->name << ": " << row->doc;
    EXPECT_NE(std::string(row->effect.note), "")
        << row->name << ": who obeys it, or why nobody does";
  }
}

TEST(ConfigRows, EachIsReachedThroughItsNameAndSpellings) {
  for (const Row* row : all_rows()) {
    EXPECT_EQ(find_row(row->name), row);
    for (const std::string& spelling : spellings_of(*row))
      EXPECT_EQ(find_row(spelling), row) << spelling;
  }
}

TEST(ConfigRows, ADefaultNamesAnExistingRow) {
  for (const Row* row : all_rows()) {
    if (row->default_source().empty()) continue;
    const Row* leader = find_row(row->default_source());
    ASSERT_NE(leader, nullptr) << row->name;
    EXPECT_TRUE(leader->default_source().empty())
        << row->name << ": one step, so that order does not matter";
    EXPECT_STREQ(leader->type(), row->type());
  }
}

// Of every source of tests: path below tests/ and text.
const std::map<std::string, std::string>& texts_of_tests() {
  static const auto all = [] {
    std::map<std::string, std::string> texts;
    const auto root = std::filesystem::path(test_path("data")).parent_path();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cc" && extension != ".py" && extension != ".h") continue;
      std::ifstream file(entry.path());
      texts[entry.path().lexically_relative(root)] =
          std::string(std::istreambuf_iterator<char>(file), {});
    }
    return texts;
  }();
  return all;
}

// The texts with "Suite.Name" of every gtest, and "function" of every pytest.
std::multimap<std::string, const std::string*> named_tests() {
  std::multimap<std::string, const std::string*> tests;
  for (const auto& [path, text] : texts_of_tests()) {
    for (size_t at = 0; (at = text.find("TEST", at)) != std::string::npos; ++at) {
      const size_t open = text.find('(', at), comma = text.find(',', at),
                   close = text.find(')', at);
      if (close == std::string::npos || open > at + 6 || comma > close) continue;
      const size_t name = text.find_first_not_of(" \n", comma + 1);
      tests.emplace(text.substr(open + 1, comma - open - 1) + "." + text.substr(name, close - name),
                    &text);
    }
    for (size_t at = 0; (at = text.find("\ndef test_", at)) != std::string::npos; ++at) {
      tests.emplace(text.substr(at + 5, text.find('(', at) - at - 5), &text);
    }
  }
  return tests;
}

bool has_word(const std::string& text, const std::string& word) {
  const auto part = [&text](size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) {
    if (!(at > 0 && part(at) && part(at - 1)) && !part(at + word.size())) return true;
  }
  return false;
}

// No row is shown as active without a test of the behaviour that it changes.
TEST(ConfigRows, AnActiveRowNamesATestThatExists) {
  const auto tests = named_tests();
  ASSERT_TRUE(tests.contains("ConfigRows.AnActiveRowNamesATestThatExists"));
  for (const Row* row : all_rows()) {
    if (row->effect.kind != Effect::kActive) continue;
    EXPECT_TRUE(tests.contains(row->effect.note)) << row->name << ": no test " << row->effect.note;
  }
}

// Nor where that test shows a behaviour that the row need not reach: the test's file uses the
// variable or the field that it fills, or another test sets the variable. Tests of the table, which
// set rows whatever they do, do not count.
TEST(ConfigRows, AnActiveRowIsSetByATest) {
  // What only a GPU shows: the second stream of a convolution's gradients.
  const std::set<std::string> without{"MXNET_GPU_WORKER_NSTREAMS"};
  const auto tests = named_tests();
  for (const Row* row : all_rows()) {
    if (row->effect.kind != Effect::kActive) continue;
    const std::string name = row->name, field = row->field;
    bool set = false;
    const auto [first, last] = tests.equal_range(row->effect.note);
    for (auto test = first; test != last; ++test) {
      const std::string& text = *test->second;
      set |= has_word(text, name) || has_word(text, "." + field) || has_word(text, "->" + field);
    }
    for (const auto& [path, text] : texts_of_tests())
      set |= !path.starts_with("base/") && has_word(text, name);
    EXPECT_EQ(set, !without.contains(name)) << name << ": not set by " << row->effect.note;
  }
}

}  // namespace
}  // namespace mxnet
