// SPDX-License-Identifier: Apache-2.0
// Crashes in child processes: what they print and what they die of.
#include "base/fatal_signal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace mxnet {
namespace {

// Sanitizers put handlers of their own behind ours, which exit instead of dying of the signal.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

struct DiesOf {
  int signal;
  bool operator()(int status) const {
    return (WIFSIGNALED(status) && WTERMSIG(status) == signal) || (kSanitized && status != 0);
  }
};

void prepare() {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  install_fatal_signal_handler();
}

volatile int* volatile g_null = nullptr;
int volatile g_zero = 0;

// The undefined-behaviour sanitizer would end these before the processor does.
[[gnu::noinline, gnu::no_sanitize("undefined")]] void write_to_null() {
  *g_null = 1;
  asm volatile("" ::: "memory");
}

volatile bool g_endless =
    true;  // read anew at each step: the compiler cannot know that it never ends

[[gnu::noinline]] int recurse_without_end() {
  volatile char room[4096];
  room[0] = 1;
  return g_endless ? recurse_without_end() + room[0] : 0;
}

[[gnu::noinline]] void call_abort() {
  std::abort();
  asm volatile("" ::: "memory");
}

[[gnu::noinline, gnu::no_sanitize("undefined")]] void divide_by_zero() {
  g_zero = 100 / g_zero;
  asm volatile("" ::: "memory");
}

void (*volatile g_nowhere)() = reinterpret_cast<void (*)()>(16);

[[gnu::noinline]] void jump_into_nowhere() {
  g_nowhere();
  asm volatile("" ::: "memory");
}

class FatalSignalDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(FatalSignalDeathTest, SegmentationFaultPrintsItsFunctionAndKeepsTheSignal) {
  EXPECT_EXIT(
      {
        prepare();
        write_to_null();
      },
      DiesOf{SIGSEGV},
      "Fatal error: SIGSEGV at address 0x0 in thread .*\nStack trace:\n  \\[bt\\] \\(0\\) "
      ".*base_test"
      "\\(mxnet::\\(anonymous namespace\\)::write_to_null\\+0x");
}

TEST_F(FatalSignalDeathTest, AbortIsTraced) {
  EXPECT_EXIT(
      {
        prepare();
        call_abort();
      },
      DiesOf{SIGABRT}, "SIGABRT in thread (.*\n)*.*call_abort");
}

TEST_F(FatalSignalDeathTest, DivisionByZeroIsTraced) {
#if defined(__x86_64__)
  EXPECT_EXIT(
      {
        prepare();
        divide_by_zero();
      },
      DiesOf{SIGFPE}, "SIGFPE at address");
#else
  GTEST_SKIP() << "integer division does not trap here";
#endif
}

TEST_F(FatalSignalDeathTest, IllegalInstructionIsTraced) {
  EXPECT_EXIT(
      {
        prepare();
        __builtin_trap();
      },
      DiesOf{SIGILL}, "SIGILL at address");
}

TEST_F(FatalSignalDeathTest, SignalFromOutsideIsTracedAndKills) {
  EXPECT_EXIT(
      {
        prepare();
        ::kill(::getpid(), SIGBUS);
        ::pause();
      },
      DiesOf{SIGBUS}, "SIGBUS in thread");
}

TEST_F(FatalSignalDeathTest, StackOverflowIsTraced) {
  EXPECT_EXIT(
      {
        prepare();
        recurse_without_end();
      },
      DiesOf{SIGSEGV}, "recurse_without_end");
}

TEST_F(FatalSignalDeathTest, StackOverflowOfAWorkerIsTraced) {
  EXPECT_EXIT(
      {
        prepare();
        std::thread([] {
          use_alternate_signal_stack();
          recurse_without_end();
        }).join();
      },
      DiesOf{SIGSEGV}, "recurse_without_end");
}

TEST_F(FatalSignalDeathTest, JumpIntoNowhereIsReported) {
  EXPECT_EXIT(
      {
        prepare();
        jump_into_nowhere();
      },
      DiesOf{SIGSEGV},
      "SIGSEGV at address 0x10 .*\n.*\n.*\\(0\\) \\?\\(.*\n.*\\(1\\) .*jump_into_nowhere");
}

TEST_F(FatalSignalDeathTest, EarlierHandlerRunsAfterTheTrace) {
  EXPECT_EXIT(
      {
        struct sigaction earlier {};
        earlier.sa_handler = [](int) {
          [[maybe_unused]] auto n = ::write(STDERR_FILENO, "earlier handler\n", 16);
          ::_exit(7);
        };
        ::sigaction(SIGSEGV, &earlier, nullptr);
        prepare();
        write_to_null();
      },
      testing::ExitedWithCode(7), "write_to_null(.*\n)*earlier handler");
}

TEST_F(FatalSignalDeathTest, TwoThreadsThatCrashAtOnceEndTheProcess) {
  EXPECT_EXIT(
      {
        prepare();
        std::thread other(write_to_null);
        write_to_null();
        other.join();
      },
      DiesOf{SIGSEGV}, "Fatal error: SIGSEGV");
}

TEST(FatalSignal, InstallingTwiceChangesNothing) {
  install_fatal_signal_handler();
  struct sigaction first {
  }, second{};
  ::sigaction(SIGSEGV, nullptr, &first);
  install_fatal_signal_handler();
  ::sigaction(SIGSEGV, nullptr, &second);
  EXPECT_EQ(first.sa_sigaction, second.sa_sigaction);
}

TEST(FatalSignal, AlternateStackBelongsToTheThread) {
  std::thread([] {
    use_alternate_signal_stack();
    stack_t stack{};
    ASSERT_EQ(::sigaltstack(nullptr, &stack), 0);
    EXPECT_EQ(stack.ss_flags & SS_DISABLE, 0);
    EXPECT_GE(stack.ss_size, static_cast<std::size_t>(16 * 1024));
  }).join();
}

}  // namespace
}  // namespace mxnet
