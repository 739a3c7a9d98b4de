// SPDX-License-Identifier: Apache-2.0
// What a forked child has of its parent's profiler: nothing.
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hooks.h"
#include "fork_under_load.h"
#include "hang.h"
#include "profiler/profiler.h"
#include "trace.h"

namespace mxnet::profiler_test {
namespace {

using namespace mxnet::profiler;

// The process's profiler in a child: stopped, empty, with a file of its own. 0 = as expected.
int look_around_in_child(const std::string& parents_file) {
  end_if_it_hangs();
  Profiler& mine = Profiler::get();
  if (mine.recording() || observer() != nullptr) return 1;
  try {
    mine.dump(true);
    return 2;
  } catch (const Error&) {  // as it should be
  }
  mine.run();
  mine.recorder().operation_begin("child", Device::cpu(), 1);
  mine.recorder().operation_end("child", Device::cpu(), 1);
  mine.dump(true);
  const std::size_t dot = parents_file.rfind('.');
  const std::string path = parents_file.substr(0, dot) + "." + std::to_string(::getpid()) + ".json";
  const std::size_t operators = Trace(path).spans_of("operator").size();
  ::unlink(path.c_str());
  return operators == 1 ? 0 : 3;
}

TEST(ProfilerFork, AChildStartsStoppedAndEmptyAndTheParentGoesOn) {
  MX_SKIP_WHERE_A_FORK_LOSES_THE_ALLOCATOR();  // it dumps every millisecond
#if defined(__SANITIZE_THREAD__)               // with die_after_fork=0 too
  GTEST_SKIP() << "its runtime takes the child's thread for the parent's, whose id it has";
#endif
  TemporaryFile file;
  Profiler& profiler = Profiler::get();
  Settings settings;
  settings.file_name = file.path;
  settings.dump_period = 0.001;
  profiler.configure(settings);
  profiler.run();
  const auto record = [&](const char* name) {
    profiler.recorder().operation_begin(name, Device::cpu(), 1);
    profiler.recorder().operation_end(name, Device::cpu(), 1);
  };
  record("before");
  for (int i = 0; i < 5; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(look_around_in_child(file.path));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  record("after");
  profiler.dump(true);
  const Trace trace(file.path);
  EXPECT_EQ(trace.spans_of("operator", "before").size(), 1U);
  EXPECT_EQ(trace.spans_of("operator", "after").size(), 1U);
  EXPECT_EQ(trace.spans_of("operator").size(), 2U);
}
}  // namespace
}  // namespace mxnet::profiler_test
