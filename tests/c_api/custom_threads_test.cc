// SPDX-License-Identifier: Apache-2.0
// Operators of the user that several threads call at once, and threads that end inside of them.
#include <gtest/gtest.h>
#include <pthread.h>
#include <semaphore.h>

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "executors.h"
#include "recorded.h"

namespace mxnet::c_test {
namespace {

constexpr int kThreads = 4, kRounds = 25;

// out = data * data. An operator keeps what it was called with, which its gradient reads: one that
// two calls had would give the one's gradient of the other's values.
struct Square {
  Values kept;
};
std::atomic<int> g_alive{0};  // descriptions and operators

int write(void* handle, const Values& values) {
  return MXNDArraySyncCopyFromCPU(handle, values.data(), values.size()) == 0 ? 1 : 0;
}

void drop_arrays(int count, void** arrays) {
  for (int i = 0; i < count; ++i) MXNDArrayFree(arrays[i]);
}

int forward(int count, void** arrays, int*, const int*, const int, void* context) {
  Values values = read(arrays[0]);
  static_cast<Square*>(context)->kept = values;
  for (float& value : values) value *= value;
  const int written = write(arrays[1], values);
  drop_arrays(count, arrays);
  return written;
}

int backward(int count, void** arrays, int*, const int*, const int, void* context) {
  Values values = read(arrays[0]);  // gradient, data, output, and the data's gradient
  const Values& kept = static_cast<const Square*>(context)->kept;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= 2 * kept[i];
  const int written = write(arrays[3], values);
  drop_arrays(count, arrays);
  return written;
}

template <class Function>
int (*any(Function function))() {
  return reinterpret_cast<int (*)()>(reinterpret_cast<void (*)()>(function));
}

int drop_operator(void* context) {
  delete static_cast<Square*>(context);
  --g_alive;
  return 1;
}
int drop_prop(void*) {
  --g_alive;
  return 1;
}

template <const char* const* names>
int list(char*** out, void*) {
  *out = const_cast<char**>(names);
  return 1;
}
constexpr const char *kArguments[] = {"data", nullptr}, *kOutputs[] = {"squared", nullptr},
                     *kStates[] = {nullptr};

int infer_shape(int, int* ndims, int** shapes, void*) {
  ndims[1] = ndims[0];
  shapes[1] = shapes[0];
  return 1;
}

template <auto run>
int create_operator(const char*, int, unsigned**, const int*, const int*, MXCallbackList* made,
                    void*) {
  static std::array<int (*)(), 3> functions{any(drop_operator), any(run), any(backward)};
  thread_local std::array<void*, 3> contexts;
  contexts.fill(new Square);
  *made = {3, functions.data(), contexts.data()};
  ++g_alive;
  return 1;
}

template <auto run>
int create_prop(const char*, const int, const char**, const char**, MXCallbackList* made) {
  static std::array<int (*)(), 7> functions{any(drop_prop),           any(list<kArguments>),
                                            any(list<kOutputs>),      any(list<kStates>),
                                            any(infer_shape),         nullptr,
                                            any(create_operator<run>)};
  static std::array<void*, 7> contexts{};
  *made = {7, functions.data(), contexts.data()};
  ++g_alive;
  return 1;
}

const Params kSquare{{"op_type", "square"}};

class CustomThreads : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(MXCustomOpRegister("square", create_prop<forward>), 0) << MXGetLastError();
  }
};

Values numbers(int thread, int round) {
  const auto first = static_cast<float>(thread + 1), second = static_cast<float>(round + 1);
  return {first, second, first * second};
}
Values squares(Values values) {
  for (float& value : values) value *= value;
  return values;
}
Values doubled(Values values) {
  for (float& value : values) value *= 2;
  return values;
}

TEST_F(CustomThreads, CallOneOperatorEagerly) {
  const int before = g_alive.load();
  at_once(kThreads, [](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      const Values values = numbers(thread, round);
      const Array x(values), dx(Values{0, 0, 0});
      mark(x, dx);
      Array y, other;
      {
        const Recording recording;
        y = call("Custom", {x.get()}, kSquare);
        other = call("Custom", {y.get()}, kSquare);  // and another before the first's gradient
      }
      EXPECT_EQ(y.values(), squares(values));
      EXPECT_EQ(gradient_of(y, x, true).values(), doubled(values));
      NDArrayHandle heads[] = {y.get()};
      ASSERT_EQ(MXAutogradBackward(1, heads, nullptr, 0), 0) << MXGetLastError();
      EXPECT_EQ(dx.values(), doubled(values));
    }
  });
  EXPECT_EQ(g_alive.load(), before);
}

