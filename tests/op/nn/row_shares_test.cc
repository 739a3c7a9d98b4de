// SPDX-License-Identifier: Apache-2.0
// Long rows of which there are few are shared among the threads one by one. Who writes a row is
// seen by the fault at its first byte.
#include <gtest/gtest.h>
#include <omp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "op/nn/kernel_call.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

constexpr int64_t kRows = 8, kLength = int64_t{1} << 17;  // floats
constexpr std::size_t kRowBytes = kLength * sizeof(float);

char* g_memory = nullptr;
std::array<std::atomic<pid_t>, kRows> g_writers;

// Signal-safe: what it calls is a system call.
void note_writer(int, siginfo_t* info, void*) {
  const auto at = static_cast<std::size_t>(static_cast<char*>(info->si_addr) - g_memory);
  if (at >= kRows * kRowBytes) ::_exit(3);
  const std::size_t row = at / kRowBytes;
  g_writers[row] = ::gettid();
  ::mprotect(g_memory + row * kRowBytes, kRowBytes, PROT_READ | PROT_WRITE);
}

class RowShares : public testing::Test {
 protected:
  void SetUp() override {
    MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
    g_memory = static_cast<char*>(
        ::mmap(nullptr, kRows * kRowBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(g_memory, MAP_FAILED);
    struct sigaction action {};
    action.sa_sigaction = note_writer;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &action, &before_);
    threads_ = omp_get_max_threads();
    omp_set_num_threads(4);
  }
  void TearDown() override {
    if (g_memory == nullptr) return;
    omp_set_num_threads(threads_);
    ::sigaction(SIGSEGV, &before_, nullptr);
    ::munmap(g_memory, kRows * kRowBytes);
    g_memory = nullptr;
  }
  Tensor out() { return {g_memory, &shape_, DType::kFloat32}; }
  static std::size_t writers() {
    return std::set<pid_t>(g_writers.begin(), g_writers.end()).size();
  }

  const Shape shape_{1, kRows, kLength};

 private:
  struct sigaction before_ {};
  int threads_ = 1;
};

TEST_F(RowShares, OfTakenRows) {
  FloatArray in({kRows, kLength}, 1.0F), positions({1, kRows}, 2.0F);
  run_first("take", {}, {in.tensor(), positions.tensor()}, {out()});
  EXPECT_EQ(writers(), 4U);
}

TEST_F(RowShares, OfMarkedRows) {
  FloatArray indices({1, kRows}, 2.0F);
  const std::string depth = std::to_string(kLength);
  const AttrList::value_type attrs[] = {{"depth", depth}};
  run_first("one_hot", attrs, {indices.tensor()}, {out()});
  EXPECT_EQ(writers(), 4U);
}

TEST_F(RowShares, OfChannelsWithSlopes) {
  FloatArray in(shape_, -1.0F), gamma({kRows}, 0.5F);
  const AttrList::value_type attrs[] = {{"act_type", "prelu"}};
  run_first("LeakyReLU", attrs, {in.tensor(), gamma.tensor()}, {out()});
  EXPECT_EQ(writers(), 4U);
}

}  // namespace
}  // namespace mxnet
