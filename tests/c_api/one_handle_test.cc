// SPDX-License-Identifier: Apache-2.0
// Threads that use one handle at once: they take turns, and one that comes when the handle is freed
// gets an error.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "executors.h"
#include "handles.h"
#include "mxnet/c_api_ext.h"
#include "mxnet/c_predict_api.h"

namespace mxnet::c_test {
namespace {

constexpr int kThreads = 4, kRounds = 1000;

// Runs `work(thread)` on all threads, which begin together, and waits for them.
void at_once(const std::function<void(int)>& work) {
  std::barrier begin(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      begin.arrive_and_wait();
      work(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Of an array that others write meanwhile: operators see whole writes, what a wait returns to does
// not.
Values whole(const Array& array) { return call("_copy", {array.get()}).values(); }

Values repeated(float value) { return {value, value, value}; }

struct File {
  File() : path((std::filesystem::temp_directory_path() / "one-handle-XXXXXX").string()) {
    ::close(::mkstemp(path.data()));
  }
  ~File() { std::filesystem::remove(path); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path;
};

// A store and what is done with it in short.
struct Store {
  explicit Store(const char* type) {
    EXPECT_EQ(MXKVStoreCreate(type, &handle), 0) << MXGetLastError();
  }
  ~Store() { EXPECT_EQ(MXKVStoreFree(handle), 0) << MXGetLastError(); }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  void init(int key, const Array& value) const {
    NDArrayHandle array = value.get();
    EXPECT_EQ(MXKVStoreInit(handle, 1, &key, &array), 0) << MXGetLastError();
  }
  void push(int key, const Array& value) const {
    NDArrayHandle array = value.get();
    EXPECT_EQ(MXKVStorePush(handle, 1, &key, &array, 0), 0) << MXGetLastError();
  }
  Values pull(int key) const {
    const Array out(repeated(-1));
    NDArrayHandle array = out.get();
    EXPECT_EQ(MXKVStorePull(handle, 1, &key, &array, 0), 0) << MXGetLastError();
    return out.values();
  }
  KVStoreHandle handle = nullptr;
};

class StoreOf : public testing::TestWithParam<const char*> {};

TEST_P(StoreOf, ManyThreadsKeepsTheKeysOfEach) {
  const Store store(GetParam());
  at_once([&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      const int key = thread * kRounds + round;
      const auto value = static_cast<float>(key);
      store.init(key, Array(repeated(0)));
      store.push(key, Array(repeated(value)));
      EXPECT_EQ(store.pull(key), repeated(value));
    }
  });
}

TEST_P(StoreOf, ManyThreadsUpdatesOneKeyOnceForEachPush) {
  const Store store(GetParam());
  store.init(0, Array(repeated(0)));
  const auto add = [](int, NDArrayHandle pushed, NDArrayHandle stored, void*) {
    const Array from(pushed), to(stored);
    std::vector<NDArrayHandle> out{to.get()};
    EXPECT_EQ(invoke("elemwise_add", {to.get(), from.get()}, {}, &out), 0) << MXGetLastError();
  };
  ASSERT_EQ(MXKVStoreSetUpdater(store.handle, add, nullptr), 0) << MXGetLastError();
  at_once([&](int) {
    for (int round = 0; round < kRounds; ++round) store.push(0, Array(repeated(1)));
  });
  EXPECT_EQ(store.pull(0), repeated(kThreads * kRounds));
}

INSTANTIATE_TEST_SUITE_P(OneHandle, StoreOf, testing::Values("local", "device"));

TEST(OneHandle, UpdaterUsesTheStoreThatCallsIt) {
  const Store store("local");
  store.init(0, Array(repeated(0)));
  store.init(1, Array(repeated(5)));
  const auto copy = [](int, NDArrayHandle pushed, NDArrayHandle stored, void* of) {
    const Array from(pushed), to(stored);
    int key = 1;
    NDArrayHandle array = to.get();
    EXPECT_EQ(MXKVStorePull(of, 1, &key, &array, 0), 0) << MXGetLastError();
  };
  ASSERT_EQ(MXKVStoreSetUpdater(store.handle, copy, store.handle), 0) << MXGetLastError();
  store.push(0, Array(repeated(1)));
  EXPECT_EQ(store.pull(0), repeated(5));
}

TEST(OneHandle, StoreIsNotFreedByItsOwnUpdater) {
  const Store store("local");
  store.init(0, Array(repeated(0)));
  const auto end = [](int, NDArrayHandle pushed, NDArrayHandle stored, void* of) {
    const Array from(pushed), to(stored);
    EXPECT_EQ(MXKVStoreFree(of), -1);
    EXPECT_TRUE(error_has("MXKVStoreFree")) << MXGetLastError();
    EXPECT_TRUE(error_has("under way on this thread")) << MXGetLastError();
  };
  ASSERT_EQ(MXKVStoreSetUpdater(store.handle, end, store.handle), 0) << MXGetLastError();
  store.push(0, Array(repeated(1)));
}

TEST(OneHandle, ExecutorOfManyThreadsComputesWhole) {
  const Sym net = product();
  const Array x(Values{1, 2}), w(Values{3, 4}), dx(Values{0, 0}), dw(Values{0, 0});
  const Bound executor = bind(net, x, w, dx, dw);
  const Array head(Values{1, 1});
  std::atomic<int> seen{0};
  at_once([&](int thread) {
    NDArrayHandle heads[] = {head.get()};
    for (int round = 0; round < kRounds; ++round) {
      if (thread == 0 && round % 8 == 0) {
        const bool watch = round % 16 == 0;
        const auto count = [](const char*, NDArrayHandle value, void* number) {
          const Array freed(value);
          ++*static_cast<std::atomic<int>*>(number);
        };
        EXPECT_EQ(MXExecutorSetMonitorCallback(executor.get(),
                                               watch ? +count : ExecutorMonitorCallback(), &seen),
                  0);
      }
      ASSERT_EQ(MXExecutorForward(executor.get(), 1), 0) << MXGetLastError();
      uint32_t count = 0;
      NDArrayHandle* outputs = nullptr;
      ASSERT_EQ(MXExecutorOutputs(executor.get(), &count, &outputs), 0) << MXGetLastError();
      EXPECT_EQ(whole(Array(outputs[0])), (Values{3, 8}));
      // Another thread may have gone backward from this forward: then this is an error that says
      // so.
      if (MXExecutorBackward(executor.get(), 1, heads) == 0) {
        EXPECT_EQ(whole(dx), (Values{3, 4}));
      }
    }
  });
  EXPECT_GT(seen, 0);
}

constexpr const char* kNet = R"({"nodes": [
  {"op": "null", "name": "x", "inputs": []},
  {"op": "square", "name": "y", "inputs": [[0, 0, 0]]}],
  "arg_nodes": [0], "node_row_ptr": [0, 1, 2], "heads": [[1, 0, 0]]})";

PredictorHandle predictor() {
  const char* key = "x";
  const uint32_t indptr[] = {0, 1}, dims[] = {3};
  PredictorHandle made = nullptr;
  EXPECT_EQ(MXPredCreate(kNet, nullptr, 0, 1, 0, 1, &key, indptr, dims, &made), 0)
      << MXGetLastError();
  return made;
}

TEST(OneHandle, PredictorOfManyThreadsGivesResultsOfSomeInput) {
  PredictorHandle shared = predictor();
  const Values first = repeated(1);
  ASSERT_EQ(MXPredSetInput(shared, "x", first.data(), 3), 0) << MXGetLastError();
  ASSERT_EQ(MXPredForward(shared), 0) << MXGetLastError();
  at_once([&](int thread) {
    const Values in = repeated(static_cast<float>(thread + 1));
    for (int round = 0; round < kRounds; ++round) {
      EXPECT_EQ(MXPredSetInput(shared, "x", in.data(), 3), 0) << MXGetLastError();
      EXPECT_EQ(MXPredForward(shared), 0) << MXGetLastError();
      Values out(3);
      EXPECT_EQ(MXPredGetOutput(shared, 0, out.data(), 3), 0) << MXGetLastError();
      EXPECT_EQ(out, repeated(out[0]));
      const int root = static_cast<int>(out[0] > 8 ? (out[0] > 15 ? 4 : 3) : (out[0] > 3 ? 2 : 1));
      EXPECT_EQ(static_cast<int>(out[0]), root * root);
    }
  });
  EXPECT_EQ(MXPredFree(shared), 0);
}

// What happens when threads call while one frees: each call is done or says that it came late.
TEST(OneHandle, IsFreedBetweenCallsOfOtherThreads) {
  for (int round = 0; round < 40; ++round) {
    PredictorHandle shared = predictor();
    at_once([&](int thread) {
      const Values in = repeated(1);
      for (int call = 0; call < 20; ++call) {
        const int result = thread == 0 && call == 10 ? MXPredFree(shared)
                           : call % 2 == 0           ? MXPredForward(shared)
                                                     : MXPredSetInput(shared, "x", in.data(), 3);
        if (result != 0) {
          EXPECT_TRUE(error_has("given a freed handle")) << MXGetLastError();
        }
      }
    });
    EXPECT_EQ(MXPredFree(shared), -1);
  }
}

std::string record(int number) {
  return std::string(static_cast<std::size_t>(number % 50), static_cast<char>('a' + number % 26)) +
         std::to_string(number);
}

TEST(OneHandle, WriterOfManyThreadsWritesWholeRecordsAndAReaderGivesEachOnce) {
  const File file;
  constexpr int kRecords = 5000;
  RecordIOHandle writer = nullptr;
  ASSERT_EQ(MXRecordIOWriterCreate(file.path.c_str(), &writer), 0) << MXGetLastError();
  at_once([&](int thread) {
    for (int i = 0; i < kRecords; ++i) {
      const std::string text = record(thread * kRecords + i);
      EXPECT_EQ(MXRecordIOWriterWriteRecord(writer, text.data(), text.size()), 0);
    }
  });
  ASSERT_EQ(MXRecordIOWriterFree(writer), 0) << MXGetLastError();

  RecordIOHandle reader = nullptr;
  ASSERT_EQ(MXRecordIOReaderCreate(file.path.c_str(), &reader), 0) << MXGetLastError();
  std::vector<std::vector<std::string>> read(kThreads);
  at_once([&](int thread) {
    for (;;) {
      const char* bytes = nullptr;
      std::size_t size = 0;
      ASSERT_EQ(MXRecordIOReaderReadRecord(reader, &bytes, &size), 0) << MXGetLastError();
      if (bytes == nullptr) return;
      read[static_cast<std::size_t>(thread)].emplace_back(bytes, size);
    }
  });
  EXPECT_EQ(MXRecordIOReaderFree(reader), 0);
  std::vector<std::string> all, expected;
  for (const std::vector<std::string>& of_thread : read)
    all.insert(all.end(), of_thread.begin(), of_thread.end());
  expected.reserve(kThreads * kRecords);
  for (int i = 0; i < kThreads * kRecords; ++i) expected.push_back(record(i));
  std::sort(all.begin(), all.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(all, expected);
}

TEST(OneHandle, RecordOfAReaderOutlivesTheFirstReadOfAnotherThread) {
  const File file;
  RecordIOHandle writer = nullptr, reader = nullptr;
  ASSERT_EQ(MXRecordIOWriterCreate(file.path.c_str(), &writer), 0) << MXGetLastError();
  const std::string first(100, 'f'), large(4 << 20, 'l');
  for (const std::string* text : {&first, &large})
    ASSERT_EQ(MXRecordIOWriterWriteRecord(writer, text->data(), text->size()), 0);
  ASSERT_EQ(MXRecordIOWriterFree(writer), 0) << MXGetLastError();
  ASSERT_EQ(MXRecordIOReaderCreate(file.path.c_str(), &reader), 0) << MXGetLastError();
  const char* mine = nullptr;
  std::size_t size = 0;
  ASSERT_EQ(MXRecordIOReaderReadRecord(reader, &mine, &size), 0) << MXGetLastError();
  std::thread([&] {
    const char* other = nullptr;
    std::size_t bytes = 0;
    ASSERT_EQ(MXRecordIOReaderReadRecord(reader, &other, &bytes), 0) << MXGetLastError();
    EXPECT_EQ(std::string(other, bytes), large);
  }).join();
  EXPECT_EQ(std::string(mine, size), first);
  EXPECT_EQ(MXRecordIOReaderFree(reader), 0);
}

TEST(OneHandle, IteratorOfManyThreadsGivesEachBatchToOne) {
  const File file;
  constexpr int kBatches = 200;
  std::string rows;
  for (int i = 0; i < kBatches; ++i) rows += std::to_string(i) + "\n";
  std::FILE* out = std::fopen(file.path.c_str(), "w");
  ASSERT_NE(out, nullptr);
  ASSERT_EQ(std::fwrite(rows.data(), 1, rows.size(), out), rows.size());
  ASSERT_EQ(std::fclose(out), 0);

  uint32_t count = 0;
  DataIterCreator* creators = nullptr;
  ASSERT_EQ(MXListDataIters(&count, &creators), 0);
  DataIterCreator csv = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    const char *name, *text;
    uint32_t arguments;
    const char **names, **types, **texts;
    ASSERT_EQ(MXDataIterGetIterInfo(creators[i], &name, &text, &arguments, &names, &types, &texts),
              0);
    if (std::string(name) == "CSVIter") csv = creators[i];
  }
  const char* keys[] = {"data_csv", "data_shape", "batch_size"};
  const char* values[] = {file.path.c_str(), "(1,)", "1"};
  DataIterHandle iter = nullptr;
  ASSERT_EQ(MXDataIterCreateIter(csv, 3, keys, values, &iter), 0) << MXGetLastError();
  std::atomic<int> batches{0};
  at_once([&](int) {
    for (;;) {
      int more = 0;
      ASSERT_EQ(MXDataIterNext(iter, &more), 0) << MXGetLastError();
      if (more == 0) return;
      ++batches;
      // Whatever batch it is by now, it is a whole one, and its numbers stay with this thread.
      NDArrayHandle data = nullptr;
      uint64_t *index = nullptr, size = 0;
      if (MXDataIterGetData(iter, &data) != 0) continue;  // the others have come to the end
      EXPECT_EQ(Array(data).values().size(), 1U);
      if (MXDataIterGetIndex(iter, &index, &size) == 0) {
        EXPECT_LE(size, 1U);
      }
    }
  });
  EXPECT_EQ(batches, kBatches);
  EXPECT_EQ(MXDataIterFree(iter), 0);
}

TEST(OneHandle, CachedOpIsWatchedWhileOthersCallIt) {
  const Sym net = product();
  CachedOpHandle op = nullptr;
  ASSERT_EQ(MXCreateCachedOp(net.get(), &op), 0) << MXGetLastError();
  std::atomic<int> states{0};
  at_once([&](int thread) {
    const Array x(Values{1, 2}), w(Values{3, 4});
    for (int round = 0; round < kRounds; ++round) {
      if (thread == 0) {
        ++states;
        const auto see = [](const char*, const char*, NDArrayHandle value, void*) {
          MXNDArrayFree(value);
        };
        const auto drop = [](void* number) { return --*static_cast<std::atomic<int>*>(number); };
        EXPECT_EQ(MXCachedOpSetHook(op, see, &states, drop, 1), 0) << MXGetLastError();
      }
      NDArrayHandle in[] = {x.get(), w.get()};
      int outputs = 0;
      NDArrayHandle* results = nullptr;
      ASSERT_EQ(MXInvokeCachedOp(op, 2, in, &outputs, &results), 0) << MXGetLastError();
      EXPECT_EQ(Array(results[0]).values(), (Values{3, 8}));
    }
  });
  EXPECT_EQ(MXFreeCachedOp(op), 0);
  EXPECT_EQ(states, 0);
}

}  // namespace
}  // namespace mxnet::c_test
