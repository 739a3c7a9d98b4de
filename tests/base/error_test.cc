// SPDX-License-Identifier: Apache-2.0
// What an Error says and carries.
#include "base/error.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/config.h"
#include "base/config_table.h"
#include "base/source_path.h"

namespace mxnet {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// Errors of this test record their stack; the row is the process's, so it is put back.
class StackDepth {
 public:
  explicit StackDepth(int frames) {
    config();
    config_set("DMLC_LOG_STACK_TRACE_DEPTH", std::to_string(frames));
  }
  ~StackDepth() { config_set("DMLC_LOG_STACK_TRACE_DEPTH", std::nullopt); }
};

TEST(Error, TextIsClassNameTagAndMessage) {
  const Error error(ErrorCode::kValue, "softmax", "given axis 3, expected -2 to 1");
  EXPECT_STREQ(error.what(), "ValueError: [softmax] given axis 3, expected -2 to 1");
  EXPECT_EQ(error.code(), ErrorCode::kValue);
  EXPECT_EQ(error.tag(), "softmax");
  EXPECT_EQ(error.message(), "given axis 3, expected -2 to 1");
}

TEST(Error, WithoutTagHasNoBrackets) {
  EXPECT_STREQ(Error(ErrorCode::kGeneric, "no device").what(), "MXNetError: no device");
}

TEST(Error, EveryCodeNamesItsPythonClass) {
  EXPECT_STREQ(error_class_name(ErrorCode::kGeneric), "MXNetError");
  EXPECT_STREQ(error_class_name(ErrorCode::kValue), "ValueError");
  EXPECT_STREQ(error_class_name(ErrorCode::kType), "TypeError");
  EXPECT_STREQ(error_class_name(ErrorCode::kIndex), "IndexError");
  EXPECT_STREQ(error_class_name(ErrorCode::kAttribute), "AttributeError");
  EXPECT_STREQ(error_class_name(ErrorCode::kNotImplemented), "NotImplementedError");
  EXPECT_STREQ(error_class_name(ErrorCode::kOutOfMemory), "MXNetError");
  EXPECT_STREQ(error_class_name(ErrorCode::kInternal), "MXNetError");
}

TEST(Error, KnowsWhereItWasMade) {
  const int line = __LINE__ + 1;
  const Error error(ErrorCode::kType, "x");
  EXPECT_EQ(error.where().line(), static_cast<unsigned>(line));
  EXPECT_EQ(short_source_path(error.where().file_name()), "tests/base/error_test.cc");
}

TEST(Error, CopiesShareTheirText) {
  const Error first(ErrorCode::kGeneric, std::string(1000, 'x'));
  const Error second =
      first;  // NOLINT(performance-unnecessary-copy-initialization): what is tested
  EXPECT_EQ(first.what(), second.what());
}

TEST(Error, RetoldKeepsCodePlaceAndStackTrace) {
  const StackDepth depth(3);
  const Error first(ErrorCode::kType, "helper", "given x, expected y");
  const Error second = first.retold("relu", "helper: " + first.message());
  EXPECT_EQ(second.code(), ErrorCode::kType);
  EXPECT_EQ(second.tag(), "relu");
  EXPECT_EQ(second.where().line(), first.where().line());
  const auto trace = [](const Error& error) {
    const std::string text = error.what();
    return text.substr(text.find("\nStack trace:"));
  };
  EXPECT_TRUE(std::string(second.what()).starts_with("TypeError: [relu] helper: given x, "));
  EXPECT_EQ(trace(second), trace(first));
}

TEST(Error, FailedAssertionNamesExpressionAndPlace) {
  try {
    MX_ASSERT(1 + 1 == 3);
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInternal);
    EXPECT_EQ(error.message(), "assertion failed: 1 + 1 == 3");
    EXPECT_NE(std::string(error.what()).find("tests/base/error_test.cc:"), std::string::npos);
  }
}

TEST(StackTrace, IsAbsentAtDepthZero) {
  const StackDepth depth(0);
  EXPECT_EQ(std::string(Error(ErrorCode::kGeneric, "x").what()).find("Stack trace"),
            std::string::npos);
}

// A function that no dynamic table knows: it can only be named from the file's own symbols.
[[gnu::noinline]] Error made_by_a_hidden_function() {
  Error error(ErrorCode::kValue, "tag", "text");
  asm volatile("" ::: "memory");
  return error;
}

TEST(StackTrace, StartsAtTheThrowingFunctionAndHasAtMostNFrames) {
  const StackDepth depth(3);
  const std::string text = made_by_a_hidden_function().what();
  EXPECT_TRUE(text.starts_with("ValueError: [tag] text\nStack trace:\n  [bt] (0) ")) << text;
  EXPECT_EQ(count(text, "\n  [bt] ("), 3U) << text;
  const std::string first = text.substr(text.find("(0)"), text.find("(1)") - text.find("(0)"));
  EXPECT_NE(first.find("made_by_a_hidden_function"), std::string::npos) << text;
  EXPECT_NE(first.find("base_test("), std::string::npos) << text;
}

TEST(StackTrace, MessageDoesNotContainIt) {
  const StackDepth depth(5);
  EXPECT_EQ(made_by_a_hidden_function().message(), "text");
}

TEST(StackTrace, IsMadeByManyThreadsAtOnce) {
  const StackDepth depth(8);
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (auto& text : texts) {
    threads.emplace_back([&text] {
      for (int i = 0; i < 20; ++i) text = made_by_a_hidden_function().what();
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& text : texts)
    EXPECT_NE(text.find("made_by_a_hidden_function"), std::string::npos);
}

TEST(SourcePath, StartsAtTheRepositorysFolder) {
  EXPECT_EQ(short_source_path("/home/me/mx/src/engine/engine.cc"), "src/engine/engine.cc");
  EXPECT_EQ(short_source_path("../src/engine/engine.cc"), "src/engine/engine.cc");
  EXPECT_EQ(short_source_path("src/engine/engine.cc"), "src/engine/engine.cc");
  EXPECT_EQ(short_source_path("/opt/user/program.cc"), "program.cc");
  EXPECT_EQ(short_source_path("program.cc"), "program.cc");
}

}  // namespace
}  // namespace mxnet
