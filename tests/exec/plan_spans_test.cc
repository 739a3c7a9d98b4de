// SPDX-License-Identifier: Apache-2.0
// What a trace shows of a compiled graph: every operator, inside the engine operation that runs it.
#include <gtest/gtest.h>

#include "base/hooks.h"
#include "base/lock.h"
#include "exec/plan_fixture.h"

namespace mxnet {
namespace {

// Records the events of a scope as words: "(NAME" and ")" around operations, NAME for operators.
class Trace final : public Observer {
 public:
  Trace() {
    Engine::get().wait_for_all();
    g_observer.store(this, std::memory_order_release);  // publishes a trace that is ready
  }
  ~Trace() override { stop(); }
  std::vector<std::string> stop() {
    Engine::get().wait_for_all();
    g_observer.store(nullptr, std::memory_order_release);
    const MutexLock lock(mutex_);
    return words_;
  }
  void operation_begin(const char* name, Device, uint64_t) override {
    add(std::string("(") + (name == nullptr ? "" : name));
  }
  void operation_end(const char*, Device, uint64_t) override { add(")"); }
  void span_begin(SpanKind kind, const char* name) override {
    if (kind == SpanKind::kSymbolic) add(name);
  }
  void memory_event(Device, const char*, int64_t) override {}

 private:
  void add(std::string word) {
    const MutexLock lock(mutex_);
    words_.push_back(std::move(word));
  }
  Mutex mutex_;
  std::vector<std::string> words_ MX_GUARDED_BY(mutex_);
};

// One inference run of tanh, sin, exp, each a function of the one before.
std::vector<std::string> traced() {
  const Value x = apply("exp", {apply("sin", {apply("tanh", {variable("x")})})});
  Executor executor(graph_of({x}), Device::cpu(), bind_arrays({array_of({1, 2})}));
  executor.forward(false);  // compiles
  Trace trace;
  executor.forward(false);
  return trace.stop();
}

using Words = std::vector<std::string>;

TEST(PlanSpans, ASegmentShowsItsOperatorsInside) {
  const Setting apart("MXNET_USE_FUSION", "0");
  EXPECT_EQ(traced(), (Words{"(forward", "tanh", "sin", "exp", ")"}));
}

TEST(PlanSpans, OperatorsInOneAreNamedTogether) {
  EXPECT_EQ(traced(), (Words{"(tanh+sin+exp", "tanh+sin+exp", ")"}));
}

TEST(PlanSpans, WithoutBulkEachOperatorIsAnOperation) {
  const Setting off("MXNET_EXEC_BULK_EXEC_INFERENCE", "0");
  EXPECT_EQ(traced(), (Words{"(tanh", "tanh", ")", "(sin", "sin", ")", "(exp", "exp", ")"}));
}

}  // namespace
}  // namespace mxnet
