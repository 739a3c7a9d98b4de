// SPDX-License-Identifier: Apache-2.0
// Configuration over time: resolved once, failed for good, live rows set while others read.
#include "base/config_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <latch>
#include <thread>

#include "base/config_table.h"
#include "fork_under_load.h"
#include "hang.h"

namespace mxnet {
namespace {

// A ConfigProcess over given variables that remembers its snapshots and warnings.
struct Process {
  Process(std::initializer_list<EnvSnapshot::value_type> given) : variables(given) {}
  EnvSnapshot variables;
  std::atomic<int> snapshots{0};
  std::vector<std::string> warnings;
  std::atomic<const Config*> published{nullptr};
  ConfigProcess config{[this] {
                         ++snapshots;
                         return variables;
                       },
                       [this](const std::string& line) {
                         config.config();  // the log does so, and must not deadlock
                         warnings.push_back(line);
                       },
                       published};
};

std::string failure(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kValue);
    return error.message();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(ConfigProcess, TakesOneSnapshotForAllThreads) {
  Process p{{"MXNET_SIM_GPUS", "2"}};
  EXPECT_EQ(p.published.load(), nullptr);
  constexpr int kThreads = 8;
  std::latch start(kThreads);
  std::vector<const Config*> seen(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        seen[static_cast<size_t>(i)] = &p.config.config();
      });
    }
  }
  for (const Config* one : seen) EXPECT_EQ(one, p.published.load());
  EXPECT_EQ(p.snapshots, 1);
  EXPECT_EQ(p.config.config().device.sim_gpus, 2);
}

TEST(ConfigProcess, AFailureIsTheSameAtEveryCall) {
  Process p{{"MXNET_ENGINE_TYPE", "Foo"}};
  const std::string first = failure([&] { p.config.config(); });
  p.variables.clear();
  EXPECT_EQ(failure([&] { p.config.config(); }), first);
  EXPECT_EQ(failure([&] { p.config.get("MXNET_SIM_GPUS"); }), first);
  EXPECT_EQ(failure([&] { p.config.set("MXNET_ENGINE_INFO", "1"); }), first);
  EXPECT_EQ(p.published.load(), nullptr);
  EXPECT_EQ(p.config.variable("MXNET_ENGINE_TYPE"), "Foo");
  EXPECT_EQ(p.snapshots, 1);
}

TEST(ConfigProcess, UnknownNamesWarnOnceAfterResolution) {
  Process p{{"MXNET_ENGIN_TYPE", "NaiveEngine"}};
  p.config.config();
  p.config.config();
  ASSERT_EQ(p.warnings.size(), 1u);
  EXPECT_NE(p.warnings[0].find("did you mean MXNET_ENGINE_TYPE"), std::string::npos);
}

TEST(ConfigProcess, ALiveRowChangesAndGoesBack) {
  Process p{{"MXNET_CUDNN_AUTOTUNE_DEFAULT", "2"}};
  const Config& c = p.config.config();
  p.config.set("MXNET_SAFE_ACCUMULATION", "false");
  EXPECT_FALSE(c.cpu.safe_accumulation);
  EXPECT_EQ(c.origin(c.cpu.safe_accumulation).source.get(), Source::kSet);
  EXPECT_EQ(p.config.get("MXNET_SAFE_ACCUMULATION"), "0");
  EXPECT_EQ(p.config.variable("MXNET_SAFE_ACCUMULATION"), "false");

  p.config.set("MXNET_SAFE_ACCUMULATION", std::nullopt);
  EXPECT_TRUE(c.cpu.safe_accumulation);
  EXPECT_FALSE(c.is_set(c.cpu.safe_accumulation));
  EXPECT_EQ(p.config.variable("MXNET_SAFE_ACCUMULATION"), std::nullopt);

  p.config.set("MXNET_CUDNN_AUTOTUNE_DEFAULT", "");  // empty = unset
  EXPECT_EQ(c.cuda.cudnn_autotune_default, 1);
}

TEST(ConfigProcess, ALiveRowIsSetThroughAnOldSpelling) {
  Process p{{"MXNET_MKLDNN_ENABLED", "1"}};
  const Config& c = p.config.config();
  p.config.set("MXNET_ONEDNN_ENABLED", "0");
  EXPECT_FALSE(c.onednn.enabled);
  EXPECT_EQ(p.config.variable("MXNET_MKLDNN_ENABLED"), "0");  // the newest word, under either name
  p.config.set("MXNET_MKLDNN_ENABLED", "1");
  EXPECT_TRUE(c.onednn.enabled);
  EXPECT_EQ(p.config.variable("MXNET_ONEDNN_ENABLED"), "1");
}

TEST(ConfigProcess, ABadValueChangesNothing) {
  Process p{};
  const Config& c = p.config.config();
  const std::string text = failure([&] { p.config.set("MXNET_CUDNN_AUTOTUNE_DEFAULT", "3"); });
  EXPECT_NE(
      text.find("MXNET_CUDNN_AUTOTUNE_DEFAULT: given \"3\", expected an integer between 0 and 2"),
      std::string::npos)
      << text;
  EXPECT_EQ(c.cuda.cudnn_autotune_default, 1);
  EXPECT_FALSE(c.is_set(c.cuda.cudnn_autotune_default));
}

TEST(ConfigProcess, AStartupRowCannotChangeAfterwards) {
  Process p{};
  const Config& c = p.config.config();
  for (const std::optional<std::string_view> value :
       {std::optional<std::string_view>("NaiveEngine"), {}}) {
    const std::string text = failure([&] { p.config.set("MXNET_ENGINE_TYPE", value); });
    EXPECT_NE(text.find("MXNET_ENGINE_TYPE"), std::string::npos) << text;
    EXPECT_NE(text.find("when the library is first used"), std::string::npos) << text;
  }
  EXPECT_EQ(c.engine.type, EngineType::kThreadedPerDevice);
}