TEST_F(CustomThreads, CallOneCachedOp) {
  const Sym data = var("data"), net = call_symbol("Custom", "c", {data.get()}, kSquare);
  CachedOpHandle op = nullptr;
  ASSERT_EQ(MXCreateCachedOp(net.get(), &op), 0) << MXGetLastError();
  at_once(kThreads, [op](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      const Values values = numbers(thread, round);
      const Array x(values), dx(Values{0, 0, 0});
      mark(x, dx);
      NDArrayHandle inputs[] = {x.get()}, *outputs = nullptr;
      int count = 0;
      Array y;
      {
        const Recording recording;
        ASSERT_EQ(MXInvokeCachedOp(op, 1, inputs, &count, &outputs), 0) << MXGetLastError();
        y = Array(outputs[0]);
      }
      EXPECT_EQ(y.values(), squares(values));
      EXPECT_EQ(gradient_of(y, x, false).values(), doubled(values));
    }
  });
  EXPECT_EQ(MXFreeCachedOp(op), 0);
}

TEST_F(CustomThreads, RunExecutorsOfOneSymbol) {
  const Sym data = var("data"), net = call_symbol("Custom", "c", {data.get()}, kSquare);
  at_once(kThreads, [&](int thread) {
    const Array x(Values{0, 0, 0}), dx(Values{0, 0, 0}), head(Values{1, 1, 1});
    NDArrayHandle arguments[] = {x.get()}, gradients[] = {dx.get()}, heads[] = {head.get()};
    uint32_t request = 1;
    Bound executor;
    ASSERT_EQ(MXExecutorBind(net.get(), 1, 0, 1, arguments, gradients, &request, 0, nullptr,
                             executor.out()),
              0)
        << MXGetLastError();
    for (int round = 0; round < kRounds; ++round) {
      const Values values = numbers(thread, round);
      ASSERT_EQ(MXNDArraySyncCopyFromCPU(x.get(), values.data(), values.size()), 0);
      EXPECT_EQ(executor.forward(true), squares(values));
      ASSERT_EQ(MXExecutorBackward(executor.get(), 1, heads), 0) << MXGetLastError();
      EXPECT_EQ(dx.values(), doubled(values));
    }
  });
}

// The operator of one call, and of its gradient, by all of them.
TEST_F(CustomThreads, DifferentiateOneCall) {
  const Array x(Values{1, 2, 3}), dx(Values{0, 0, 0});
  mark(x, dx);
  const Array y = [&] {
    const Recording recording;
    return call("Custom", {x.get()}, kSquare);
  }();
  at_once(kThreads, [&](int) {
    for (int round = 0; round < kRounds; ++round)
      ASSERT_EQ(gradient_of(y, x, true).values(), (Values{2, 4, 6}));
  });
}

TEST_F(CustomThreads, RegisterAndCallAndListNames) {
  at_once(kThreads, [](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      if (thread % 2 == 0) {
        const std::string name = "square" + std::to_string(round % 5);
        ASSERT_EQ(MXCustomOpRegister(name.c_str(), create_prop<forward>), 0) << MXGetLastError();
        const Array x(Values{1, 2, 3});
        EXPECT_EQ(call("Custom", {x.get()}, {{"op_type", name.c_str()}}).values(),
                  (Values{1, 4, 9}));
      } else {
        uint32_t count = 0;
        const char** names = nullptr;
        ASSERT_EQ(MXListAllOpNames(&count, &names), 0) << MXGetLastError();
        EXPECT_GT(count, 0u);
      }
    }
  });
}

// --- Threads that end

sem_t g_inside;

int end_thread(int count, void** arrays, int*, const int*, const int, void*) {
  drop_arrays(count, arrays);
  sem_post(&g_inside);
  pthread_exit(nullptr);
}

void* call_and_end(void* op_type) {
  const Array x(Values{1, 2, 3});
  call("Custom", {x.get()}, {{"op_type", static_cast<const char*>(op_type)}});
  return nullptr;
}

// It stays, as there is no way out for it: others go on, and so does the end of the program.
TEST_F(CustomThreads, EndWithinTheirCallback) {
  ASSERT_EQ(MXCustomOpRegister("end", create_prop<end_thread>), 0) << MXGetLastError();
  sem_init(&g_inside, 0, 0);
  static char name[] = "end";
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, nullptr, call_and_end, name), 0);
    ASSERT_EQ(pthread_detach(thread), 0);
    while (sem_wait(&g_inside) != 0) continue;
  }
  at_once(2, [](int) {
    const Array x(Values{1, 2, 3});
    EXPECT_EQ(call("Custom", {x.get()}, kSquare).values(), (Values{1, 4, 9}));
  });
  EXPECT_EQ(MXNDArrayWaitAll(), 0);
}

}  // namespace
}  // namespace mxnet::c_test
