// SPDX-License-Identifier: Apache-2.0
// Operators that have no kernel for GPUs, called with arrays on one.
#include <gtest/gtest.h>

#include "op/gpu.h"
#include "op/random_streams.h"
#include "tests/exec/arrays.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

// On copies of its arrays: results, states that it changes, and what is added to.
TEST(GpuRunOnHost, ResultsStatesAndSumsComeBack) {
  for (const char* op : {"_npi_eigvalsh", "_contrib_group_adagrad_update"})
    ASSERT_EQ(gpu_kernel(Registry::get().at(op)), nullptr);
  expect_same("_npi_eigvalsh", {Shape{2, 5, 5}});

  const auto step = [](Device device) {
    const Shape rows{3, 1};
    NDArray weight = array_of({1, 2, 3}, rows, device),
            gradient = array_of({3, 2, 1}, rows, device);
    NDArray history = array_of({1, 4, 9}, rows, device);
    call_into(weight, "_contrib_group_adagrad_update", {&weight, &gradient, &history},
              {{"lr", "0.5"}});
    Values all = values_of(weight);
    for (const float value : values_of(history)) all.push_back(value);
    return all;
  };
  EXPECT_EQ(step(kGpu), step(Device::cpu()));

  NDArray x = array_of({3, 0, 0, 1}, Shape{2, 2}, kGpu), out = array_of({10, 10}, {}, kGpu);
  const OpDef& op = Registry::get().at("_npi_eigvalsh");
  const NDArray* in[] = {&x};
  NDArray* outputs[] = {&out};
  const Request add[] = {Request::kAdd};
  invoke(op, parse_attrs(op, {})->params(), in, outputs, {.requests = add});
  EXPECT_EQ(values_of(out), (Values{11, 13}));
}

// It draws from the host's streams, in the order of calls.
TEST(GpuRunOnHost, RandomNumbersRepeat) {
  const auto draw = [] {
    RandomStreams::seed_all(kSeed);
    NDArray out(Shape{50}, DType::kInt64, kGpu);
    call_into(out, "_npi_choice", {},
              {{"a", "1000"}, {"size", "(50,)"}, {"replace", "True"}, {"weighted", "False"}});
    return values_as_float(out);
  };
  ASSERT_EQ(gpu_kernel(Registry::get().at("_npi_choice")), nullptr);
  const Values first = draw();
  EXPECT_EQ(first, draw());
  EXPECT_NE(first, Values(50));
}

}  // namespace
}  // namespace mxnet
