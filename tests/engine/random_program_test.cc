// SPDX-License-Identifier: Apache-2.0
// Thousands of random programs (reads, writes, priorities, exceptions, deletions, waits,
// asynchronous completions, bulks): every engine with every thread count leaves the trace of the
// serial model, as Naive does.
#include "fixture.h"
#include "program.h"

namespace mxnet::engine_test {
namespace {

constexpr uint64_t kPrograms = 300;  // for each engine and thread count

std::vector<Kind> kinds_of_one_to_eight_threads() {
  std::vector<Kind> kinds{{EngineType::kNaive, 1, false}};
  for (int threads = 1; threads <= 8; ++threads) {
    kinds.push_back({EngineType::kThreaded, threads, false});
    kinds.push_back({EngineType::kThreadedPerDevice, threads, false});
  }
  return kinds;
}

class EngineRandomProgram : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(All, EngineRandomProgram,
                         testing::ValuesIn(kinds_of_one_to_eight_threads()), kind_name);

TEST_P(EngineRandomProgram, LeavesTheTraceOfTheSerialModel) {
  const auto engine = make_engine(config_of(GetParam()));
  const uint64_t first = static_cast<uint64_t>(GetParam().threads) * 1000;
  for (uint64_t seed = first; seed < first + kPrograms; ++seed) {
    const Program program = random_program(seed);
    ASSERT_EQ(run_on(*engine, program), run_serially(program)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mxnet::engine_test
