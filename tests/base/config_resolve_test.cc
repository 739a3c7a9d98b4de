// SPDX-License-Identifier: Apache-2.0
// From variables to a Config: values, spellings, defaults that follow
// others, and everything that users get wrong.
#include "base/config_resolve.h"

#include <gtest/gtest.h>

#include "base/config_names.h"
#include "base/error.h"

namespace mxnet {
namespace {

using ::testing::TestParamInfo;
using ::testing::TestWithParam;

std::string failure(const EnvSnapshot& variables) {
  try {
    resolve(variables);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kValue);
    EXPECT_EQ(error.tag(), "config");
    return error.message();
  }
  ADD_FAILURE() << "resolved";
  return {};
}

std::vector<std::string> warnings(const EnvSnapshot& variables) {
  std::vector<std::string> lines;
  resolve(variables, &lines);
  return lines;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ConfigResolve, NothingGivenGivesTheDefaults) {
  const Config c = resolve({});
  EXPECT_EQ(c.engine.type, EngineType::kThreadedPerDevice);
  EXPECT_EQ(c.engine.gpu_copy_nthreads, 2);
  EXPECT_EQ(c.storage.gpu.large_alloc_round_size, 2097152);
  EXPECT_EQ(c.log.level.get(), LogLevel::kInfo);
  EXPECT_EQ(c.profiler.mode, 13);
  EXPECT_TRUE(c.cpu.safe_accumulation);
  EXPECT_EQ(c.cpu.omp_max_threads, std::nullopt);
  EXPECT_FALSE(c.is_set(c.engine.type));
}

TEST(ConfigResolve, ValuesReachTheirFields) {
  const Config c = resolve({{"MXNET_ENGINE_TYPE", "NaiveEngine"},
                            {"MXNET_CPU_PINNED_MEM_POOL_TYPE", "Round"},
                            {"MXNET_ENGINE_RUN_AHEAD_BYTES", "9223372036854775807"},
                            {"MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", "0.25"},
                            {"MXNET_HOME", "/data/\xc3\xa9"},
                            {"MXNET_CUDNN_HEUR_MODE", "0"}});
  EXPECT_EQ(c.engine.type, EngineType::kNaive);
  EXPECT_EQ(c.storage.pinned.type, PoolType::kRound);
  EXPECT_EQ(c.storage.cpu.type, PoolType::kNaive);
  EXPECT_EQ(c.engine.run_ahead_bytes, INT64_MAX);
  EXPECT_EQ(c.kvstore.tree_link_usage_penalty.get(), 0.25);
  EXPECT_EQ(c.python.home.get(), "/data/\xc3\xa9");
  EXPECT_EQ(c.cuda.cudnn_heur_mode.get(), std::optional<int>(0));
}

TEST(ConfigResolve, IsSetTellsGivenFromDefaultEvenWhenEqual) {
  const Config c = resolve({{"MXNET_USE_FUSION", "1"}});
  EXPECT_TRUE(c.cuda.use_fusion);
  EXPECT_TRUE(c.is_set(c.cuda.use_fusion));
  EXPECT_FALSE(c.is_set(c.cuda.rtc_verbose));
  EXPECT_EQ(c.origin(c.cuda.use_fusion).source.get(), Source::kEnvironment);
  EXPECT_EQ(c.origin(c.cuda.use_fusion).spelling, "");
}

TEST(ConfigResolve, ACopyKeepsItsOrigins) {
  const Config c = resolve({{"MXNET_SIM_GPUS", "2"}});
  const Config copy = c;
  EXPECT_TRUE(copy.is_set(copy.device.sim_gpus));
  EXPECT_FALSE(copy.is_set(copy.device.sim_memory_bytes));
}

TEST(ConfigResolve, AskingAboutAnotherObjectsFieldIsAnError) {
  const Config a = resolve({}), b = resolve({});
  EXPECT_THROW(a.is_set(b.engine.type), Error);
}

TEST(ConfigResolve, EmptyMeansUnset) {
  const Config c = resolve({{"MXNET_ENGINE_TYPE", ""}, {"MXNET_CPU_WORKER_NTHREADS", ""}});
  EXPECT_EQ(c.engine.type, EngineType::kThreadedPerDevice);
  EXPECT_EQ(c.engine.cpu_worker_nthreads, 1);
  EXPECT_FALSE(c.is_set(c.engine.type));
}

TEST(ConfigResolve, ADefaultFollowsTheRowItNames) {
  const Config led = resolve({{"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "7"}});
  EXPECT_EQ(led.executor.bulk_exec_max_node_train_fwd, 7);
  EXPECT_EQ(led.executor.bulk_exec_max_node_train_bwd, 7);
  EXPECT_FALSE(led.is_set(led.executor.bulk_exec_max_node_train_fwd));
  const Config split = resolve({{"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "7"},
                                {"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "3"}});
  EXPECT_EQ(split.executor.bulk_exec_max_node_train_fwd, 7);
  EXPECT_EQ(split.executor.bulk_exec_max_node_train_bwd, 3);
}

// Issue 3's list of bad input; each message names the variable, the value and what is allowed.
struct Bad {
  const char* name;
  std::string value;
  const char* shown;
  const char* allowed;
};
class ConfigBadInput : public TestWithParam<Bad> {};

TEST_P(ConfigBadInput, NamesVariableValueAndAllowed) {
  const Bad& bad = GetParam();
  const std::string text = failure({{bad.name, bad.value}});
  EXPECT_TRUE(has(text, bad.name)) << text;
  EXPECT_TRUE(has(text, bad.shown)) << text;
  EXPECT_TRUE(has(text, bad.allowed)) << text;
  EXPECT_LT(text.size(), 400u);
}

const Bad kBad[] = {
    {"MXNET_CPU_WORKER_NTHREADS", "abc", "\"abc\"", "an integer between 1 and 1024"},
    {"MXNET_CPU_WORKER_NTHREADS", "-3", "\"-3\"", "an integer between 1 and 1024"},
    {"MXNET_ENGINE_TYPE", "Foo", "\"Foo\"",
     "NaiveEngine, ThreadedEngine or ThreadedEnginePerDevice"},
    {"MXNET_GPU_MEM_POOL_RESERVE", "170", "\"170\"", "an integer between 0 and 100"},
    {"MXNET_PROFILER_MODE", "99", "\"99\"", "an integer between 0 and 15"},
    {"MXNET_CPU_WORKER_NTHREADS", std::string(1 << 20, '7'), "(1048576 bytes)",
     "an integer between 1 and 1024"},
    {"MXNET_HOME", std::string(1 << 20, 'x'), "(1048576 bytes)",
     "UTF-8 text of at most 65536 bytes"},
    {"MXNET_CPU_WORKER_NTHREADS", "\xff\xfe", "\"\\xff\\xfe\"", "an integer between 1 and 1024"},
    {"MXNET_HOME", "\xff\xfe", "\"\\xff\\xfe\"", "UTF-8 text of at most 65536 bytes"},
    {"MXNET_SAFE_ACCUMULATION", "yes", "\"yes\"", "0, 1, true or false"},
    {"MXNET_CPU_MEM_POOL_PAGE_SIZE", "5000", "\"5000\"", "an integer that is a power of two"},
    {"MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", "nan", "\"nan\"", "a number between 0 and 1"},
    {"OMP_NUM_THREADS", "four", "\"four\"", "comma-separated integers between 1 and 65536"},
    {"MXNET_OMP_MAX_THREADS", "0", "\"0\"", "auto or an integer of at least 1"},
    {"MXNET_LOG_LEVEL", "loud", "\"loud\"", "debug, info, warning, error or off"},
    {"DMLC_ROLE", "boss", "\"boss\"", "one of: worker, server, scheduler"},
    {"MXNET_MKLDNN_ENABLED", "maybe", "\"maybe\"", "MXNET_ONEDNN_ENABLED"},
};
INSTANTIATE_TEST_SUITE_P(Issue3, ConfigBadInput, ::testing::ValuesIn(kBad));

TEST(ConfigResolve, AllProblemsAreToldAtOnce) {
  const std::string text = failure(
      {{"MXNET_ENGINE_TYPE", "Foo"}, {"MXNET_PROFILER_MODE", "99"}, {"MXNET_HOME", "\xff"}});
  EXPECT_TRUE(has(text, "3 problems")) << text;
  for (const char* name : {"MXNET_ENGINE_TYPE", "MXNET_PROFILER_MODE", "MXNET_HOME"})
    EXPECT_TRUE(has(text, name));
}

TEST(ConfigResolve, RoundPoolNeedsACutoffOfAtLeastAPage) {
  EnvSnapshot variables{{"MXNET_GPU_MEM_POOL_PAGE_SIZE", "1048576"},
                        {"MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF", "19"}};
  EXPECT_NO_THROW(resolve(variables));  // the Naive pool has no cutoff
  variables["MXNET_GPU_MEM_POOL_TYPE"] = "Round";
  const std::string text = failure(variables);
  EXPECT_TRUE(
      has(text, "MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF: given \"19\", expected at least 20"))
      << text;
  variables["MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF"] = "20";
  EXPECT_NO_THROW(resolve(variables));
}

TEST(ConfigAliases, AnOldSpellingSetsTheRow) {
  const Config c = resolve({{"MXNET_MKLDNN_CACHE_NUM", "5"},
                            {"MXNET_DISABLE_MKLDNN_FUSE_CONV_BN", "1"},
                            {"MXNET_EXEC_MATCH_RANGE", "10"},
                            {"MXNET_GPU_POOL_PAGE_SIZE", "8192"}});
  EXPECT_EQ(c.onednn.cache_num, 5);
  EXPECT_TRUE(c.onednn.disable_fuse_conv_bn);
  EXPECT_EQ(c.memory_plan.match_range, 10);
  EXPECT_EQ(c.storage.gpu.page_size, 8192);
  EXPECT_EQ(c.origin(c.onednn.cache_num).spelling, "MXNET_MKLDNN_CACHE_NUM");
  EXPECT_EQ(c.origin(c.onednn.disable_fuse_conv_bn).spelling, "MXNET_DISABLE_MKLDNN_FUSE_CONV_BN");
}

TEST(ConfigAliases, TwoSpellingsMayAgree) {
  const Config c = resolve({{"MXNET_MKLDNN_ENABLED", "false"}, {"MXNET_ONEDNN_ENABLED", "0"}});
  EXPECT_FALSE(c.onednn.enabled);
  EXPECT_EQ(c.origin(c.onednn.enabled).spelling, "");
}

TEST(ConfigAliases, TwoSpellingsThatDisagreeAreAnErrorNamingBoth) {
  const std::string text = failure({{"MXNET_MKLDNN_ENABLED", "1"}, {"MXNET_ONEDNN_ENABLED", "0"}});
  EXPECT_TRUE(has(text, "MXNET_ONEDNN_ENABLED=\"0\" and MXNET_MKLDNN_ENABLED=\"1\"")) << text;
}

TEST(ConfigAliases, AnEmptySpellingDisagreesWithNothing) {
  EXPECT_FALSE(
      resolve({{"MXNET_MKLDNN_ENABLED", "0"}, {"MXNET_ONEDNN_ENABLED", ""}}).onednn.enabled);
}

TEST(ConfigAliases, AWildcardIsNoWildGuess) {
  EXPECT_EQ(warnings({{"MXNET_DISABLE_MKLDNN_FOO", "1"}}).size(), 1u);
  EXPECT_EQ(find_row("MXNET_DISABLE_MKLDNN_"), nullptr);
}

TEST(ConfigNames, AnUnknownNameWarnsOnceWithTheNearest) {
  const auto lines = warnings({{"MXNET_ENGIN_TYPE", "NaiveEngine"}});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], "MXNET_ENGIN_TYPE is not a known variable; did you mean MXNET_ENGINE_TYPE?");
}

TEST(ConfigNames, NearestKnowsSwapsAliasesAndItsLimits) {
  EXPECT_EQ(nearest_name("MXNET_ENGINE_TPYE"), "MXNET_ENGINE_TYPE");
  EXPECT_EQ(nearest_name("MXNET_CPU_WORKER_NTHREAD"), "MXNET_CPU_WORKER_NTHREADS");
  EXPECT_EQ(nearest_name("MXNET_MKLDN_ENABLED"), "MXNET_MKLDNN_ENABLED");
  EXPECT_EQ(nearest_name("MXNET_SOMETHING_QUITE_DIFFERENT"), "");
  EXPECT_EQ(nearest_name(std::string(1 << 20, 'M')), "");
}

TEST(ConfigNames, AnOddNameIsShownQuotedAndShort) {
  const auto lines = warnings({{"MXNET_\n\xff", "1"}, {"MXNET_" + std::string(1 << 20, 'X'), "1"}});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "\"MXNET_\\x0a\\xff\" is not a known variable");
  EXPECT_LT(lines[1].size(), 200u);
}

TEST(ConfigNames, OtherPeoplesNamesAreIgnored) {
  EXPECT_TRUE(warnings({{"MXNET_JOB_SERVICE_HOST", "10.0.0.1"},
                        {"MXNET_JOB_SERVICE_PORT_HTTP", "80"},
                        {"MXNET_JOB_PORT", "tcp://10.0.0.1:80"},
                        {"MXNET_JOB_PORT_80_TCP_ADDR", "10.0.0.1"},
                        {"PATH", "\xff"},
                        {"DMLC_SOMETHING", "1"}})
                  .empty());
}

TEST(ConfigResolve, StrictModeRejectsUnknownNames) {
  const std::string text =
      failure({{"MXNET_STRICT_ENV", "1"}, {"MXNET_ENGIN_TYPE", "NaiveEngine"}});
  EXPECT_TRUE(has(text, "MXNET_ENGIN_TYPE")) << text;
  EXPECT_TRUE(has(text, "MXNET_ENGINE_TYPE")) << text;
  EXPECT_NO_THROW(resolve({{"MXNET_STRICT_ENV", "1"}, {"MXNET_JOB_SERVICE_HOST", "10.0.0.1"}}));
  EXPECT_NO_THROW(resolve({{"MXNET_STRICT_ENV", "0"}, {"MXNET_ENGIN_TYPE", "NaiveEngine"}}));
}

TEST(ConfigResolve, SystemVariablesMayHoldAnyBytes) {
  const Config c = resolve({{"LD_LIBRARY_PATH", "/opt/\xff:" + std::string(1 << 20, 'x')}});
  EXPECT_TRUE(c.is_set(c.python.ld_library_path));
}

}  // namespace
}  // namespace mxnet
