// SPDX-License-Identifier: Apache-2.0
// The process's engine across fork and exit.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "fixture.h"
#include "fork_under_load.h"
#include "hang.h"
#include "paths.h"

extern char** environ;

namespace mxnet::engine_test {
namespace {

constexpr int kForks = 200;
// Processes of each kind: 100, fewer where a sanitizer makes them slow.
constexpr int kExits = ENGINE_EXITS;

// Child: the engine works with variables from before the fork and with new ones.
int work_in_child(Var* inherited) {
  end_if_it_hangs();
  Engine& engine = Engine::get();
  int count = 0;
  const std::array<Var*, 1> old{inherited}, fresh{engine.new_variable()};
  for (int i = 0; i < 20; ++i) {
    engine.push([&](const RunContext&) { ++count; }, {.device = {}, .reads = {}, .writes = old});
    engine.push([](const RunContext&) {},
                {.device = {}, .reads = old, .writes = fresh, .cheap = i % 2 == 0});
  }
  engine.wait_for_all();
  return count == 20 ? 0 : 1;
}

TEST(EngineFork, ParentAndChildKeepWorkingAfterTwoHundredForksUnderLoad) {
  Engine& engine = Engine::get();
  Var* shared = engine.new_variable();
  ForkBesideSteps load;
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> pushed{0};
  uint64_t ran = 0;
  std::vector<std::thread> pushers;
  for (int t = 0; t < 2; ++t) {
    pushers.emplace_back([&, t] {
      int i = 0;
      while (!stop) {
        load.step([&] {
          engine.push(
              [&](const RunContext&) { ++ran; },
              {.device = {}, .reads = {}, .writes = {&shared, 1}, .cheap = (i + t) % 2 == 0});
          ++pushed;
          if (i++ % 64 == 0) engine.wait_for_var(shared);
        });
      }
    });
  }
  for (int i = 0; i < kForks; ++i) {
    const pid_t child = load.fork([&] { engine.wait_for_all(); });
    ASSERT_GE(child, 0);
    if (child == 0) _exit(work_in_child(shared));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "fork " << i << " ended by signal " << WTERMSIG(status);
    ASSERT_EQ(WEXITSTATUS(status), 0) << "fork " << i;
  }
  stop = true;
  for (std::thread& pusher : pushers) pusher.join();
  engine.wait_for_var(shared);
  EXPECT_EQ(ran, pushed);
  engine.delete_variable(shared, {});
}

TEST(EngineFork, AChildMayForkAgainAndExitNormally) {
  Engine& engine = Engine::get();
  Var* var = engine.new_variable();
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(work_in_child(var));
    int status = 0;
    waitpid(grandchild, &status, 0);
    _exit(work_in_child(var) + (WIFEXITED(status) ? WEXITSTATUS(status) : 50));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  engine.delete_variable(var, {});
}

// The status of the helper, its standard error thrown away.
int run_helper(const char* how) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = test_path("exit_helper"), argument = how;
  char* arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(error, 0);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

class EngineExit : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, EngineExit,
                         testing::Values("main", "thread", "thread-while-main-waits", "atexit",
                                         "library", "failure", "caught", "inside", "pushing",
                                         "bulk", "inside-bulk"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EngineExit, WithWorkInFlightNeitherHangsNorCrashes) {
  for (int i = 0; i < kExits; ++i) {
    const int status = run_helper(GetParam());
    ASSERT_TRUE(WIFEXITED(status)) << "repeat " << i << " ended by signal " << WTERMSIG(status);
    ASSERT_EQ(WEXITSTATUS(status), 0) << "repeat " << i;
  }
}

TEST(EngineExit, AfterAnUncaughtExceptionIsAnAbortAndNotAHang) {
  for (int i = 0; i < kExits; ++i) {
    const int status = run_helper("uncaught");
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_EQ(WTERMSIG(status), SIGABRT) << "repeat " << i;
  }
}

TEST(EngineExit, AnOperationThatNeverEndsDoesNotKeepTheProcess) {
  const int status = run_helper("stuck");
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace mxnet::engine_test
