// SPDX-License-Identifier: Apache-2.0
// The file under its name is a whole document at every moment.
#include "profiler/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "trace.h"

namespace mxnet::profiler_test {
namespace {

using profiler::TraceFile;

constexpr const char* kHead = "[0";
constexpr const char* kTail = "]\n";

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool exists(const std::string& path) {
  struct stat ignored;
  return ::stat(path.c_str(), &ignored) == 0;
}

std::string hidden(const std::string& path) {
  return path + "." + std::to_string(::getpid()) + ".part";
}

TEST(TraceFile, EachAppendAddsToWhatWasThere) {
  TemporaryFile temporary;
  TraceFile file(temporary.path, kHead);
  file.append("", kTail);
  EXPECT_EQ(content(temporary.path), "[0]\n");
  std::string expected = "[0";
  for (int i = 1; i < 20; ++i) {
    const std::string text = "," + std::string(static_cast<std::size_t>(i), '1');
    expected += text;
    file.append(text, kTail);
    EXPECT_EQ(content(temporary.path), expected + kTail);
  }
}

TEST(TraceFile, AShorterTailLeavesNothingOfALongerOne) {
  TemporaryFile temporary;
  TraceFile file(temporary.path, kHead);
  for (const char* tail : {",12345678]", "]", ",123]", "]"}) {
    file.append("", tail);
    EXPECT_EQ(content(temporary.path), std::string("[0") + tail);
  }
}

TEST(TraceFile, WhatAnEarlierProcessLeftIsReplaced) {
  TemporaryFile temporary;
  std::ofstream(temporary.path) << "something long and old";
  TraceFile file(temporary.path, kHead);
  file.append(",1", kTail);
  EXPECT_EQ(content(temporary.path), "[0,1]\n");
  file.append(",2", kTail);
  EXPECT_EQ(content(temporary.path), "[0,1,2]\n");
}

TEST(TraceFile, ItComesBackWholeAfterSomebodyRemovedOrReplacedIt) {
  TemporaryFile temporary;
  TraceFile file(temporary.path, kHead);
  file.append(",1", kTail);
  file.append(",2", kTail);
  ::unlink(temporary.path.c_str());
  file.append(",3", kTail);
  EXPECT_EQ(content(temporary.path), "[0,1,2,3]\n");
  ::unlink(temporary.path.c_str());
  std::ofstream(temporary.path) << "of somebody else";
  file.append(",4", kTail);
  EXPECT_EQ(content(temporary.path), "[0,1,2,3,4]\n");
}

TEST(TraceFile, TheHiddenFileGoesAtTheEnd) {
  TemporaryFile temporary;
  {
    TraceFile file(temporary.path, kHead);
    for (int i = 0; i < 3; ++i) file.append(",1", kTail);
    EXPECT_TRUE(exists(hidden(temporary.path)));
  }
  EXPECT_FALSE(exists(hidden(temporary.path)));
  EXPECT_EQ(content(temporary.path), "[0,1,1,1]\n");
}

TEST(TraceFile, AProgramMayChangeItsWorkingDirectory) {
  const std::filesystem::path before = std::filesystem::current_path();
  TemporaryFile temporary;
  const std::filesystem::path whole = temporary.path;
  std::filesystem::current_path(whole.parent_path());
  {
    TraceFile file(whole.filename(), kHead);
    file.append(",1", kTail);
    std::filesystem::current_path("/");
    for (int i = 2; i < 5; ++i) file.append("," + std::to_string(i), kTail);
  }
  std::filesystem::current_path(before);
  EXPECT_EQ(content(whole), "[0,1,2,3,4]\n");
  EXPECT_FALSE(exists(hidden(whole)));
}

TEST(TraceFile, AnAbandonedOneTouchesNothing) {
  TemporaryFile temporary;
  {
    TraceFile file(temporary.path, kHead);
    for (int i = 0; i < 2; ++i) file.append(",1", kTail);
    file.abandon();
  }
  EXPECT_TRUE(exists(hidden(temporary.path)));
  EXPECT_EQ(content(temporary.path), "[0,1,1]\n");
  ::unlink(hidden(temporary.path).c_str());
}

TEST(TraceFile, WhatIsNoFileStaysAndIsGivenWhatIsNew) {
  TemporaryFile temporary;
  ::unlink(temporary.path.c_str());
  ASSERT_EQ(::mkfifo(temporary.path.c_str(), 0600), 0);
  const int reader = ::open(temporary.path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  {
    TraceFile file(temporary.path, kHead);
    for (const char* text : {",1", ",2"}) {
      file.append(text, kTail);
      char got[64];
      const ssize_t size = ::read(reader, got, sizeof(got));
      ASSERT_GT(size, 0);
      EXPECT_EQ(std::string(got, static_cast<std::size_t>(size)),
                std::string(kHead) + text + kTail);
    }
  }
  ::close(reader);
  struct stat there;
  ASSERT_EQ(::stat(temporary.path.c_str(), &there), 0);
  EXPECT_TRUE(S_ISFIFO(there.st_mode));
  EXPECT_FALSE(exists(hidden(temporary.path)));
}

TEST(TraceFile, AFolderThatIsNotThereIsAnErrorWithThePath) {
  TraceFile file("/nowhere/at/all.json", kHead);
  try {
    file.append(",1", kTail);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kGeneric);
    EXPECT_NE(error.message().find("/nowhere/at/all.json"), std::string::npos) << error.what();
  }
}

// At every moment of one append: the second one after a file was opened writes to it again.
TEST(TraceFile, AReaderFindsAWholeDocumentAtEveryMoment) {
  constexpr int kAppends = 60;
  TemporaryFile temporary;
  TraceFile file(temporary.path, kHead);
  file.append("", kTail);
  std::atomic<int> reads{0}, torn{0};
  std::atomic<bool> done{false};
  std::thread reader([&] {
    std::size_t last = 0;
    while (!done) {
      const Json document = Json::parse(content(temporary.path), nullptr, false);
      if (document.is_discarded() || document.size() < last) ++torn;
      last = document.size();
      ++reads;
      reads.notify_one();
    }
  });
  for (int i = 0; i < kAppends; ++i) {
    std::string text;
    for (int k = 0; k < 100; ++k) text += ",\n" + std::to_string(i * 100 + k);
    file.append(text, kTail);
    reads.wait(reads);  // until who reads now has ended
  }
  done = true;
  reader.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(Json::parse(content(temporary.path)).size(), 100U * kAppends + 1);
}

}  // namespace
}  // namespace mxnet::profiler_test
