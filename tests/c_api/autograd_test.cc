// SPDX-License-Identifier: Apache-2.0
// Autograd through the C ABI, as a front end drives it.
#include "handles.h"

namespace mxnet::c_test {
namespace {

class CAutograd : public testing::Test {
 protected:
  void SetUp() override { record(true); }
  void TearDown() override { record(false); }

  static void record(bool on) {
    int before;
    ASSERT_EQ(MXAutogradSetIsRecording(on, &before), 0);
    ASSERT_EQ(MXAutogradSetIsTraining(on, &before), 0);
  }
  // attach_grad
  static Array mark(const Array& array, uint32_t request, float initial = 0) {
    Array grad(Values(array.values().size(), initial));
    NDArrayHandle variables[] = {array.get()}, grads[] = {grad.get()};
    EXPECT_EQ(MXAutogradMarkVariables(1, variables, &request, grads), 0) << MXGetLastError();
    return grad;
  }
  static int backward(const Array& head, bool retain = false) {
    NDArrayHandle heads[] = {head.get()};
    return MXAutogradBackward(1, heads, nullptr, retain);
  }
};

TEST_F(CAutograd, SwitchesReturnTheirOldValue) {
  int before = -1;
  bool current = false;
  ASSERT_EQ(MXAutogradSetIsRecording(0, &before), 0);
  EXPECT_EQ(before, 1);
  ASSERT_EQ(MXAutogradSetIsRecording(1, &before), 0);
  EXPECT_EQ(before, 0);
  ASSERT_EQ(MXAutogradIsRecording(&current), 0);
  EXPECT_TRUE(current);
  ASSERT_EQ(MXAutogradSetIsTraining(0, &before), 0);
  ASSERT_EQ(MXAutogradIsTraining(&current), 0);
  EXPECT_FALSE(current);
}

TEST_F(CAutograd, FillsBuffers) {
  const Array x({1, 2, 3});
  const Array grad = mark(x, 1, 7);
  const Array y = call("elemwise_mul", {x.get(), x.get()});
  ASSERT_EQ(backward(y), 0) << MXGetLastError();
  EXPECT_EQ(grad.values(), (Values{2, 4, 6}));
  NDArrayHandle handle;
  ASSERT_EQ(MXNDArrayGetGrad(x.get(), &handle), 0);
  EXPECT_EQ(Array(handle).values(), (Values{2, 4, 6}));
  int fresh = 0;
  ASSERT_EQ(MXNDArrayGetGradState(x.get(), &fresh), 0);
  EXPECT_EQ(fresh, 1);
  EXPECT_EQ(backward(y), -1);
  EXPECT_TRUE(error_has("not in a computational graph"));
}

TEST_F(CAutograd, RequestsAddAndNull) {
  const Array x({1, 2, 3}), w({1, 1, 1});
  const Array x_grad = mark(x, 3, 0.5), w_grad = mark(w, 0, 9);
  const Array y = call("elemwise_mul", {x.get(), w.get()});
  ASSERT_EQ(backward(y, true), 0) << MXGetLastError();
  ASSERT_EQ(backward(y), 0) << MXGetLastError();
  EXPECT_EQ(x_grad.values(), (Values{2.5, 2.5, 2.5}));
  EXPECT_EQ(w_grad.values(), (Values{9, 9, 9}));
}

TEST_F(CAutograd, GivenVariablesGetNewArrays) {
  const Array x({1, 2, 3}), head({1, 10, 100});
  const Array buffer = mark(x, 1, 7);
  const Array y = call("elemwise_mul", {x.get(), x.get()});
  NDArrayHandle heads[] = {y.get()}, head_grads[] = {head.get()}, variables[] = {x.get()};
  NDArrayHandle* grads = nullptr;
  int* types = nullptr;
  ASSERT_EQ(MXAutogradBackwardEx(1, heads, head_grads, 1, variables, 0, 0, 1, &grads, &types), 0)
      << MXGetLastError();
  EXPECT_EQ(types[0], 0);
  EXPECT_EQ(Array(grads[0]).values(), (Values{2, 40, 600}));
  EXPECT_EQ(buffer.values(), (Values{7, 7, 7}));
}

TEST_F(CAutograd, NullHeadGradientsAreOnes) {
  const Array x({1, 2, 3});
  const Array grad = mark(x, 1);
  const Array y = call("elemwise_mul", {x.get(), x.get()});
  NDArrayHandle heads[] = {y.get()}, head_grads[] = {nullptr};
  ASSERT_EQ(MXAutogradBackwardEx(1, heads, head_grads, 0, nullptr, 0, 0, 1, nullptr, nullptr), 0)
      << MXGetLastError();
  EXPECT_EQ(grad.values(), (Values{2, 4, 6}));
}

TEST_F(CAutograd, WritingIntoTheGraphIsAnError) {
  const Array x({1, 2});
  const Array grad = mark(x, 1);
  std::vector<NDArrayHandle> outputs{x.get()};
  EXPECT_EQ(invoke("_plus_scalar", {x.get()}, {{"scalar", "1"}}, &outputs), -1);
  EXPECT_TRUE(error_has("part of a recorded graph")) << MXGetLastError();
  EXPECT_EQ(x.values(), (Values{1, 2}));
}

// --- a function of the user: y = x, its gradient ten times as large ------------------------------

struct Calls {
  int backward = 0, deleted = 0;
  bool fails = false;
  std::vector<int> requests;
};

int ten_times(int num_ograds, int num_igrads, void** handles, const int* requests, int,
              void* state) {
  auto* calls = static_cast<Calls*>(state);
  ++calls->backward;
  EXPECT_EQ(num_ograds, 1);
  calls->requests.assign(requests, requests + num_igrads);
  const Array dout(handles[0]);
  for (int i = 0; i < num_igrads; ++i) {
    const Array din(handles[1 + i]);
    std::vector<NDArrayHandle> outputs{din.get()};
    EXPECT_EQ(invoke("_mul_scalar", {dout.get()}, {{"scalar", "10"}}, &outputs), 0)
        << MXGetLastError();
  }
  return calls->fails ? 0 : 1;
}

int count_delete(void* state) {
  ++static_cast<Calls*>(state)->deleted;
  return 1;
}

int record_function(std::vector<NDArrayHandle> inputs, const Array& y, Calls* calls) {
  using Callback = int (*)();
  Callback callbacks[] = {reinterpret_cast<Callback>(reinterpret_cast<void (*)()>(ten_times)),
                          reinterpret_cast<Callback>(reinterpret_cast<void (*)()>(count_delete))};
  void* contexts[] = {calls, calls};
  MXCallbackList list{2, callbacks, contexts};
  NDArrayHandle outputs[] = {y.get()};
  return MXCustomFunctionRecord(static_cast<int>(inputs.size()), inputs.data(), 1, outputs, &list);
}

TEST_F(CAutograd, FunctionsAreAskedForTheirGradientAndToldTheEnd) {
  const Array x({1, 2}), y({1, 2});
  const Array grad = mark(x, 1);
  Calls calls;
  ASSERT_EQ(record_function({x.get()}, y, &calls), 0) << MXGetLastError();
  const Array z = call("_mul_scalar", {y.get()}, {{"scalar", "3"}});
  EXPECT_EQ(calls.deleted, 0);
  ASSERT_EQ(backward(z), 0) << MXGetLastError();
  EXPECT_EQ(grad.values(), (Values{30, 30}));
  EXPECT_EQ(calls.backward, 1);
  EXPECT_EQ(calls.requests, std::vector<int>{1});
  EXPECT_EQ(calls.deleted, 1);
}

TEST_F(CAutograd, FunctionsAreToldWhichGradientsNobodyWants) {
  const Array x({1, 2}), constant({3, 4}), unwanted({5, 6}), y({1, 2});
  const Array grad = mark(x, 1), no_grad = mark(unwanted, 0);
  Calls calls;
  ASSERT_EQ(record_function({constant.get(), x.get(), unwanted.get()}, y, &calls), 0)
      << MXGetLastError();
  ASSERT_EQ(backward(y), 0) << MXGetLastError();
  EXPECT_EQ(calls.requests, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(grad.values(), (Values{10, 10}));
}

TEST_F(CAutograd, AFunctionIsRecordedOnlyWhileTheThreadRecords) {
  const Array x({1}), y({1});
  const Array grad = mark(x, 1);
  Calls calls;
  record(false);
  EXPECT_EQ(record_function({x.get()}, y, &calls), -1);
  EXPECT_TRUE(error_has("expected MXAutogradSetIsRecording(1)")) << MXGetLastError();
  EXPECT_EQ(calls.deleted, 0);  // it is still the caller's
}

TEST_F(CAutograd, FunctionsMayFail) {
  const Array x({1}), y({1});
  const Array grad = mark(x, 1);
  Calls calls{.fails = true};
  ASSERT_EQ(record_function({x.get()}, y, &calls), 0) << MXGetLastError();
  EXPECT_EQ(backward(y), -1);
  EXPECT_TRUE(error_has("custom function")) << MXGetLastError();
  EXPECT_EQ(MXCustomFunctionRecord(0, nullptr, 0, nullptr, nullptr), -1);
}

TEST_F(CAutograd, MisuseIsAnError) {
  const Array x({1, 2}), wrong({1});
  uint32_t request = 1, no_request = 17;
  NDArrayHandle variables[] = {x.get()}, grads[] = {wrong.get()};
  EXPECT_EQ(MXAutogradMarkVariables(1, variables, &request, grads), -1);
  EXPECT_TRUE(error_has("gradient buffer")) << MXGetLastError();
  EXPECT_EQ(MXAutogradMarkVariables(1, variables, &no_request, grads), -1);
  EXPECT_EQ(MXAutogradMarkVariables(1, nullptr, &request, grads), -1);
  EXPECT_EQ(MXAutogradMarkVariables(1, variables, nullptr, grads), -1);
  EXPECT_EQ(MXAutogradSetIsRecording(1, nullptr), -1);
  EXPECT_EQ(MXAutogradIsTraining(nullptr), -1);
  EXPECT_EQ(MXAutogradComputeGradient(1, nullptr), -1);
  EXPECT_EQ(MXAutogradComputeGradient(1, variables), -1);
}

TEST_F(CAutograd, NoGradientIsComputedOfAVariableWithANullRequest) {
  const Array x({1, 2}), z({3, 4});
  mark(x, 0);
  const Array z_grad = mark(z, 1);
  const Array y = call("elemwise_mul", {x.get(), z.get()});
  NDArrayHandle heads[] = {y.get()}, variables[] = {x.get()}, *grads = nullptr;
  int* types = nullptr;
  EXPECT_EQ(MXAutogradBackwardEx(1, heads, nullptr, 1, variables, 0, 0, 1, &grads, &types), -1);
  EXPECT_NE(std::string(MXGetLastError()).find("grad_req 'null'"), std::string::npos)
      << MXGetLastError();
}

}  // namespace
}  // namespace mxnet::c_test
