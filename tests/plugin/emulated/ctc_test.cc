// SPDX-License-Identifier: Apache-2.0
// CTCLoss on the plug-in's kernel: losses and gradients are the CPU's.
#include <gtest/gtest.h>

#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

TEST(GpuCtc, LossesAndGradients) {
  const Shape shape{7, 3, 5};
  const Input label{{1, 2, 2, 3, 3, 0, 4, 0, 0}, Shape{3, 3}};
  const Input last{{1, 2, 2, 3, 3, -1, 0, -1, -1}, Shape{3, 3}};
  const Input steps{{7, 4, 2}, Shape{3}}, counts{{3, 2, 0}, Shape{3}};
  for (const char* dtype : {"float32", "float64", "float16"}) {
    const double tolerance = std::string_view(dtype) == "float16" ? 2e-3 : 1e-5;
    const Input data{random_values(shape.size(), -3, 3), shape, dtype};
    const auto expect = [&](const std::vector<Input>& inputs, const Attrs& attrs) {
      expect_same_outputs("CTCLoss", inputs, attrs, tolerance);
    };
    expect({data, label}, {});
    expect({data, last}, {{"blank_label", "last"}});
    expect({data, label, steps}, {{"use_data_lengths", "True"}});
    expect({data, {{1, 2, 2, 3, 3, 4, 4, 1, 1}, Shape{3, 3}}, counts},
           {{"use_label_lengths", "True"}});
    // Two equal labels need a blank between them: the last example has too few steps.
    expect({data, {{1, 2, 2, 3, 3, 4, 4, 4, 1}, Shape{3, 3}}, steps, {{3, 2, 2}, Shape{3}}},
           {{"use_data_lengths", "True"}, {"use_label_lengths", "True"}});
  }
}

TEST(GpuCtc, WhatIsNoLabelHasNoLoss) {
  NDArray data = array_of(random_values(2 * 2 * 3, -1, 1), Shape{2, 2, 3}, kGpu);
  NDArray label = array_of({1, 0, 3, 0}, Shape{2, 2}, kGpu);
  const Values losses = values_of(call("CTCLoss", {&data, &label}));
  EXPECT_FALSE(std::isnan(losses[0]));
  EXPECT_TRUE(std::isnan(losses[1]));
}

}  // namespace
}  // namespace mxnet
