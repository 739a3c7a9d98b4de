// SPDX-License-Identifier: Apache-2.0
// Reading ahead: order, ends, failures, and epochs that are left.
#include "io/data_iter.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <latch>
#include <new>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "engine/interrupt.h"
#include "fork_under_load.h"

// Whether this thread gets no memory.
namespace {
thread_local bool t_no_memory = false;
}  // namespace

#if !defined(__SANITIZE_ADDRESS__)  // which has its own
__attribute__((noinline)) void* operator new(std::size_t bytes) {
  void* const memory = t_no_memory ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

namespace mxnet::io {
namespace {

// Counts samples: an epoch is `length` batches, of which number `bad` of the first epoch throws.
class Counting final : public BatchSource {
 public:
  static inline std::atomic<int> alive{0};

  explicit Counting(int length, int bad = -1) : length_(length), bad_(bad) { ++alive; }
  ~Counting() override { --alive; }
  void start_epoch(bool after_end) override {
    ++epoch_;
    at_ = after_end ? 1 : 0;
  }
  bool next(Batch* batch) override {
    if (at_ == length_) return false;
    if (epoch_ == 0 && at_ == bad_) throw std::runtime_error("bad batch");
    *batch = Batch();
    batch->pad = epoch_ * 100 + at_++;
    return true;
  }

 private:
  const int length_, bad_;
  int epoch_ = 0, at_ = 0;
};

std::vector<int> pads(DataIter& iter) {
  std::vector<int> all;
  Batch batch;
  while (iter.next(&batch)) all.push_back(batch.pad);
  return all;
}

TEST(DataIter, GivesBatchesInOrderEpochAfterEpoch) {
  for (std::size_t ahead : {0, 1, 4, 100}) {
    DataIter iter(std::make_unique<Counting>(5), ahead);
    EXPECT_EQ(pads(iter), (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_EQ(pads(iter), std::vector<int>{});
    iter.before_first();
    EXPECT_EQ(pads(iter), (std::vector<int>{101, 102, 103, 104}));
  }
}

TEST(DataIter, AnEpochThatIsLeftStartsAtTheFirstSample) {
  DataIter iter(std::make_unique<Counting>(5), 2);
  Batch batch;
  EXPECT_TRUE(iter.next(&batch));
  iter.before_first();
  EXPECT_EQ(pads(iter), (std::vector<int>{100, 101, 102, 103, 104}));
}

TEST(DataIter, AFailureComesOnceAfterWhatWasBeforeIt) {
  DataIter iter(std::make_unique<Counting>(5, 2), 4);
  Batch batch;
  EXPECT_TRUE(iter.next(&batch));
  EXPECT_TRUE(iter.next(&batch));
  EXPECT_THROW(iter.next(&batch), std::runtime_error);
  EXPECT_FALSE(iter.next(&batch));
  iter.before_first();
  EXPECT_EQ(pads(iter).size(), 4U);
}

// Its batches come when the test lets them.
class Held final : public BatchSource {
 public:
  static inline std::latch release{1};
  void start_epoch(bool) override { at_ = 0; }
  bool next(Batch* batch) override {
    release.wait();
    *batch = Batch();
    batch->pad = at_;
    return at_++ < 2;
  }

 private:
  int at_ = 0;
};

TEST(DataIter, AWaitThatTheProgramEndsIsForTheSameBatchNextTime) {
  DataIter iter(std::make_unique<Held>(), 1);
  Batch batch;
  engine::set_interrupt_check([] { return 1; });
  EXPECT_THROW(iter.next(&batch), Error);
  EXPECT_THROW(iter.next(&batch), Error);
  engine::set_interrupt_check(nullptr);
  Held::release.count_down();
  EXPECT_EQ(pads(iter), (std::vector<int>{0, 1}));
}

// From where a batch is made until the next is asked for.
class Starving final : public BatchSource {
 public:
  void start_epoch(bool) override {}
  bool next(Batch* batch) override {
    t_no_memory = false;
    *batch = Batch();
    batch->pad = at_++;
    t_no_memory = true;
    return at_ < 40;
  }

 private:
  int at_ = 0;
};

TEST(DataIter, HandingOutBatchesTakesNoMemory) {
  for (std::size_t ahead : {1, 8}) {
    DataIter iter(std::make_unique<Starving>(), ahead);
    EXPECT_EQ(pads(iter).size(), 39u);
  }
}

// The end of each waits for the thread that reads: nobody uses the source behind it.
TEST(DataIter, ManyAreDroppedWhileTheyRead) {
  for (int i = 0; i < 200; ++i) {
    {
      DataIter iter(std::make_unique<Counting>(1000), 3);
      Batch batch;
      if (i % 2 == 0) {
        EXPECT_TRUE(iter.next(&batch));
      }
    }
    EXPECT_EQ(Counting::alive, 0) << i;
  }
}

TEST(DataIter, AForkedProcessIsToldAndCanEnd) {
  MX_SKIP_WHERE_A_FORK_LOSES_THE_ALLOCATOR();  // it reads ahead
  auto iter = std::make_unique<DataIter>(std::make_unique<Counting>(5), 2);
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 1;
    try {
      Batch batch;
      iter->next(&batch);
    } catch (const Error&) {
      status = 0;
    }
    iter.reset();
    ::_exit(status);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(pads(*iter).size(), 5U);
}

}  // namespace
}  // namespace mxnet::io