TEST(ConfigProcess, BeforeResolutionSettingStandsInForTheEnvironment) {
  Process p{{"MXNET_ENGINE_TYPE", "ThreadedEngine"}};
  p.config.set("MXNET_ENGINE_TYPE", "NaiveEngine");
  p.config.set("MXNET_SIM_GPU", "2");
  EXPECT_NE(failure([&] { p.config.set("MXNET_SIM_GPUS", "-1"); }), "");
  EXPECT_EQ(p.published.load(), nullptr);
  const Config& c = p.config.config();
  EXPECT_EQ(c.engine.type, EngineType::kNaive);
  EXPECT_EQ(c.device.sim_gpus, 0);
  EXPECT_EQ(p.warnings.size(), 1u);
}

TEST(ConfigProcess, ALedDefaultFollowsALiveChangeUntilItIsSetItself) {
  Process p{};
  const ExecutorConfig& e = p.config.config().executor;
  p.config.set("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "4");
  EXPECT_EQ(e.bulk_exec_max_node_train_fwd, 4);
  p.config.set("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", "9");
  p.config.set("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "5");
  EXPECT_EQ(e.bulk_exec_max_node_train_fwd, 9);
  EXPECT_EQ(e.bulk_exec_max_node_train_bwd, 5);
  p.config.set("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", std::nullopt);
  EXPECT_EQ(e.bulk_exec_max_node_train_fwd, 5);
}

TEST(ConfigProcess, OtherNamesAreRemembered) {
  Process p{{"HOME", "/root"}};
  EXPECT_EQ(p.config.variable("HOME"), "/root");
  EXPECT_EQ(p.config.variable("SOME_TEST_NAME"), std::nullopt);
  p.config.set("SOME_TEST_NAME", "1");
  p.config.set("HOME", std::nullopt);
  EXPECT_EQ(p.config.variable("SOME_TEST_NAME"), "1");
  EXPECT_EQ(p.config.variable("HOME"), std::nullopt);
  EXPECT_TRUE(p.warnings.empty());
  EXPECT_NE(failure([&] { p.config.get("SOME_TEST_NAME"); }), "");
}

TEST(ConfigProcess, SettingAnUnknownMxnetNameWarnsOnceOrFailsInStrictMode) {
  Process loose{};
  loose.config.config();
  loose.config.set("MXNET_SAFE_ACUMULATION", "1");
  loose.config.set("MXNET_SAFE_ACUMULATION", "0");
  ASSERT_EQ(loose.warnings.size(), 1u);
  EXPECT_NE(loose.warnings[0].find("did you mean MXNET_SAFE_ACCUMULATION"), std::string::npos);
  EXPECT_EQ(loose.config.variable("MXNET_SAFE_ACUMULATION"), "0");

  Process strict{{"MXNET_STRICT_ENV", "1"}};
  strict.config.config();
  EXPECT_NE(failure([&] { strict.config.set("MXNET_SAFE_ACUMULATION", "1"); }), "");
  EXPECT_EQ(strict.config.variable("MXNET_SAFE_ACUMULATION"), std::nullopt);
}

// Readers see old or new values, never a mixture; run under TSAN too.
TEST(ConfigProcess, LiveRowsAreReadWhileTheyChange) {
  Process p{};
  const Config& c = p.config.config();
  constexpr int kChanges = 2000;
  const std::string backends[] = {"NONE", std::string(200, 'A'), std::string(300, 'B')};
  p.config.set("MXNET_SUBGRAPH_BACKEND", backends[0]);
  std::atomic<bool> done{false};
  std::latch start(3);
  std::vector<std::jthread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      start.arrive_and_wait();
      while (!done.load(std::memory_order_acquire)) {
        const std::string& backend = c.subgraph.backend;
        EXPECT_TRUE(std::ranges::find(backends, backend) != std::end(backends));
        const int bound = c.executor.bulk_exec_max_node_train;
        EXPECT_TRUE(bound >= 1 && bound <= 15);
        p.config.inspect([](const Config& frozen) {
          EXPECT_EQ(frozen.executor.bulk_exec_max_node_train_bwd,
                    frozen.executor.bulk_exec_max_node_train);
        });
      }
    });
  }
  start.arrive_and_wait();
  for (int i = 0; i < kChanges; ++i) {
    p.config.set("MXNET_SUBGRAPH_BACKEND", backends[i % 3]);
    p.config.set("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", std::to_string(1 + i % 15));
  }
  done.store(true, std::memory_order_release);
}

// The process's own: one thread keeps setting while another forks; the
// child must find the lock free.
TEST(ConfigProcess, AForkedChildCanSet) {
  config();
  ForkBesideSteps load;
  std::atomic<bool> done{false};
  std::latch start(2);
  std::jthread setter([&] {
    start.arrive_and_wait();
    while (!done.load(std::memory_order_acquire))
      load.step([] { config_set("MXNET_MEM_PLAN_VERBOSE_LOGGING", "0"); });
  });
  start.arrive_and_wait();
  for (int i = 0; i < 50; ++i) {
    const pid_t child = load.fork();
    if (child == 0) {
      end_if_it_hangs();
      config_set("MXNET_MEM_PLAN_VERBOSE_LOGGING", "1");
      ::_exit(config().memory_plan.verbose_logging ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "fork " << i << ", status " << status;
  }
  done.store(true, std::memory_order_release);
  setter.join();
  config_set("MXNET_MEM_PLAN_VERBOSE_LOGGING", std::nullopt);
}

}  // namespace
}  // namespace mxnet
