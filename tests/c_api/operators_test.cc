// SPDX-License-Identifier: Apache-2.0
// Operators through the C ABI: lists, information, calls, errors. Signatures as in
// facts/c_api-1.9.1.json.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <type_traits>
#include <vector>

#include "handles.h"

namespace mxnet::c_test {
namespace {

#define MX_SIGNATURE(name, ...) static_assert(std::is_same_v<decltype(&name), int (*)(__VA_ARGS__)>)
// clang-format off
MX_SIGNATURE(MXImperativeInvoke, AtomicSymbolCreator, int, NDArrayHandle *, int *, NDArrayHandle **, int, const char **, const char **);
MX_SIGNATURE(MXImperativeInvokeEx, AtomicSymbolCreator, int, NDArrayHandle *, int *, NDArrayHandle **, int, const char **, const char **, const int **);
MX_SIGNATURE(MXListAllOpNames, uint32_t *, const char ***);
MX_SIGNATURE(MXSymbolListAtomicSymbolCreators, uint32_t *, AtomicSymbolCreator **);
MX_SIGNATURE(MXSymbolGetAtomicSymbolName, AtomicSymbolCreator, const char **);
MX_SIGNATURE(MXSymbolGetAtomicSymbolInfo, AtomicSymbolCreator, const char **, const char **, uint32_t *, const char ***, const char ***, const char ***, const char **, const char **);
MX_SIGNATURE(NNGetOpHandle, const char *, OpHandle *);
MX_SIGNATURE(NNListAllOpNames, nn_uint *, const char ***);
MX_SIGNATURE(NNListUniqueOps, nn_uint *, OpHandle **);
MX_SIGNATURE(NNGetOpInfo, OpHandle, const char **, const char **, nn_uint *, const char ***, const char ***, const char ***, const char **);
MX_SIGNATURE(MXListFunctions, uint32_t *, FunctionHandle **);
MX_SIGNATURE(MXGetFunction, const char *, FunctionHandle *);
MX_SIGNATURE(MXFuncGetInfo, FunctionHandle, const char **, const char **, uint32_t *, const char ***, const char ***, const char ***, const char **);
MX_SIGNATURE(MXFuncDescribe, FunctionHandle, uint32_t *, uint32_t *, uint32_t *, int *);
MX_SIGNATURE(MXFuncInvoke, FunctionHandle, NDArrayHandle *, float *, NDArrayHandle *);
MX_SIGNATURE(MXFuncInvokeEx, FunctionHandle, NDArrayHandle *, float *, NDArrayHandle *, int, char **, char **);
MX_SIGNATURE(MXAutogradBackward, uint32_t, NDArrayHandle *, NDArrayHandle *, int);
MX_SIGNATURE(MXAutogradBackwardEx, uint32_t, NDArrayHandle *, NDArrayHandle *, uint32_t, NDArrayHandle *, int, int, int, NDArrayHandle **, int **);
MX_SIGNATURE(MXAutogradComputeGradient, uint32_t, NDArrayHandle *);
MX_SIGNATURE(MXAutogradIsRecording, bool *);
MX_SIGNATURE(MXAutogradIsTraining, bool *);
MX_SIGNATURE(MXAutogradMarkVariables, uint32_t, NDArrayHandle *, uint32_t *, NDArrayHandle *);
MX_SIGNATURE(MXAutogradSetIsRecording, int, int *);
MX_SIGNATURE(MXAutogradSetIsTraining, int, int *);
MX_SIGNATURE(MXCustomFunctionRecord, int, NDArrayHandle *, int, NDArrayHandle *, struct MXCallbackList *);
// clang-format on
#undef MX_SIGNATURE

TEST(CImperative, MakesVisibleOutputs) {
  const Array x({1, 2, 3}), y({10, 20, 30});
  EXPECT_EQ(call("elemwise_add", {x.get(), y.get()}).values(), (Values{11, 22, 33}));
  EXPECT_EQ(call("_plus_scalar", {x.get()}, {{"scalar", "2.0"}}).values(), (Values{3, 4, 5}));
}

TEST(CImperative, OfAParameterThatIsGivenTwiceTheFirstCounts) {
  const Array x({1, 2, 3});
  EXPECT_EQ(call("_plus_scalar", {x.get()}, {{"scalar", "1"}, {"scalar", "bad"}}).values(),
            (Values{2, 3, 4}));
}

TEST(CImperative, WritesGivenOutputs) {
  const Array x({1, 2, 3}), out({0, 0, 0});
  std::vector<NDArrayHandle> outputs{out.get()};
  ASSERT_EQ(invoke("_plus_scalar", {x.get()}, {{"scalar", "1"}}, &outputs), 0) << MXGetLastError();
  EXPECT_EQ(out.values(), (Values{2, 3, 4}));
  outputs = {x.get()};
  ASSERT_EQ(invoke("_plus_scalar", {x.get()}, {{"scalar", "1"}}, &outputs), 0) << MXGetLastError();
  EXPECT_EQ(x.values(), (Values{2, 3, 4}));
}

TEST(CImperative, FillsArraysWithoutShape) {
  const Array x({1, 2});
  NDArrayHandle none;
  ASSERT_EQ(MXNDArrayCreateNone(&none), 0);
  const Array out(none);
  std::vector<NDArrayHandle> outputs{none};
  ASSERT_EQ(invoke("_plus_scalar", {x.get()}, {{"scalar", "1"}}, &outputs), 0) << MXGetLastError();
  EXPECT_EQ(out.values(), (Values{2, 3}));
}

TEST(CImperative, TheOlderCallDoesTheSame) {
  const Array x({1, 2});
  NDArrayHandle inputs[] = {x.get(), x.get()};
  int count = 0;
  NDArrayHandle* outputs = nullptr;
  ASSERT_EQ(
      MXImperativeInvoke(op("elemwise_mul"), 2, inputs, &count, &outputs, 0, nullptr, nullptr), 0);
  ASSERT_EQ(count, 1);
  EXPECT_EQ(Array(outputs[0]).values(), (Values{1, 4}));
}

TEST(CImperative, ErrorsNameOperatorGivenAndExpected) {
  const Array x({1, 2, 3}), y({1, 2});
  std::vector<NDArrayHandle> none, two{x.get(), y.get()};
  EXPECT_EQ(invoke("elemwise_add", {x.get()}, {}, &none), -1);
  EXPECT_TRUE(error_has("MXNetError: [elemwise_add] given 1 inputs, expected 2: lhs, rhs"));
  EXPECT_EQ(invoke("elemwise_add", {x.get(), y.get()}, {}, &none), -1);
  EXPECT_TRUE(error_has("(3,)") && error_has("(2,)")) << MXGetLastError();
  EXPECT_EQ(invoke("elemwise_add", {x.get(), x.get()}, {}, &two), -1);
  EXPECT_TRUE(error_has("given 2 outputs, expected 1")) << MXGetLastError();
  EXPECT_EQ(invoke("_plus_scalar", {x.get()}, {{"skalar", "1"}}, &none), -1);
  EXPECT_TRUE(error_has("unknown parameter 'skalar'")) << MXGetLastError();
  EXPECT_EQ(invoke("_plus_scalar", {x.get()}, {{"scalar", "one"}}, &none), -1);
  EXPECT_TRUE(error_has("given 'one' for parameter scalar")) << MXGetLastError();
  EXPECT_TRUE(none.empty());
}

TEST(CImperative, MisusedHandlesAndNullsAreErrors) {
  const Array x({1});
  NDArrayHandle inputs[] = {x.get()};
  int count = 0;
  NDArrayHandle* outputs = nullptr;
  const int* types;
  EXPECT_EQ(MXImperativeInvokeEx(nullptr, 1, inputs, &count, &outputs, 0, nullptr, nullptr, &types),
            -1);
  EXPECT_TRUE(error_has("expected an operator handle"));
  uint64_t no_operator[64] = {};
  EXPECT_EQ(
      MXImperativeInvokeEx(no_operator, 1, inputs, &count, &outputs, 0, nullptr, nullptr, &types),
      -1);
  EXPECT_TRUE(error_has("handle of another kind"));
  const OpHandle square = op("square");
  EXPECT_EQ(MXImperativeInvokeEx(square, 1, nullptr, &count, &outputs, 0, nullptr, nullptr, &types),
            -1);
  EXPECT_EQ(MXImperativeInvokeEx(square, 1, inputs, nullptr, &outputs, 0, nullptr, nullptr, &types),
            -1);
  EXPECT_EQ(MXImperativeInvokeEx(square, 1, inputs, &count, nullptr, 0, nullptr, nullptr, &types),
            -1);
  EXPECT_EQ(MXImperativeInvokeEx(square, 1, inputs, &count, &outputs, 1, nullptr, nullptr, &types),
            -1);
  EXPECT_EQ(MXImperativeInvokeEx(square, 1, inputs, &count, &outputs, 0, nullptr, nullptr, nullptr),
            -1);
  NDArrayHandle bad[] = {square};
  EXPECT_EQ(MXImperativeInvokeEx(square, 1, bad, &count, &outputs, 0, nullptr, nullptr, &types),
            -1);
  EXPECT_TRUE(error_has("NDArray handle"));
}

TEST(COpInfo, NamesHandlesAndListsAgree) {
  uint32_t count = 0, count2 = 0, handle_count = 0;
  const char **names, **names2;
  AtomicSymbolCreator* creators;
  ASSERT_EQ(MXListAllOpNames(&count, &names), 0);
  ASSERT_EQ(NNListAllOpNames(&count2, &names2), 0);
  ASSERT_EQ(MXSymbolListAtomicSymbolCreators(&handle_count, &creators), 0);
  EXPECT_EQ(count, count2);
  EXPECT_LT(handle_count, count);  // aliases
  std::vector<void*> handles(creators, creators + handle_count);
  for (uint32_t i = 0; i < count; ++i)
    EXPECT_NE(std::find(handles.begin(), handles.end(), op(names[i])), handles.end()) << names[i];
}

TEST(COpInfo, DescribesArguments) {
  const char *name, *doc, *key, *return_type;
  uint32_t count;
  const char **names, **types, **docs;
  ASSERT_EQ(MXSymbolGetAtomicSymbolInfo(op("_PlusScalar"), &name, &doc, &count, &names, &types,
                                        &docs, &key, &return_type),
            0);
  EXPECT_STREQ(name, "_plus_scalar");
  ASSERT_EQ(count, 3u);
  EXPECT_STREQ(names[0], "data");
  EXPECT_STREQ(types[0], "NDArray-or-Symbol");
  EXPECT_STREQ(names[1], "scalar");
  EXPECT_STREQ(types[1], "double, optional, default=1");
  EXPECT_STREQ(key, "");
  EXPECT_STREQ(return_type, "");
  EXPECT_EQ(MXSymbolGetAtomicSymbolInfo(op("square"), &name, &doc, &count, &names, &types, &docs,
                                        &key, nullptr),
            0);
  ASSERT_EQ(
      NNGetOpInfo(op("_PlusScalar"), &name, &doc, &count, &names, &types, &docs, &return_type), 0);
  EXPECT_EQ(count, 3u);
  ASSERT_EQ(MXSymbolGetAtomicSymbolName(op("_PlusScalar"), &name), 0);
  EXPECT_STREQ(name, "_plus_scalar");
  EXPECT_EQ(MXSymbolGetAtomicSymbolName(nullptr, &name), -1);
}

TEST(COpInfo, UnknownNamesAreErrors) {
  OpHandle handle = nullptr;
  EXPECT_EQ(NNGetOpHandle("elemwise_ad", &handle), -1);
  EXPECT_TRUE(error_has("no such operator"));
  EXPECT_TRUE(error_has("elemwise_add"));
  EXPECT_EQ(handle, nullptr);
}

TEST(CFunction, TheFourOldOnesAreDescribed) {
  uint32_t count;
  FunctionHandle* functions;
  ASSERT_EQ(MXListFunctions(&count, &functions), 0);
  ASSERT_EQ(count, 4u);
  FunctionHandle set_value;
  ASSERT_EQ(MXGetFunction("_set_value", &set_value), 0);
  EXPECT_EQ(set_value, functions[2]);
  const char *name, *doc;
  const char **names, **types, **docs;
  ASSERT_EQ(MXFuncGetInfo(set_value, &name, &doc, &count, &names, &types, &docs, nullptr), 0);
  EXPECT_STREQ(name, "_set_value");
  ASSERT_EQ(count, 1u);
  EXPECT_STREQ(types[0], "real_t");
  uint32_t uses, scalars, mutates;
  int mask;
  ASSERT_EQ(MXFuncDescribe(functions[3], &uses, &scalars, &mutates, &mask), 0);
  EXPECT_EQ(uses, 3u);
  EXPECT_EQ(scalars, 0u);
  EXPECT_EQ(mutates, 1u);
  EXPECT_EQ(mask, 5);
  EXPECT_EQ(MXGetFunction("no such", &set_value), -1);
  EXPECT_EQ(MXFuncDescribe(nullptr, &uses, &scalars, &mutates, &mask), -1);
  EXPECT_EQ(MXFuncInvoke(functions[2], nullptr, nullptr, nullptr), -1);
}

// What the exiting thread had of its own is gone by then.
void compute_at_exit() {
  const Array x(Values{1, 2});
  const bool right = call("elemwise_add", {x.get(), x.get()}).values() == Values{2, 4};
  ::_exit(right ? 0 : 1);
}

void exit_after_computing() {
  const Array x(Values{1, 2});
  call("elemwise_add", {x.get(), x.get()}).values();
  std::atexit(compute_at_exit);
  std::exit(2);
}

TEST(OperatorsDeathTest, AreThereForExitHandlersOfWhicheverThreadExits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_after_computing(), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::thread(exit_after_computing).join(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace mxnet::c_test
