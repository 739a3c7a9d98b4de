// SPDX-License-Identifier: Apache-2.0
// The operator of docs/adding_an_operator.md does what the page says.
#include <gtest/gtest.h>

#include <cmath>

#include "../../examples/operator/scaled_tanh.cc"
#include "base/error.h"
#include "exec/arrays.h"

namespace mxnet {
namespace {

const Attrs kAttrs = {{"amplitude", "2"}, {"width", "0.5"}};

double expected(double x) { return 2 * std::tanh(x / 0.5); }

TEST(WorkedExample, ComputesItsValue) {
  NDArray x = array_of({-1, 0, 0.25, 3});
  const Values values = values_of(call("_example_scaled_tanh", {&x}, kAttrs));
  const Values arguments = values_of(x);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected(arguments[i]), 1e-6);
}

TEST(WorkedExample, ItsRuleAgreesWithDifferences) {
  NDArray x = array_of({-0.5, 0.125, 0.3});
  NDArray grad = attach_grad(x);
  NDArray y;
  {
    const Recording recording;
    y = call("_example_scaled_tanh", {&x}, kAttrs);
  }
  backward_from(y);
  const Values arguments = values_of(x), slopes = values_of(grad);
  constexpr double kStep = 1e-4;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const double at = arguments[i];
    EXPECT_NEAR(slopes[i], (expected(at + kStep) - expected(at - kStep)) / (2 * kStep), 1e-4);
  }
}

TEST(WorkedExample, RunsInPlaceAndInDoubles) {
  NDArray x = array_of({0.5});
  call_into(x, "_example_scaled_tanh", {&x}, kAttrs);
  EXPECT_NEAR(values_of(x)[0], expected(0.5), 1e-6);
  NDArray wide(Shape{1}, DType::kFloat64, Device::cpu());
  const double value = 0.5;
  wide.sync_copy_from(&value, 1);
  NDArray result = call("_example_scaled_tanh", {&wide}, kAttrs);
  double got;
  result.sync_copy_to(&got, 1);
  EXPECT_DOUBLE_EQ(got, expected(0.5));
}

TEST(WorkedExample, RefusesWhatItDoesNotDeclare) {
  NDArray x = array_of({1}), ints(Shape{1}, DType::kInt32, Device::cpu());
  EXPECT_THROW(call("_example_scaled_tanh", {&x}, {{"depth", "2"}}), Error);
  EXPECT_THROW(call("_example_scaled_tanh", {&x}, {{"width", "0"}}), Error);
  EXPECT_THROW(call("_example_scaled_tanh", {&ints}), Error);
}

TEST(WorkedExample, IsDescribedFromTheBlock) {
  const OpDef& op = Registry::get().at("_example_scaled_tanh");
  EXPECT_EQ(op.schema().fields()[1].type, "float, optional, default=1");
  EXPECT_EQ(op.args()[0].name, "data");
}

}  // namespace
}  // namespace mxnet
