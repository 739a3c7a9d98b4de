// SPDX-License-Identifier: Apache-2.0
// Cached ops as C programs make and call them.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "mxnet/c_api_ext.h"
#include "symbols.h"

namespace mxnet::c_test {
namespace {

// A cached op that frees itself.
class Cached {
 public:
  ~Cached() {
    if (handle_ != nullptr) {
      EXPECT_EQ(MXFreeCachedOp(handle_), 0);
    }
  }
  CachedOpHandle get() const { return handle_; }
  CachedOpHandle* out() { return &handle_; }

 private:
  CachedOpHandle handle_ = nullptr;
};

// (x + y, x * y)
Sym sum_and_product() {
  const Sym x = var("x"), y = var("y");
  const Sym sum = call_symbol("elemwise_add", "s", {x.get(), y.get()});
  const Sym product = call_symbol("elemwise_mul", "p", {x.get(), y.get()});
  SymbolHandle both[] = {sum.get(), product.get()};
  Sym group;
  EXPECT_EQ(MXSymbolCreateGroup(2, both, group.out()), 0) << MXGetLastError();
  return group;
}

class CachedCalls : public testing::Test {
 protected:
  Sym net_ = sum_and_product();
  Array x_{Values{1, 2}}, y_{Values{3, 5}};
  NDArrayHandle inputs_[2] = {x_.get(), y_.get()};
  const Values sum_{4, 7}, product_{3, 10};
};

TEST_F(CachedCalls, MakeTheirOutputs) {
  Cached op;
  MX_OK(MXCreateCachedOp(net_.get(), op.out()));
  int count = 0;
  NDArrayHandle* outputs = nullptr;
  MX_OK(MXInvokeCachedOp(op.get(), 2, inputs_, &count, &outputs));
  ASSERT_EQ(count, 2);
  const Array sum(outputs[0]), product(outputs[1]);
  EXPECT_EQ(sum.values(), sum_);
  EXPECT_EQ(product.values(), product_);
}

TEST_F(CachedCalls, WriteIntoOutputsThatAreGiven) {
  const char *keys[] = {"static_alloc", "static_shape"}, *values[] = {"True", "True"};
  Cached op;
  MX_OK(MXCreateCachedOpEx(net_.get(), 2, keys, values, op.out()));
  const Array sum(Values{0, 0}), product(Values{0, 0});
  NDArrayHandle given[] = {sum.get(), product.get()};
  NDArrayHandle* outputs = given;
  int count = 2;
  const int* storage_types = nullptr;
  for (int repeat = 0; repeat < 3; ++repeat) {
    MX_OK(MXInvokeCachedOpEx(op.get(), 2, inputs_, &count, &outputs, &storage_types));
    EXPECT_EQ(sum.values(), sum_);
    EXPECT_EQ(product.values(), product_);
  }
  EXPECT_EQ(storage_types[0], 0);
  EXPECT_EQ(storage_types[1], 0);
  count = 1;
  EXPECT_EQ(MXInvokeCachedOp(op.get(), 2, inputs_, &count, &outputs), -1);
  EXPECT_TRUE(error_has("given 1 outputs, expected 2")) << MXGetLastError();
}

TEST_F(CachedCalls, ErrorsSayWhatIsExpectedAndLeaveTheOpUsable) {
  const char *wrong[] = {"static_allok"}, *values[] = {"True"};
  Cached none, op;
  EXPECT_EQ(MXCreateCachedOpEx(net_.get(), 1, wrong, values, none.out()), -1);
  EXPECT_TRUE(error_has("static_alloc")) << MXGetLastError();
  MX_OK(MXCreateCachedOp(net_.get(), op.out()));
  int count = 0;
  NDArrayHandle* outputs = nullptr;
  EXPECT_EQ(MXInvokeCachedOp(op.get(), 1, inputs_, &count, &outputs), -1);
  const Array longer(Values{1, 2, 3});
  NDArrayHandle unequal[] = {x_.get(), longer.get()};
  EXPECT_EQ(MXInvokeCachedOp(op.get(), 2, unequal, &count, &outputs), -1);
  EXPECT_TRUE(error_has("3")) << MXGetLastError();
  MX_OK(MXInvokeCachedOp(op.get(), 2, inputs_, &count, &outputs));
  const Array sum(outputs[0]), product(outputs[1]);
  EXPECT_EQ(sum.values(), sum_);
}

TEST_F(CachedCalls, ThreadsShareOne) {
  Cached op;
  MX_OK(MXCreateCachedOpEX(net_.get(), 0, nullptr, nullptr, op.out(), true));
  constexpr int kThreads = 4;
  std::vector<int> wrong(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto first = static_cast<float>(t);
      const Array x(Values{first, 1});
      NDArrayHandle inputs[] = {x.get(), y_.get()};
      for (int run = 0; run < 100; ++run) {
        int count = 0;
        NDArrayHandle* outputs = nullptr;
        if (MXInvokeCachedOp(op.get(), 2, inputs, &count, &outputs) != 0) {
          ++wrong[static_cast<std::size_t>(t)];
          continue;
        }
        const Array sum(outputs[0]), product(outputs[1]);
        if (sum.values() != Values{first + 3, 6} || product.values() != Values{first * 3, 5})
          ++wrong[static_cast<std::size_t>(t)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kThreads));
}

TEST_F(CachedCalls, AreDifferentiated) {
  const Array dx(Values{0, 0}), dy(Values{0, 0});
  NDArrayHandle grads[] = {dx.get(), dy.get()};
  uint32_t write[] = {1, 1};
  MX_OK(MXAutogradMarkVariables(2, inputs_, write, grads));
  Cached op;
  MX_OK(MXCreateCachedOp(net_.get(), op.out()));
  int before = 0, count = 0;
  NDArrayHandle* outputs = nullptr;
  MX_OK(MXAutogradSetIsRecording(1, &before));
  const int status = MXInvokeCachedOp(op.get(), 2, inputs_, &count, &outputs);
  MX_OK(MXAutogradSetIsRecording(before, &before));
  ASSERT_EQ(status, 0) << MXGetLastError();
  const Array sum(outputs[0]), product(outputs[1]);
  NDArrayHandle heads[] = {sum.get(), product.get()};
  MX_OK(MXAutogradBackward(2, heads, nullptr, 0));
  EXPECT_EQ(dx.values(), (Values{4, 6}));  // 1 + y
  EXPECT_EQ(dy.values(), (Values{2, 3}));  // 1 + x
}

TEST_F(CachedCalls, AGraphWithoutInputsIsToldItsDevice) {
  const Sym ones = call_symbol("_ones", "o", {}, {{"shape", "(2,)"}});
  Cached op;
  MX_OK(MXCreateCachedOp(ones.get(), op.out()));
  int count = 0;
  NDArrayHandle* outputs = nullptr;
  const int* storage_types = nullptr;
  MX_OK(MXCachedOpCall(op.get(), 1, 0, 0, nullptr, &count, &outputs, &storage_types));
  ASSERT_EQ(count, 1);
  const Array result(outputs[0]);
  EXPECT_EQ(result.values(), (Values{1, 1}));
  EXPECT_EQ(storage_types[0], 0);
  EXPECT_EQ(MXCachedOpCall(op.get(), 77, 0, 0, nullptr, &count, &outputs, &storage_types), -1);
  EXPECT_TRUE(error_has("77")) << MXGetLastError();
}

struct SeenValue {
  std::string op;
  Values values;
  bool operator==(const SeenValue&) const = default;
};
// The callback of this function takes no state.
std::map<std::string, SeenValue> g_seen;
void note(const char* name, const char* op, NDArrayHandle value) {
  g_seen[name] = {op, Array(value).values()};
}

TEST_F(CachedCalls, HooksSeeEveryNode) {
  Cached op;
  MX_OK(MXCreateCachedOp(net_.get(), op.out()));
  const auto run = [&] {
    g_seen.clear();
    int count = 0;
    NDArrayHandle* outputs = nullptr;
    ASSERT_EQ(MXInvokeCachedOp(op.get(), 2, inputs_, &count, &outputs), 0) << MXGetLastError();
    const Array sum(outputs[0]), product(outputs[1]);
  };
  MX_OK(MXCachedOpRegisterOpHook(op.get(), note, false));
  run();
  EXPECT_EQ(g_seen.size(), 2u);
  EXPECT_EQ(g_seen["s_output"], (SeenValue{"elemwise_add", sum_}));
  EXPECT_EQ(g_seen["p_output"], (SeenValue{"elemwise_mul", product_}));
  MX_OK(MXCachedOpRegisterOpHook(op.get(), note, true));
  run();
  EXPECT_EQ(g_seen.size(), 6u);
  MX_OK(MXCachedOpRegisterOpHook(op.get(), nullptr, false));
  run();
  EXPECT_TRUE(g_seen.empty());
}

struct HookState {
  std::map<std::string, SeenValue> seen;
  int dropped = 0;
};

TEST_F(CachedCalls, AHookHasAStateThatIsDroppedWithIt) {
  HookState state;
  Cached op;
  MX_OK(MXCreateCachedOp(net_.get(), op.out()));
  const CachedOpHook hook = [](const char* name, const char* type, NDArrayHandle value,
                               void* data) {
    static_cast<HookState*>(data)->seen[name] = {type, Array(value).values()};
  };
  const auto drop = [](void* data) {
    ++static_cast<HookState*>(data)->dropped;
    return 0;
  };
  MX_OK(MXCachedOpSetHook(op.get(), hook, &state, drop, 0));
  int count = 0;
  NDArrayHandle* outputs = nullptr;
  MX_OK(MXInvokeCachedOp(op.get(), 2, inputs_, &count, &outputs));
  { const Array sum(outputs[0]), product(outputs[1]); }
  EXPECT_EQ(state.seen.size(), 2u);
  EXPECT_EQ(state.seen["p_output"], (SeenValue{"elemwise_mul", product_}));
  EXPECT_EQ(state.dropped, 0);
  MX_OK(MXCachedOpSetHook(op.get(), nullptr, nullptr, nullptr, 0));
  EXPECT_EQ(state.dropped, 1);
  // A call that fails drops it as well.
  EXPECT_EQ(MXCachedOpSetHook(nullptr, hook, &state, drop, 0), -1);
  EXPECT_EQ(state.dropped, 2);
}

}  // namespace
}  // namespace mxnet::c_test
