// SPDX-License-Identifier: Apache-2.0
// What a trace shows of compiled graphs: their operators, in the segments that they are merged into
// or alone, as a program that loads the file sees it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "executors.h"
#include "profiler/trace.h"
#include "setting.h"

namespace mxnet::c_test {
namespace {

using profiler_test::Span;
using profiler_test::TemporaryFile;
using profiler_test::Trace;

constexpr int kLayers = 12;

// Twelve operators in a row, of a kind that no pass takes together.
Sym chain() {
  Sym value = var("x");
  for (int i = 0; i < kLayers; ++i) {
    const std::string name = "layer" + std::to_string(i);
    value = call_symbol("softmax", name.c_str(), {value.get()});
  }
  return value;
}

class ProfiledGraph : public testing::Test {
 protected:
  ~ProfiledGraph() override { MXSetProfilerState(0); }

  // The trace of `run`.
  template <class Run>
  Trace trace_of(const Run& run, const Params& more = {}) const {
    std::vector<const char*> keys{"filename", "continuous_dump"};
    std::vector<const char*> values{file_.path.c_str(), "False"};
    for (const auto& [key, value] : more) {
      keys.push_back(key);
      values.push_back(value);
    }
    EXPECT_EQ(MXSetProfilerConfig(static_cast<int>(keys.size()), keys.data(), values.data()), 0)
        << MXGetLastError();
    EXPECT_EQ(MXSetProfilerState(1), 0);
    run();
    EXPECT_EQ(MXNDArrayWaitAll(), 0);
    EXPECT_EQ(MXDumpProfile(1), 0) << MXGetLastError();
    return Trace(file_.path);
  }
  void bind(Bound* executor) {
    NDArrayHandle args[] = {x_.get()}, grads[] = {dx_.get()};
    uint32_t write[] = {1};
    MX_OK(MXExecutorBind(net_.get(), 1, 0, 1, args, grads, write, 0, nullptr, executor->out()));
  }
  // One forward pass of a new executor.
  Trace forward(bool train, const Params& more = {}) {
    Bound executor;
    bind(&executor);
    executor.forward(train);  // compiles
    return trace_of([&] { executor.forward(train); }, more);
  }

