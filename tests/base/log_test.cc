// SPDX-License-Identifier: Apache-2.0
// What arrives on stderr, and in how many writes.
#include "base/log.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/config.h"
#include "base/config_table.h"

namespace mxnet {
namespace {

// While it lives, stderr is a socket that keeps the borders between writes: one packet a write.
class CapturedStderr {
 public:
  CapturedStderr() : saved_(::dup(STDERR_FILENO)) {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends_), 0);
    ::dup2(ends_[0], STDERR_FILENO);
  }
  ~CapturedStderr() {
    restore();
    ::close(ends_[1]);
    ::close(saved_);
  }
  std::vector<std::string> writes() {
    restore();
    std::vector<std::string> all;
    std::vector<char> buffer(1 << 18);
    for (;;) {
      const ssize_t got = ::recv(ends_[1], buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got <= 0) return all;
      all.emplace_back(buffer.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  void restore() {
    if (ends_[0] < 0) return;
    ::dup2(saved_, STDERR_FILENO);
    ::close(ends_[0]);
    ends_[0] = -1;
  }
  int saved_;
  int ends_[2];
};

class Log : public testing::Test {
 protected:
  void SetUp() override { config(); }
  void TearDown() override { config_set("MXNET_LOG_LEVEL", std::nullopt); }
};

TEST_F(Log, LineHasTimeFileLineAndLevel) {
  CapturedStderr captured;
  log(LogLevel::kWarning, "low on memory");
  const auto writes = captured.writes();
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].substr(0, 1), "[");
  EXPECT_EQ(writes[0].substr(9, 2), "] ");
  EXPECT_NE(writes[0].find("tests/base/log_test.cc:"), std::string::npos) << writes[0];
  EXPECT_TRUE(writes[0].ends_with(": W low on memory\n")) << writes[0];
}

TEST_F(Log, SeveralLinesAreOneWrite) {
  CapturedStderr captured;
  log(LogLevel::kInfo, "one\ntwo\nthree\n");
  const auto writes = captured.writes();
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_TRUE(writes[0].ends_with("I one\ntwo\nthree\n")) << writes[0];
}

TEST_F(Log, LongMessagesArriveWhole) {
  const std::string message(100'000, 'x');
  CapturedStderr captured;
  log(LogLevel::kInfo, message);
  const auto writes = captured.writes();
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_TRUE(writes[0].ends_with(message + "\n"));
}

TEST_F(Log, LevelDropsWhatIsBelow) {
  config_set("MXNET_LOG_LEVEL", "error");
  CapturedStderr captured;
  log(LogLevel::kInfo, "no");
  log(LogLevel::kWarning, "no");
  log(LogLevel::kError, "yes");
  const auto writes = captured.writes();
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_TRUE(writes[0].ends_with("E yes\n"));
}

TEST_F(Log, OffDropsEverything) {
  config_set("MXNET_LOG_LEVEL", "off");
  CapturedStderr captured;
  log(LogLevel::kError, "no");
  log(LogLevel::kOff, "no");
  EXPECT_TRUE(captured.writes().empty());
}

TEST_F(Log, ThreadsDoNotMixTheirLines) {
  constexpr int kThreads = 4, kLines = 50;
  CapturedStderr captured;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kLines; ++i)
        log(LogLevel::kInfo, std::string(50, static_cast<char>('a' + t)));
    });
  }
  for (auto& thread : threads) thread.join();
  const auto writes = captured.writes();
  ASSERT_EQ(writes.size(), static_cast<std::size_t>(kThreads * kLines));
  for (const auto& line : writes) {
    const std::string tail = line.substr(line.size() - 51);
    EXPECT_EQ(tail, std::string(50, tail[0]) + "\n");
  }
}

TEST_F(Log, KeepsErrnoAndSurvivesAClosedStderr) {
  const int saved = ::dup(STDERR_FILENO);
  ::close(STDERR_FILENO);
  errno = ENOENT;
  log(LogLevel::kError, "nobody reads this");
  EXPECT_EQ(errno, ENOENT);
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
}

}  // namespace
}  // namespace mxnet
