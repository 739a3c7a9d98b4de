// SPDX-License-Identifier: Apache-2.0
// Graphs whose groups of operators run on several devices, here simulated ones: results, gradients
// and arrays, with copies in between.
#include <gtest/gtest.h>

#include "base/error.h"
#include "exec/executor_bind.h"
#include "exec/plan_fixture.h"
#include "graph/symbol.h"
#include "graph/symbol_attributes.h"

namespace mxnet {
namespace {

Value in_group(Value value, const char* group) {
  set_attr(value.entry().node.get(), "__ctx_group__", group);
  return value;
}

// y = tanh(x * a) on "near", z = sin(y * b) + y on "far"; b belongs to "far" too.
ir::Graph two_groups() {
  const Value x = variable("x"), a = variable("a"), b = in_group(variable("b"), "far");
  const Value product = in_group(apply("elemwise_mul", {x, a}), "near");
  const Value y = in_group(apply("tanh", {product}), "near");
  const Value scaled = in_group(apply("elemwise_mul", {y, b}), "far");
  const Value wave = in_group(apply("sin", {scaled}), "far");
  return graph_of({in_group(apply("elemwise_add", {wave, y}), "far")});
}

const DeviceGroups kGroups{{"near", Device::gpu(0)}, {"far", Device::gpu(1)}};

std::vector<NDArray> arrays(Device near, Device far) {
  return {array_of({0.5f, -1, 2}, {}, near), array_of({1, 2, 0.25f}, {}, near),
          array_of({3, -1, 0.5f}, {}, far)};
}

TEST(Placement, ResultsAndGradientsAreThoseOfOneDevice) {
  const EagerResults expected = run_eagerly(two_groups(), arrays(Device::cpu(), Device::cpu()));
  ExecutorArrays bound;
  bound.args = arrays(Device::gpu(0), Device::gpu(1));
  for (const NDArray& arg : bound.args) {
    bound.grads.push_back(array_of({9, 9, 9}, {}, arg.device()));
    bound.requests.push_back(Request::kWrite);
  }
  Executor executor(two_groups(), Device::gpu(0), std::move(bound), {}, kGroups);
  for (int round = 0; round < 2; ++round) {
    executor.forward(true);
    executor.backward({});
    EXPECT_EQ(executor.outputs()[0].device(), Device::gpu(1));
    EXPECT_EQ(values_of(executor.outputs()[0]), expected.outputs[0]);
    for (std::size_t i = 0; i < expected.grads.size(); ++i)
      EXPECT_EQ(values_of(executor.arrays().grads[i]), expected.grads[i]) << i;
  }
}

TEST(Placement, SimpleBindMakesArraysWhereTheirGroupIs) {
  SimpleBind options;
  options.device = Device::gpu(0);
  options.groups = kGroups;
  options.shapes["x"] = {4};
  const std::unique_ptr<Executor> executor = simple_bind(two_groups(), options);
  const ExecutorArrays& bound = executor->arrays();
  EXPECT_EQ(bound.args[1].device(), Device::gpu(0));
  EXPECT_EQ(bound.args[2].device(), Device::gpu(1));
  EXPECT_EQ(bound.grads[2].device(), Device::gpu(1));
  executor->forward(true);
  executor->backward({});
  EXPECT_EQ(values_of(bound.grads[2]), Values(4, 0.0f));
}

TEST(Placement, AGroupWithoutADeviceIsAnErrorThatNamesTheNode) {
  SimpleBind options;
  options.device = Device::cpu();
  options.groups = {{"near", Device::cpu(1)}};
  options.shapes["x"] = {4};
  try {
    simple_bind(two_groups(), options);
    FAIL() << "the group 'far' has no device";
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), "[b] given group 'far', expected one")) << error.what();
    EXPECT_TRUE(contains(error.what(), "near")) << error.what();
  }
}

TEST(Placement, GroupsOnOneDeviceStayCompiled) {
  const DeviceGroups cpus{{"near", Device::cpu(0)}, {"far", Device::cpu(1)}};
  Executor executor(two_groups(), Device::cpu(), bind_arrays(arrays(Device::cpu(), Device::cpu())),
                    {}, cpus);
  EXPECT_TRUE(executor.groups().empty());
  EXPECT_TRUE(contains(executor.debug_str(), "planned bytes"));
}

TEST(Placement, StepsOfSeveralDevicesAreRefused) {
  SimpleBind options;
  options.device = Device::gpu(0);
  options.groups = kGroups;
  options.shapes["x"] = {4};
  EXPECT_THROW(simple_bind(two_groups(), options)->forward_step(0), Error);
}

}  // namespace
}  // namespace mxnet
