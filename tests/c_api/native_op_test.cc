// SPDX-License-Identifier: Apache-2.0
// Operators by the address of a description, as programs of the first versions have them: y = a * b
// with a second output, the sum of a.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "executors.h"

namespace mxnet::c_test {
namespace {

constexpr const char* kArguments[] = {"a", "b", nullptr};
constexpr const char* kOutputs[] = {"product", "sum", nullptr};

char** names(const char* const* list) { return const_cast<char**>(list); }

// `a` says the shape of all but the sum.
void same_shapes(int* ndims, unsigned** shapes) {
  static unsigned one[] = {1};
  for (const int i : {1, 2}) {
    ndims[i] = ndims[0];
    shapes[i] = shapes[0];
  }
  ndims[3] = 1;
  shapes[3] = one;
}

// Pointers to the arrays of each kind: inputs, outputs, gradients of inputs, of outputs.
template <class Pointer>
std::vector<std::vector<Pointer>> by_kind(int size, Pointer* pointers, const int* tags) {
  std::vector<std::vector<Pointer>> kinds(4);
  for (int i = 0; i < size; ++i) kinds[static_cast<std::size_t>(tags[i])].push_back(pointers[i]);
  return kinds;
}

void native_forward(int size, float** data, int* ndims, unsigned** shapes, int* tags, void*) {
  const auto kinds = by_kind(size, data, tags);
  ASSERT_EQ(ndims[0], 1);
  const unsigned n = shapes[0][0];
  for (unsigned i = 0; i < n; ++i) kinds[1][0][i] = kinds[0][0][i] * kinds[0][1][i];
  kinds[1][1][0] = std::accumulate(kinds[0][0], kinds[0][0] + n, 0.0f);
}

// Without gradients of the outputs: those of the product for a slope of 10. The context counts.
void native_backward(int size, float** data, int* ndims, unsigned** shapes, int* tags,
                     void* calls) {
  ++*static_cast<int*>(calls);
  const auto kinds = by_kind(size, data, tags);
  ASSERT_EQ(ndims[0], 1);
  const auto at = static_cast<std::size_t>(std::find(tags, tags + size, 0) - tags);
  for (unsigned i = 0; i < shapes[at][0]; ++i) {
    const float slope = kinds[3].empty() ? 10.0f : kinds[3][0][i];
    for (const std::size_t k : {0, 1}) kinds[2][k][i] = slope * kinds[0][1 - k][i];
  }
}

class NativeOp : public testing::Test {
 protected:
  NativeOp() {
    info_ = {native_forward,
             native_backward,
             [](int, int* ndims, unsigned** shapes, void*) { same_shapes(ndims, shapes); },
             [](char*** list, void*) { *list = names(kOutputs); },
             [](char*** list, void*) { *list = names(kArguments); },
             nullptr,
             &backward_calls_,
             nullptr,
             nullptr,
             nullptr};
  }

  const char* address() const { return address_.c_str(); }
  Sym symbol(const Params& more = {}) const {
    const Sym a = var("a");
    Params params{{"info", address()}};
    params.insert(params.end(), more.begin(), more.end());
    return call_symbol("_Native", "n", {a.get()}, params);
  }

