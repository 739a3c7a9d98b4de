// SPDX-License-Identifier: Apache-2.0
// Executors bound to arrays of the program: results, gradients, what they show.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "executors.h"

namespace mxnet::c_test {
namespace {

constexpr int kCpu = 1;
constexpr uint32_t kNull = 0, kWrite = 1, kAdd = 3;

// y = x * w, with gradients of both.
class ProductExecutor : public testing::Test {
 protected:
  void bind(uint32_t x_request = kWrite, uint32_t w_request = kWrite) {
    NDArrayHandle args[] = {x_.get(), w_.get()}, grads[] = {dx_.get(), dw_.get()};
    uint32_t requests[] = {x_request, w_request};
    MX_OK(
        MXExecutorBind(net_.get(), kCpu, 0, 2, args, grads, requests, 0, nullptr, executor_.out()));
  }

  Sym net_ = product();
  Array x_{Values{1, 2, 3}}, w_{Values{4, 5, 6}}, dx_{Values{10, 10, 10}}, dw_{Values{10, 10, 10}};
  Bound executor_;
};

TEST_F(ProductExecutor, RunsOnTheArraysThatAreBound) {
  bind();
  EXPECT_EQ(executor_.forward(), (Values{4, 10, 18}));
  const Values next{2, 2, 2};
  MX_OK(MXNDArraySyncCopyFromCPU(w_.get(), next.data(), next.size()));
  EXPECT_EQ(executor_.forward(), (Values{2, 4, 6}));
}

TEST_F(ProductExecutor, OutputsHaveTheirShapeBeforeTheFirstRun) {
  bind();
  EXPECT_EQ(executor_.output().size(), 3u);
}

TEST_F(ProductExecutor, BackwardWritesAddsOrLeavesGradients) {
  bind(kWrite, kAdd);
  executor_.forward(true);
  MX_OK(MXExecutorBackward(executor_.get(), 0, nullptr));
  EXPECT_EQ(dx_.values(), (Values{4, 5, 6}));
  EXPECT_EQ(dw_.values(), (Values{11, 12, 13}));
}

TEST_F(ProductExecutor, NoGradientIsComputedForNull) {
  bind(kNull, kWrite);
  executor_.forward(true);
  MX_OK(MXExecutorBackward(executor_.get(), 0, nullptr));
  EXPECT_EQ(dx_.values(), (Values{10, 10, 10}));
  EXPECT_EQ(dw_.values(), (Values{1, 2, 3}));
  // What only the gradient of x needs is no part of the compiled graph.
  const char* text = nullptr;
  MX_OK(MXExecutorPrint(executor_.get(), &text));
  EXPECT_NE(std::string(text).find("_backward_multiply_rhs"), std::string::npos) << text;
  EXPECT_EQ(std::string(text).find("_backward_multiply_lhs"), std::string::npos) << text;
}

TEST_F(ProductExecutor, HeadGradientsScaleTheOthers) {
  bind();
  const Array head(Values{1, 0, -2});
  NDArrayHandle heads[] = {head.get()};
  executor_.forward(true);
  MX_OK(MXExecutorBackward(executor_.get(), 1, heads));
  EXPECT_EQ(dx_.values(), (Values{4, 0, -12}));
  executor_.forward(true);
  MX_OK(MXExecutorBackwardEx(executor_.get(), 1, heads, 1));
  EXPECT_EQ(dw_.values(), (Values{1, 0, -6}));
}

TEST_F(ProductExecutor, WhatCannotBeDifferentiatedIsAnError) {
  bind();
  EXPECT_EQ(MXExecutorBackward(executor_.get(), 0, nullptr), -1);
  executor_.forward(true);
  NDArrayHandle heads[] = {x_.get(), w_.get()};
  EXPECT_EQ(MXExecutorBackward(executor_.get(), 2, heads), -1);
  EXPECT_TRUE(error_has("2")) << MXGetLastError();
  EXPECT_EQ(executor_.forward(), (Values{4, 10, 18}));  // still of use
}

TEST_F(ProductExecutor, RequestsThatDoNotExistAreRefused) {
  NDArrayHandle args[] = {x_.get(), w_.get()}, grads[] = {dx_.get(), dw_.get()};
  uint32_t requests[] = {kWrite, 7};
  EXPECT_EQ(
      MXExecutorBind(net_.get(), kCpu, 0, 2, args, grads, requests, 0, nullptr, executor_.out()),
      -1);
  EXPECT_TRUE(error_has("given gradient request 7")) << MXGetLastError();
}

TEST_F(ProductExecutor, GroupsAndActivationsOfAnother) {
  NDArrayHandle args[] = {x_.get(), w_.get()};
  uint32_t requests[] = {kNull, kNull};
  const char* groups[] = {"left"};
  const int types[] = {kCpu}, ids[] = {0};
  Bound shared;
  MX_OK(MXExecutorBindX(net_.get(), kCpu, 0, 1, groups, types, ids, 2, args, nullptr, requests, 0,
                        nullptr, executor_.out()));
  MX_OK(MXExecutorBindEX(net_.get(), kCpu, 0, 1, groups, types, ids, 2, args, nullptr, requests, 0,
                         nullptr, executor_.get(), shared.out()));
  EXPECT_EQ(executor_.forward(), (Values{4, 10, 18}));
  EXPECT_EQ(shared.forward(), (Values{4, 10, 18}));
}

TEST(BoundExecutor, AuxiliaryStatesAreInAndOut) {
  const Sym data = var("data");
  const Sym bn = call_symbol("BatchNorm", "bn", {data.get()},
                             {{"momentum", "0.5"}, {"fix_gamma", "True"}, {"axis", "0"}});
  const Array x(Values{2, 4}), gamma(Values{1, 1}), beta(Values{0, 0});
  const Array mean(Values{0, 8}), variance(Values{1, 1});
  NDArrayHandle args[] = {x.get(), gamma.get(), beta.get()}, aux[] = {mean.get(), variance.get()};
  uint32_t requests[] = {kNull, kNull, kNull};
  Bound executor;
  MX_OK(MXExecutorBind(bn.get(), kCpu, 0, 3, args, nullptr, requests, 2, aux, executor.out()));
  const Values normalised = executor.forward();
  EXPECT_NEAR(normalised[0], 2, 0.01);
  EXPECT_NEAR(normalised[1], -4, 0.01);
}

TEST_F(ProductExecutor, PrintsItsGraphAndItsMemory) {
  bind();
  const char* text = nullptr;
  MX_OK(MXExecutorPrint(executor_.get(), &text));
  for (const char* part :
       {"y(elemwise_mul)", "y_backward", "Total 0 MB allocated", "36 in outputs"})
    EXPECT_NE(std::string(text).find(part), std::string::npos) << part << " in\n" << text;
}

// What two equal calls have become: one.
TEST(BoundExecutor, TheOptimizedSymbolIsWhatRuns) {
  const Sym x = var("x");
  const Sym a = call_symbol("exp", "a", {x.get()}), b = call_symbol("exp", "b", {x.get()});
  const Sym net = call_symbol("elemwise_add", "s", {a.get(), b.get()});
  const Array values(Values{0, 0});
  NDArrayHandle args[] = {values.get()};
  uint32_t requests[] = {kNull};
  Bound executor;
  MX_OK(MXExecutorBind(net.get(), kCpu, 0, 1, args, nullptr, requests, 0, nullptr, executor.out()));
  EXPECT_EQ(executor.forward(), (Values{2, 2}));
  Sym optimized;
  MX_OK(MXExecutorGetOptimizedSymbol(executor.get(), optimized.out()));
  const char* json = nullptr;
  MX_OK(MXSymbolSaveToJSON(optimized.get(), &json));
  EXPECT_NE(std::string(json).find("\"name\": \"a\""), std::string::npos) << json;
  EXPECT_EQ(std::string(json).find("\"name\": \"b\""), std::string::npos) << json;
}

// Values by name, as callbacks give them.
using Seen = std::map<std::string, Values>;
void note(const char* name, NDArrayHandle value, void* seen) {
  static_cast<Seen*>(seen)->emplace(name, Array(value).values());
}

TEST_F(ProductExecutor, MonitorsSeeOutputsOfNodesAndInputsIfAskedFor) {
  bind();
  Seen outputs, all, none;
  MX_OK(MXExecutorSetMonitorCallback(executor_.get(), note, &outputs));
  executor_.forward();
  EXPECT_EQ(outputs, (Seen{{"y_output", {4, 10, 18}}}));
  MX_OK(MXExecutorSetMonitorCallbackEX(executor_.get(), note, &all, true));
  executor_.forward();
  const Values x{1, 2, 3}, w{4, 5, 6}, y{4, 10, 18};
  EXPECT_EQ(all, (Seen{{"x", x}, {"w", w}, {"y_lhs", x}, {"y_rhs", w}, {"y_output", y}}));
  MX_OK(MXExecutorSetMonitorCallback(executor_.get(), nullptr, &none));
  executor_.forward();
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace mxnet::c_test
