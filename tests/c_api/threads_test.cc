// SPDX-License-Identifier: Apache-2.0
// Threads that call the C ABI at once: on one array, on graphs of their own that share arrays, each
// with errors, gradients and switches of its own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "executors.h"
#include "handles.h"

namespace mxnet::c_test {
namespace {

constexpr int kThreads = 4, kRounds = 40;

// Runs `work(thread)` on each thread and waits for all.
void on_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
}

Values repeated(float value) { return {value, value, value}; }

TEST(Threads, ReadAndWriteOneArray) {
  const Array shared(repeated(0));
  on_threads([&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      if (thread == 0) {
        const Array one(repeated(1));
        std::vector<NDArrayHandle> out{shared.get()};
        EXPECT_EQ(invoke("elemwise_add", {shared.get(), one.get()}, {}, &out), 0)
            << MXGetLastError();
      } else {
        // Whole at every time: what the writer has added, or has not.
        const Values twice = call("elemwise_add", {shared.get(), shared.get()}).values();
        EXPECT_EQ(twice, repeated(twice[0]));
        EXPECT_EQ(MXNDArrayWaitToRead(shared.get()), 0);
      }
    }
  });
  EXPECT_EQ(shared.values(), repeated(kRounds));
}

TEST(Threads, HoldHandlesOfOneArray) {
  const Array shared(Values{1, 2, 3, 4});
  on_threads([&](int) {
    for (int round = 0; round < kRounds; ++round) {
      NDArrayHandle part = nullptr, copy = nullptr;
      ASSERT_EQ(MXNDArraySlice(shared.get(), 1, 3, &part), 0) << MXGetLastError();
      ASSERT_EQ(MXShallowCopyNDArray(part, &copy), 0) << MXGetLastError();
      const Array slice(part), same(copy);
      EXPECT_EQ(same.values(), (Values{2, 3}));
    }
  });
}

TEST(Threads, RunExecutorsOfTheirOwnOnSharedArrays) {
  const Sym net = product();
  const Array x(Values{1, 2}), w(Values{3, 4});
  on_threads([&](int) {
    const Array dx(Values{0, 0}), dw(Values{0, 0});
    const Bound executor = bind(net, x, w, dx, dw);
    const Array head(Values{1, 1});
    NDArrayHandle heads[] = {head.get()};
    for (int round = 0; round < kRounds; ++round) {
      EXPECT_EQ(executor.forward(true), (Values{3, 8}));
      ASSERT_EQ(MXExecutorBackward(executor.get(), 1, heads), 0) << MXGetLastError();
      EXPECT_EQ(dx.values(), (Values{3, 4}));
      EXPECT_EQ(dw.values(), (Values{1, 2}));
    }
  });
}

TEST(Threads, RecordGradientsOfTheirOwn) {
  const Array w(Values{2, 3});
  on_threads([&](int thread) {
    const auto factor = static_cast<float>(thread + 1);
    const Array x(Values{factor, 1}), dx(Values{0, 0});
    NDArrayHandle variable = x.get(), gradient = dx.get();
    uint32_t request = 1;
    ASSERT_EQ(MXAutogradMarkVariables(1, &variable, &request, &gradient), 0) << MXGetLastError();
    for (int round = 0; round < kRounds; ++round) {
      int before = -1, after = -1;
      ASSERT_EQ(MXAutogradSetIsRecording(1, &before), 0);
      EXPECT_EQ(before, 0);
      const Array product = call("elemwise_mul", {x.get(), w.get()});
      const Array y = call("elemwise_mul", {product.get(), x.get()});
      ASSERT_EQ(MXAutogradSetIsRecording(0, &after), 0);
      EXPECT_EQ(after, 1);
      NDArrayHandle head = y.get();
      ASSERT_EQ(MXAutogradBackward(1, &head, nullptr, 0), 0) << MXGetLastError();
      EXPECT_EQ(dx.values(), (Values{4 * factor, 6}));
    }
  });
}

