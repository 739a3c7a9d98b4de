// SPDX-License-Identifier: Apache-2.0
// Operators of the user, as a front end in C registers them: values, gradients, states, failures.
#include <cstring>
#include <map>

#include "executors.h"

namespace mxnet::c_test {
namespace {

// out = factor * data, and a state that counts the calls. What the callbacks saw is kept here.
struct Seen {
  std::map<std::string, std::string> parameters;
  std::vector<int> forward_tags, backward_tags, requests;
  int props = 0, operators = 0, deleted = 0, backward_training = -1;
  bool fails = false;
};
Seen g_seen;

int count_deleted(void*) {
  ++g_seen.deleted;
  return 1;
}

float factor() {
  const auto given = g_seen.parameters.find("factor");
  return given == g_seen.parameters.end() ? 2.0f : std::stof(given->second);
}

int scale(void* from, void* to) {
  Values values = read(from);
  for (float& value : values) value *= factor();
  return MXNDArraySyncCopyFromCPU(to, values.data(), values.size());
}

int forward(int size, void** ptrs, int* tags, const int* reqs, const int, void*) {
  g_seen.forward_tags.assign(tags, tags + size);
  g_seen.requests.assign(reqs, reqs + 1);
  if (!g_seen.fails) {
    scale(ptrs[0], ptrs[1]);
    Values count = read(ptrs[2]);
    count[0] += 1;
    MXNDArraySyncCopyFromCPU(ptrs[2], count.data(), 1);
  }
  for (int i = 0; i < size; ++i) MXNDArrayFree(ptrs[i]);
  return g_seen.fails ? 0 : 1;
}

int backward(int size, void** ptrs, int* tags, const int*, const int training, void*) {
  g_seen.backward_training = training;
  g_seen.backward_tags.assign(tags, tags + size);
  scale(ptrs[0], ptrs[3]);
  for (int i = 0; i < size; ++i) MXNDArrayFree(ptrs[i]);
  return 1;
}

template <class Function>
int (*any(Function function))() {
  return reinterpret_cast<int (*)()>(reinterpret_cast<void (*)()>(function));
}

template <const char* const* names>
int list(char*** out, void*) {
  *out = const_cast<char**>(names);
  return 1;
}
constexpr const char* kArguments[] = {"data", nullptr};
constexpr const char* kOutputs[] = {"scaled", nullptr};
constexpr const char* kStates[] = {"calls", nullptr};

int infer_shape(int, int* ndims, int** shapes, void*) {
  static int one[] = {1}, same[8];
  std::memcpy(same, shapes[0], sizeof(int) * static_cast<std::size_t>(ndims[0]));
  ndims[1] = ndims[0];
  shapes[1] = same;
  ndims[2] = 1;
  shapes[2] = one;
  return 1;
}

int infer_type(int count, int* types, void*) {
  for (int i = 1; i < count; ++i) types[i] = types[0];
  return 1;
}

int create_operator(const char*, int, unsigned**, const int*, const int*, MXCallbackList* ret,
                    void*) {
  static int (*callbacks[])() = {any(count_deleted), any(forward), any(backward)};
  static void* contexts[3] = {};
  *ret = {3, callbacks, contexts};
  ++g_seen.operators;
  return 1;
}

int create_prop(const char*, const int count, const char** keys, const char** values,
                MXCallbackList* ret) {
  g_seen.parameters.clear();
  for (int i = 0; i < count; ++i) g_seen.parameters[keys[i]] = values[i];
  static int (*callbacks[])() = {any(count_deleted),   any(list<kArguments>), any(list<kOutputs>),
                                 any(list<kStates>),   any(infer_shape),      nullptr,
                                 any(create_operator), any(infer_type)};
  static void* contexts[8] = {};
  *ret = {8, callbacks, contexts};
  ++g_seen.props;
  return 1;
}

// As programs wrote them before there were types to infer.
int create_prop_without_types(const char* op_type, const int count, const char** keys,
                              const char** values, MXCallbackList* ret) {
  if (create_prop(op_type, count, keys, values, ret) == 0) return 0;
  ret->num_callbacks = kCustomOpPropInferType;
  return 1;
}

class CustomOp : public testing::Test {
 protected:
  void SetUp() override {
    g_seen = {};
    ASSERT_EQ(MXCustomOpRegister("scale", create_prop), 0) << MXGetLastError();
  }
};

TEST_F(CustomOp, ComputesAndWritesItsStates) {
  const Array x({1, 2, 3}), calls(Values{0});
  for (int i = 0; i < 2; ++i) {
    const Array y = call("Custom", {x.get(), calls.get()}, {{"op_type", "scale"}, {"factor", "3"}});
    EXPECT_EQ(y.values(), (Values{3, 6, 9}));
  }
  EXPECT_EQ(calls.values(), Values{2});
  EXPECT_EQ(g_seen.forward_tags, (std::vector<int>{0, 1, 4}));
  EXPECT_EQ(g_seen.requests, std::vector<int>{1});
}

TEST_F(CustomOp, WithoutACallbackForTypesAllArraysAreOfOne) {
  ASSERT_EQ(MXCustomOpRegister("typeless", create_prop_without_types), 0) << MXGetLastError();
  const Array x({1, 2, 3}), calls(Values{0});
  EXPECT_EQ(call("Custom", {x.get(), calls.get()}, {{"op_type", "typeless"}}).values(),
            (Values{2, 4, 6}));
  const Sym data = var("data"),
            net = call_symbol("Custom", "c", {data.get()}, {{"op_type", "typeless"}});
  const char* names[] = {"data"};
  const int given[] = {1};
  uint32_t sizes[3];
  const int* types[3];
  int complete = 0;
  MX_OK(MXSymbolInferType(net.get(), 1, names, given, &sizes[0], &types[0], &sizes[1], &types[1],
                          &sizes[2], &types[2], &complete));
  EXPECT_EQ(complete, 1);
  EXPECT_EQ((Names{std::to_string(types[0][0]), std::to_string(types[1][0])}), (Names{"1", "1"}));
  EXPECT_EQ(types[2][0], 1);
  const Array other = call("Cast", {calls.get()}, {{"dtype", "float64"}});
  std::vector<NDArrayHandle> outputs;
  EXPECT_EQ(invoke("Custom", {x.get(), other.get()}, {{"op_type", "typeless"}}, &outputs), -1);
}

TEST_F(CustomOp, IsToldWhenItEnds) {
  const Array x(Values{1}), calls(Values{0});
  call("Custom", {x.get(), calls.get()}, {{"op_type", "scale"}});
  EXPECT_EQ(g_seen.deleted, g_seen.props + g_seen.operators);
}

TEST_F(CustomOp, HasTheGradientItSays) {
  Array x({1, 2}), calls(Values{0}), grad(Values{0, 0});
  NDArrayHandle variables[] = {x.get()}, grads[] = {grad.get()};
  uint32_t request = 1;
  ASSERT_EQ(MXAutogradMarkVariables(1, variables, &request, grads), 0);
  int before = 0;
  ASSERT_EQ(MXAutogradSetIsRecording(1, &before), 0);
  const Array y = call("Custom", {x.get(), calls.get()}, {{"op_type", "scale"}, {"factor", "5"}});
  ASSERT_EQ(MXAutogradSetIsRecording(0, &before), 0);
  NDArrayHandle heads[] = {y.get()};
  ASSERT_EQ(MXAutogradBackward(1, heads, nullptr, 0), 0) << MXGetLastError();
  EXPECT_EQ(grad.values(), (Values{5, 5}));
  EXPECT_EQ(g_seen.backward_tags, (std::vector<int>{3, 0, 1, 2, 4}));
}

TEST_F(CustomOp, ItsGradientIsToldTheModeOfTheBackwardCall) {
  Array x({1, 2}), calls(Values{0}), grad(Values{0, 0});
  NDArrayHandle variables[] = {x.get()}, grads[] = {grad.get()};
  uint32_t request = 1;
  ASSERT_EQ(MXAutogradMarkVariables(1, variables, &request, grads), 0);
  for (const int training : {1, 0}) {
    int before = 0;
    ASSERT_EQ(MXAutogradSetIsRecording(1, &before), 0);  // and not training
    const Array y = call("Custom", {x.get(), calls.get()}, {{"op_type", "scale"}});
    ASSERT_EQ(MXAutogradSetIsRecording(0, &before), 0);
    NDArrayHandle heads[] = {y.get()};
    ASSERT_EQ(MXAutogradBackwardEx(1, heads, nullptr, 0, nullptr, 0, 0, training, nullptr, nullptr),
              0)
        << MXGetLastError();
    EXPECT_EQ(g_seen.backward_training, training);
  }
}

TEST_F(CustomOp, InAnExecutorItsGradientIsToldTheModeOfTheForwardPass) {
  const Sym data = var("x");
  const Sym custom = call_symbol("Custom", "c", {data.get()}, {{"op_type", "scale"}});
  const Array x({1, 2}), calls(Values{0}), grad(Values{0, 0});
  NDArrayHandle arguments[] = {x.get()}, gradients[] = {grad.get()}, states[] = {calls.get()};
  uint32_t request = 1;
  for (const bool training : {true, false}) {
    Bound executor;
    ASSERT_EQ(MXExecutorBind(custom.get(), 1, 0, 1, arguments, gradients, &request, 1, states,
                             executor.out()),
              0)
        << MXGetLastError();
    executor.forward(training);
    const Array head({1, 1});
    NDArrayHandle heads[] = {head.get()};
    ASSERT_EQ(MXExecutorBackwardEx(executor.get(), 1, heads, training ? 1 : 0), 0)
        << MXGetLastError();
    EXPECT_EQ(grad.values(), (Values{2, 2}));
    EXPECT_EQ(g_seen.backward_training, training ? 1 : 0);
  }
}

TEST_F(CustomOp, NamesTheValuesOfANetwork) {
  SymbolHandle x = nullptr, custom = nullptr;
  const char *keys[] = {"op_type"}, *values[] = {"scale"}, *inputs[] = {"data"};
  ASSERT_EQ(MXSymbolCreateVariable("x", &x), 0);
  ASSERT_EQ(MXSymbolCreateAtomicSymbol(op("Custom"), 1, keys, values, &custom), 0)
      << MXGetLastError();
  ASSERT_EQ(MXSymbolCompose(custom, "c", 1, inputs, &x), 0) << MXGetLastError();
  uint32_t count = 0;
  const char** names = nullptr;
  ASSERT_EQ(MXSymbolListAuxiliaryStates(custom, &count, &names), 0);
  ASSERT_EQ(count, 1U);
  EXPECT_STREQ(names[0], "c_calls");
  ASSERT_EQ(MXSymbolListOutputs(custom, &count, &names), 0);
  ASSERT_EQ(count, 1U);
  EXPECT_STREQ(names[0], "c_scaled");
  MXSymbolFree(custom);
  MXSymbolFree(x);
}

TEST_F(CustomOp, AFailureIsAnErrorThatNamesIt) {
  const Array x(Values{1}), calls(Values{0});
  g_seen.fails = true;
  std::vector<NDArrayHandle> outputs;
  EXPECT_EQ(invoke("Custom", {x.get(), calls.get()}, {{"op_type", "scale"}}, &outputs), -1);
  EXPECT_TRUE(error_has("Custom(scale)"));
  EXPECT_EQ(invoke("Custom", {x.get()}, {{"op_type", "scale"}}, &outputs), -1);
  EXPECT_TRUE(error_has("expected 2: data, calls"));
  EXPECT_EQ(invoke("Custom", {x.get()}, {{"op_type", "no such"}}, &outputs), -1);
  EXPECT_TRUE(error_has("given op_type 'no such'"));
  EXPECT_EQ(invoke("Custom", {x.get()}, {}, &outputs), -1);
  EXPECT_TRUE(error_has("given no op_type"));
}

}  // namespace
}  // namespace mxnet::c_test
