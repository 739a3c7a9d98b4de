// SPDX-License-Identifier: Apache-2.0
// Elements are dealt to streams in fixed portions, and seeds take effect in the order of pushes.
#include "op/generators/random_streams.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <chrono>
#include <future>
#include <random>
#include <thread>
#include <vector>

namespace mxnet {
namespace {

// Draws as an operator does: inside an operation that writes the generator's variable.
template <class F>
void with_streams(F fn) {
  RandomStreams& streams = RandomStreams::of(Device::cpu());
  Var* const var = streams.var();
  Engine::get().push([&](const RunContext&) { fn(streams); },
                     {.device = {}, .reads = {}, .writes = {&var, 1}, .name = "draw"});
  Engine::get().wait_for_var(var);
}

std::vector<uint32_t> dealt(int64_t n) {
  std::vector<uint32_t> words(static_cast<std::size_t>(n));
  with_streams([&](RandomStreams& streams) {
    streams.deal(n, 1e6, [&](Mt19937& stream, int64_t first, int64_t last) {
      stream.fill(words.data() + first, last - first);
    });
  });
  return words;
}

uint32_t next_sequential() {
  uint32_t word = 0;
  with_streams([&](RandomStreams& streams) { streams.sequential().fill(&word, 1); });
  return word;
}

TEST(RandomStreams, PortionsComeFromEnginesWithConsecutiveSeeds) {
  for (int64_t n : {1, 64, 65, 200, 70000}) {
    RandomStreams::seed_all(7);
    const std::vector<uint32_t> words = dealt(n);
    const int64_t streams = std::min<int64_t>((n + 63) / 64, 1024),
                  portion = (n + streams - 1) / streams;
    for (int64_t s = 0; s * portion < n; ++s) {
      std::mt19937 standard(127 * 7 + static_cast<uint32_t>(s));
      for (int64_t i = s * portion; i < std::min(n, (s + 1) * portion); ++i)
        ASSERT_EQ(words[static_cast<std::size_t>(i)], standard()) << "element " << i << " of " << n;
    }
  }
}

TEST(RandomStreams, ResultsDoNotDependOnTheNumberOfThreads) {
  const int threads = omp_get_max_threads();
  std::vector<std::vector<uint32_t>> results;
  for (int count : {1, 2, 5}) {
    omp_set_num_threads(count);
    RandomStreams::seed_all(11);
    dealt(1000);  // the state that is carried on between calls
    results.push_back(dealt(50000));
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(RandomStreams, SequentialAndDealtNumbersDoNotDisturbEachOther) {
  RandomStreams::seed_all(3);
  dealt(500);
  EXPECT_EQ(next_sequential(), std::mt19937(3 * 127)());
}

TEST(RandomStreams, CopiesTakeTurns) {
  RandomStreams streams(3);  // MXNET_CPU_PARALLEL_RAND_COPY
  const auto draw = [&] {
    uint32_t word = 0;
    streams.deal(1, 1, [&](Mt19937& stream, int64_t, int64_t) { stream.fill(&word, 1); });
    return word;
  };
  // The first number after a seeding is the second copy's; seeds of copies are 16 apart.
  std::mt19937 first(127 * 5), second(127 * 5 + 16), third(127 * 5 + 32);
  for (int round = 0; round < 2; ++round) {
    streams.reseed(0, 127 * 5);
    first.seed(127 * 5), second.seed(127 * 5 + 16), third.seed(127 * 5 + 32);
    for (int turn = 0; turn < 3; ++turn) {
      EXPECT_EQ(draw(), second());
      EXPECT_EQ(draw(), third());
      EXPECT_EQ(draw(), first());
    }
    EXPECT_EQ(draw(), second());
  }
}

// Where operations run at once, a push waits for those before it, and at any time for a fork.
TEST(RandomStreams, ASeedThatWaitsKeepsNoOperationFromDrawing) {
  using namespace std::chrono_literals;
  dealt(1);  // there is something to seed
  Engine::get().quiesce();
  std::thread seeding([] { RandomStreams::seed_all(5); });
  std::this_thread::sleep_for(50ms);
  const auto drawing =
      std::async(std::launch::async, [] { return RandomStreams::of(Device::cpu()).var(); });
  EXPECT_EQ(drawing.wait_for(60s), std::future_status::ready);
  Engine::get().resume(false);
  seeding.join();
}

TEST(RandomStreams, ADeviceIsSeededAlone) {
  RandomStreams::seed_device(Device::cpu(), 5);
  EXPECT_EQ(next_sequential(), std::mt19937(5)());
  EXPECT_EQ(dealt(1)[0], std::mt19937(5 * 127)());
  RandomStreams::seed_device(Device::gpu(0), 6);
  std::mt19937 standard(5);
  standard();
  EXPECT_EQ(next_sequential(), standard());
}

}  // namespace
}  // namespace mxnet