  NativeOpInfo info_{};
  const std::string address_ = fmt::format("{:x}", reinterpret_cast<uintptr_t>(&info_));
  int backward_calls_ = 0;
};

// Writes gradients by `request`, for head gradients of 1, and gives those of both inputs.
std::pair<Values, Values> gradients(const Sym& net, uint32_t request) {
  const Array a({1, 2}), b({3, 4}), da({100, 100}), db({100, 100}), head({1, 1}), other(Values{1});
  NDArrayHandle arguments[] = {a.get(), b.get()}, grads[] = {da.get(), db.get()};
  uint32_t requests[] = {request, 1};
  Bound executor;
  EXPECT_EQ(
      MXExecutorBind(net.get(), 1, 0, 2, arguments, grads, requests, 0, nullptr, executor.out()), 0)
      << MXGetLastError();
  executor.forward(true);
  NDArrayHandle heads[] = {head.get(), other.get()};
  EXPECT_EQ(MXExecutorBackward(executor.get(), 2, heads), 0) << MXGetLastError();
  return {da.values(), db.values()};
}

TEST_F(NativeOp, ComputesInHostMemory) {
  const Array a({1, 2, 3}), b({4, 5, 6});
  std::vector<NDArrayHandle> outputs;
  ASSERT_EQ(invoke("_Native", {a.get(), b.get()}, {{"info", address()}}, &outputs), 0)
      << MXGetLastError();
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(Array(outputs[0]).values(), (Values{4, 10, 18}));
  EXPECT_EQ(Array(outputs[1]).values(), Values{6});
}

TEST_F(NativeOp, NamesTheValuesOfANetwork) {
  const Sym net = symbol();
  uint32_t count = 0;
  const char** list = nullptr;
  ASSERT_EQ(MXSymbolListArguments(net.get(), &count, &list), 0);
  ASSERT_EQ(count, 2U);
  EXPECT_STREQ(list[1], "n_b");
  ASSERT_EQ(MXSymbolListOutputs(net.get(), &count, &list), 0);
  ASSERT_EQ(count, 2U);
  EXPECT_STREQ(list[0], "n_product");
}

TEST_F(NativeOp, ItsGradientGetsThoseOfTheOutputsWhereItNeedsThem) {
  EXPECT_EQ(gradients(symbol(), 1), (std::pair<Values, Values>({3, 4}, {1, 2})));
  EXPECT_EQ(gradients(symbol({{"need_top_grad", "0"}}), 1),
            (std::pair<Values, Values>({30, 40}, {10, 20})));
  EXPECT_EQ(backward_calls_, 2);
}

TEST_F(NativeOp, ItsGradientIsAddedWhereAsked) {
  EXPECT_EQ(gradients(symbol(), 3), (std::pair<Values, Values>({103, 104}, {1, 2})));
}

TEST_F(NativeOp, MayChangeBehindItsAddress) {
  const Array a({1, 2}), b({3, 4});
  const auto first = [&] {
    std::vector<NDArrayHandle> outputs;
    EXPECT_EQ(invoke("_Native", {a.get(), b.get()}, {{"info", address()}}, &outputs), 0);
    const Array sum(outputs[1]);
    return Array(outputs[0]).values();
  };
  EXPECT_EQ(first(), (Values{3, 8}));
  info_.forward = [](int, float** data, int*, unsigned**, int* tags, void*) {
    for (int i = 0; i < 4; ++i)
      if (tags[i] == 1) data[i][0] = 7;
  };
  EXPECT_EQ(first()[0], 7);
}

TEST_F(NativeOp, TakesOnlyFloat32) {
  int before = 0;
  EXPECT_EQ(MXSetIsNumpyShape(0, &before), 0);
  NDArrayHandle doubles = nullptr;
  const uint32_t shape[] = {2};
  ASSERT_EQ(MXNDArrayCreateEx(shape, 1, 1, 0, 0, /*dtype=*/1, &doubles), 0);
  std::vector<NDArrayHandle> outputs;
  EXPECT_EQ(invoke("_Native", {doubles, doubles}, {{"info", address()}}, &outputs), -1);
  EXPECT_TRUE(error_has("given float64, expected float32"));
  MXNDArrayFree(doubles);
}

TEST_F(NativeOp, AnAddressWhereNoDescriptionLiesIsRefused) {
  const Array a(Values{1});
  const std::array<void*, 12> no_functions{&info_, &info_, &info_, &info_, &info_, &info_};
  const auto there = reinterpret_cast<uintptr_t>(no_functions.data());
  for (const std::string& text :
       {std::string("8"), std::string("fffffffffffffff8"), std::string("-8"), std::string("0x"),
        std::string(), std::string("seven"), address_ + "1", fmt::format("{:x}", there),
        fmt::format("{:x}", there + 4)}) {
    for (const char* name : {"_Native", "_NDArray"}) {
      std::vector<NDArrayHandle> outputs;
      EXPECT_EQ(invoke(name, {a.get(), a.get()}, {{"info", text.c_str()}}, &outputs), -1) << text;
      EXPECT_TRUE(error_has("given info '" + text + "'")) << MXGetLastError();
    }
  }
}

// --- On arrays

bool array_forward(int size, void** handles, int* tags, void* fails) {
  const auto kinds = by_kind(size, handles, tags);
  const bool works = !*static_cast<bool*>(fails);
  if (works) {
    void* inputs[] = {kinds[0][0], kinds[0][1]};
    void** results = const_cast<void**>(kinds[1].data());
    int count = 1;
    MXImperativeInvoke(op("elemwise_mul"), 2, inputs, &count, &results, 0, nullptr, nullptr);
  }
  for (int i = 0; i < size; ++i) MXNDArrayFree(handles[i]);
  return works;
}

// Copies what it needs, the gradient of the output, to the gradient of b.
bool array_backward(int size, void** handles, int* tags, void*) {
  const auto kinds = by_kind(size, handles, tags);
  void* inputs[] = {kinds[3][0]};
  void* result = kinds[2][1];
  void** results = &result;
  int count = 1;
  MXImperativeInvoke(op("_copy"), 1, inputs, &count, &results, 0, nullptr, nullptr);
  for (int i = 0; i < size; ++i) MXNDArrayFree(handles[i]);
  return true;
}

TEST(NDArrayOp, ComputesOnArraysAndMayFail) {
  static constexpr const char* kOne[] = {"product", nullptr};
  bool fails = false;
  const NDArrayOpInfo info{
      array_forward,
      array_backward,
      [](int, int* ndims, unsigned** shapes, void*) {
        for (const int i : {1, 2}) {
          ndims[i] = ndims[0];
          shapes[i] = shapes[0];
        }
        return true;
      },
      [](char*** list, void*) {
        *list = names(kOne);
        return true;
      },
      [](char*** list, void*) {
        *list = names(kArguments);
        return true;
      },
      [](const int* output_grads, const int*, const int*, int* count, int** needs, void*) {
        static int needed[1];
        needed[0] = output_grads[0];
        *count = 1;
        *needs = needed;
        return true;
      },
      &fails,
      nullptr,
      nullptr,
      nullptr,
      nullptr,
      nullptr};
  const std::string address = fmt::format("0x{:x}", reinterpret_cast<uintptr_t>(&info));
  const Params params{{"info", address.c_str()}};
  const Array a({1, 2}), b({3, 4}), da({9, 9}), db({9, 9}), head({5, 6});
  const Sym va = var("a"), vb = var("b");
  const Sym net = call_symbol("_NDArray", "n", {va.get(), vb.get()}, params);
  const Bound executor = bind(net, a, b, da, db);
  EXPECT_EQ(executor.forward(true), (Values{3, 8}));
  NDArrayHandle heads[] = {head.get()};
  ASSERT_EQ(MXExecutorBackward(executor.get(), 1, heads), 0) << MXGetLastError();
  EXPECT_EQ(da.values(), (Values{0, 0}));
  EXPECT_EQ(db.values(), (Values{5, 6}));

  fails = true;
  std::vector<NDArrayHandle> outputs;
  EXPECT_EQ(invoke("_NDArray", {a.get(), b.get()}, params, &outputs), -1);
  EXPECT_TRUE(error_has("[_NDArray] its forward has failed"));
}

}  // namespace
}  // namespace mxnet::c_test