  const TemporaryFile file_;
  const Sym net_ = chain();
  const Array x_{Values{1, 2}}, dx_{Values{0, 0}};
};

TEST_F(ProfiledGraph, InferenceIsOneSegmentWithItsOperatorsInside) {
  const Trace trace = forward(false);
  ASSERT_EQ(trace.spans_of("segment").size(), 1U);
  const Span segment = trace.spans_of("segment")[0];
  const std::vector<Span> operators = trace.spans_of("operator", "softmax");
  ASSERT_EQ(operators.size(), static_cast<std::size_t>(kLayers));
  for (const Span& span : operators) {
    EXPECT_EQ(span.outer, std::vector<std::string>{segment.name});
    EXPECT_EQ(span.tid, segment.tid);
    EXPECT_LE(segment.begin, span.begin);
    EXPECT_LE(span.end, segment.end);
  }
}

TEST_F(ProfiledGraph, WithBulkOffEveryOperatorStandsAlone) {
  const Setting inference("MXNET_EXEC_BULK_EXEC_INFERENCE", "0");
  const Setting train("MXNET_EXEC_BULK_EXEC_TRAIN", "0");
  for (const bool training : {false, true}) {
    const Trace trace = forward(training);
    EXPECT_TRUE(trace.spans_of("segment").empty());
    const std::vector<Span> operators = trace.spans_of("operator", "softmax");
    EXPECT_EQ(operators.size(), static_cast<std::size_t>(kLayers));
    for (const Span& span : operators) EXPECT_TRUE(span.outer.empty());
  }
}

TEST_F(ProfiledGraph, TrainingHasSegmentsOfAsManyAsAreMerged) {
  const Setting most("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "5");
  const Trace trace = forward(true);
  EXPECT_EQ(trace.spans_of("segment").size(), 3U);  // 5 + 5 + 2
  const std::vector<Span> operators = trace.spans_of("operator", "softmax");
  EXPECT_EQ(operators.size(), static_cast<std::size_t>(kLayers));
  for (const Span& span : operators) EXPECT_EQ(span.outer.size(), 1U);
}

TEST_F(ProfiledGraph, BackwardOperatorsAreShownToo) {
  Bound executor;
  bind(&executor);
  const Trace trace = trace_of([&] {
    executor.forward(true);
    ASSERT_EQ(MXExecutorBackward(executor.get(), 0, nullptr), 0) << MXGetLastError();
  });
  EXPECT_EQ(trace.spans_of("operator", "softmax").size(), static_cast<std::size_t>(kLayers));
  EXPECT_EQ(trace.spans_of("operator", "_backward_softmax").size(),
            static_cast<std::size_t>(kLayers));
}

TEST_F(ProfiledGraph, CachedOpsAreShownAsExecutorsAre) {
  CachedOpHandle op = nullptr;
  MX_OK(MXCreateCachedOp(net_.get(), &op));
  const auto run = [&] {
    NDArrayHandle inputs[] = {x_.get()};
    NDArrayHandle* outputs = nullptr;
    int count = 0;
    ASSERT_EQ(MXInvokeCachedOp(op, 1, inputs, &count, &outputs), 0) << MXGetLastError();
    const Array result(outputs[0]);
  };
  run();  // compiles
  const Trace trace = trace_of(run);
  EXPECT_EQ(trace.spans_of("segment").size(), 1U);
  EXPECT_EQ(trace.spans_of("operator", "softmax").size(), static_cast<std::size_t>(kLayers));
  MX_OK(MXFreeCachedOp(op));
}

TEST_F(ProfiledGraph, AFusedChainGoesByTheNamesOfItsOperators) {
  const Sym x = var("x");
  const Sym inner = call_symbol("tanh", "t", {x.get()});
  const Sym net = call_symbol("_plus_scalar", "p", {inner.get()}, {{"scalar", "1"}});
  NDArrayHandle args[] = {x_.get()};
  uint32_t none[] = {0};
  Bound executor;
  MX_OK(MXExecutorBind(net.get(), 1, 0, 1, args, nullptr, none, 0, nullptr, executor.out()));
  executor.forward();
  const Trace trace = trace_of([&] { executor.forward(); });
  EXPECT_EQ(trace.spans_of("operator", "tanh+_plus_scalar").size(), 1U);
  EXPECT_EQ(trace.spans_of("operator").size(), 1U);
}

// The switches are bits: each shows its own kind of event and nothing of the others.
TEST_F(ProfiledGraph, OperatorsOfGraphsFollowTheirSwitch) {
  EXPECT_TRUE(
      forward(false, {{"profile_symbolic", "False"}}).spans_of("operator", "softmax").empty());
  const Trace symbolic = forward(
      false,
      {{"profile_imperative", "False"}, {"profile_api", "False"}, {"profile_memory", "False"}});
  EXPECT_EQ(symbolic.spans_of("operator", "softmax").size(), static_cast<std::size_t>(kLayers));
  EXPECT_EQ(symbolic.count("b", "MXExecutorForward"), 0);
}

TEST_F(ProfiledGraph, NothingIsRecordedWhilePaused) {
  Bound executor;
  bind(&executor);
  executor.forward();
  const Trace trace = trace_of([&] {
    EXPECT_EQ(MXProfilePause(1), 0);
    executor.forward();
    EXPECT_EQ(MXNDArrayWaitAll(), 0);
    EXPECT_EQ(MXProfilePause(0), 0);
    executor.forward();
  });
  EXPECT_EQ(trace.spans_of("operator", "softmax").size(), static_cast<std::size_t>(kLayers));
}

}  // namespace
}  // namespace mxnet::c_test