// The first to record with an array makes it a constant, for all that do so at the same time.
TEST(Threads, RecordWithArraysThatNobodyHasRecordedWith) {
  const std::vector<Array> constants = [] {
    std::vector<Array> made;
    for (int round = 0; round < kRounds; ++round) made.emplace_back(Values{2, 3});
    return made;
  }();
  on_threads([&](int thread) {
    const Array x(Values{static_cast<float>(thread), 1}), dx(Values{0, 0});
    NDArrayHandle variable = x.get(), gradient = dx.get();
    uint32_t request = 1;
    ASSERT_EQ(MXAutogradMarkVariables(1, &variable, &request, &gradient), 0) << MXGetLastError();
    for (const Array& constant : constants) {
      int before = -1;
      ASSERT_EQ(MXAutogradSetIsRecording(1, &before), 0);
      const Array product = call("elemwise_mul", {x.get(), constant.get()});
      const Array y = call("elemwise_mul", {product.get(), constant.get()});
      ASSERT_EQ(MXAutogradSetIsRecording(0, &before), 0);
      NDArrayHandle head = y.get();
      ASSERT_EQ(MXAutogradBackward(1, &head, nullptr, 0), 0) << MXGetLastError();
      EXPECT_EQ(dx.values(), (Values{4, 9}));
    }
  });
}

TEST(Threads, HaveErrorsOfTheirOwn) {
  on_threads([](int thread) {
    const std::string name = "no_such_operator_" + std::to_string(thread);
    for (int round = 0; round < kRounds; ++round) {
      OpHandle handle = nullptr;
      EXPECT_EQ(NNGetOpHandle(name.c_str(), &handle), -1);
      EXPECT_TRUE(error_has(name)) << MXGetLastError();
      EXPECT_EQ(handle, nullptr);
    }
  });
}

TEST(Threads, MakeFailAndFreeGraphs) {
  on_threads([](int) {
    for (int round = 0; round < kRounds; ++round) {
      const Sym net = dense();
      const char* json = nullptr;
      ASSERT_EQ(MXSymbolSaveToJSON(net.get(), &json), 0) << MXGetLastError();
      Sym again;
      ASSERT_EQ(MXSymbolCreateFromJSON(json, again.out()), 0) << MXGetLastError();
      uint32_t count = 0;
      const char** texts = nullptr;
      ASSERT_EQ(MXSymbolListArguments(again.get(), &count, &texts), 0);
      EXPECT_EQ(count, 3U);
      EXPECT_EQ(MXSymbolCreateFromJSON("{", again.out()), -1);
    }
  });
}

TEST(Threads, ReadOneFileOfRecords) {
  std::string path = (std::filesystem::temp_directory_path() / "threads-XXXXXX").string();
  ::close(::mkstemp(path.data()));
  RecordIOHandle writer = nullptr;
  ASSERT_EQ(MXRecordIOWriterCreate(path.c_str(), &writer), 0) << MXGetLastError();
  for (int i = 0; i < kRounds; ++i) {
    const std::string record(static_cast<std::size_t>(i), 'r');
    ASSERT_EQ(MXRecordIOWriterWriteRecord(writer, record.data(), record.size()), 0);
  }
  ASSERT_EQ(MXRecordIOWriterFree(writer), 0) << MXGetLastError();
  on_threads([&](int) {
    RecordIOHandle reader = nullptr;
    ASSERT_EQ(MXRecordIOReaderCreate(path.c_str(), &reader), 0) << MXGetLastError();
    for (int i = 0; i < kRounds; ++i) {
      const char* record = nullptr;
      std::size_t size = 0;
      ASSERT_EQ(MXRecordIOReaderReadRecord(reader, &record, &size), 0) << MXGetLastError();
      EXPECT_EQ(std::string(record, size), std::string(static_cast<std::size_t>(i), 'r'));
    }
    EXPECT_EQ(MXRecordIOReaderFree(reader), 0);
  });
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace mxnet::c_test
