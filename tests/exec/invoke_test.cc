// SPDX-License-Identifier: Apache-2.0
// Eager calls: outputs, requests, aliasing, types, errors.
#include "exec/invoke.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "base/error.h"
#include "exec/arrays.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

void invoke_op(std::string_view name, std::vector<const NDArray*> in, std::vector<NDArray*> out,
               std::vector<Request> requests = {}) {
  const OpDef& op = Registry::get().at(name);
  invoke(op, parse_attrs(op, {})->params(), in, out, {.requests = requests});
}

TEST(Invoke, MakesOutputs) {
  NDArray x = array_of({1, 2, 3}), y = array_of({10, 20, 30});
  EXPECT_EQ(values_of(call("elemwise_add", {&x, &y})), (Values{11, 22, 33}));
}

TEST(Invoke, WritesIntoGivenOutputs) {
  NDArray x = array_of({1, 2, 3}), out = array_of({0, 0, 0});
  const Chunk* chunk = out.chunk().get();
  call_into(out, "_plus_scalar", {&x}, {{"scalar", "2.0"}});
  EXPECT_EQ(values_of(out), (Values{3, 4, 5}));
  EXPECT_EQ(out.chunk().get(), chunk);
}

TEST(Invoke, OutputMayBeAnInput) {
  NDArray x = array_of({1, 2, 3}), y = array_of({5, 5, 5});
  call_into(y, "elemwise_sub", {&x, &y});
  EXPECT_EQ(values_of(y), (Values{-4, -3, -2}));
}

TEST(Invoke, OperatorsThatCannotRunInPlaceStillMayWriteTheirInput) {
  NDArray x = array_of({1, 2, 3, 4});
  call_into(x, "_test_reverse", {&x});
  EXPECT_EQ(values_of(x), (Values{4, 3, 2, 1}));
}

TEST(Invoke, OverlappingViewsAreReadBeforeTheyAreWritten) {
  NDArray x = array_of({1, 2, 3, 4, 5});
  NDArray from = x.slice(0, 4), to = x.slice(1, 5);
  call_into(to, "_plus_scalar", {&from}, {{"scalar", "10"}});
  EXPECT_EQ(values_of(x), (Values{1, 11, 12, 13, 14}));
}

TEST(Invoke, ViewsThatDoNotOverlapAreWrittenDirectly) {
  NDArray x = array_of({1, 2, 0, 0});
  NDArray from = x.slice(0, 2), to = x.slice(2, 4);
  call_into(to, "_test_reverse", {&from});
  EXPECT_EQ(values_of(x), (Values{1, 2, 2, 1}));
}

TEST(Invoke, AddRequestAccumulates) {
  NDArray x = array_of({1, 2, 3}), out = array_of({10, 10, 10});
  invoke_op("_test_reverse", {&x}, {&out}, {Request::kAdd});
  EXPECT_EQ(values_of(out), (Values{13, 12, 11}));
}

TEST(Invoke, NullRequestLeavesTheOutput) {
  NDArray x = array_of({1, 2}), a = array_of({7, 7}), b = array_of({8, 8});
  invoke_op("_test_split", {&x}, {&a, &b}, {Request::kNull, Request::kInplace});
  EXPECT_EQ(values_of(a), (Values{7, 7}));
  EXPECT_EQ(values_of(b), (Values{2, 4}));
}

TEST(Invoke, AddRequestIntoAnInput) {
  NDArray x = array_of({1, 2, 3});
  invoke_op("_test_reverse", {&x}, {&x}, {Request::kAdd});
  EXPECT_EQ(values_of(x), (Values{4, 4, 4}));
}

TEST(Invoke, MutatedInputsAreWritten) {
  NDArray state = array_of({1, 2}), data = array_of({10, 20});
  const uint64_t before = Engine::get().version(state.var());
  NDArray out = call("_test_update", {&state, &data});
  EXPECT_EQ(values_of(state), (Values{11, 22}));
  EXPECT_EQ(values_of(out), (Values{22, 44}));
  EXPECT_GT(Engine::get().version(state.var()), before);
  EXPECT_EQ(values_of(data), (Values{10, 20}));
}

TEST(Invoke, TheFirstKernelThatAcceptsRuns) {
  NDArray doubles(Shape{1}, DType::kFloat64, Device::cpu());
  NDArray ints(Shape{1}, DType::kInt32, Device::cpu());
  NDArray bytes(Shape{1}, DType::kInt8, Device::cpu());
  EXPECT_EQ(values_of(call("_test_kernels", {&doubles})), Values{1});
  EXPECT_EQ(values_of(call("_test_kernels", {&ints})), Values{2});
  const std::string error = error_of([&] { call("_test_kernels", {&bytes}); });
  EXPECT_TRUE(contains(error, "TypeError: [_test_kernels] given input types (int8)")) << error;
}

TEST(Invoke, AllIdsAndKindsOfTheCpuAreOneDevice) {
  NDArray a = array_of({1, 2}, {}, Device::cpu(3)), b = array_of({1, 2}, {}, Device::cpu(0));
  NDArray c = array_of({1, 2}, {}, Device::cpu_pinned());
  EXPECT_EQ(values_of(call("elemwise_add", {&a, &b})), (Values{2, 4}));
  EXPECT_EQ(values_of(call("elemwise_add", {&b, &c})), (Values{2, 4}));
  EXPECT_EQ(call("elemwise_add", {&a, &b}).device(), Device::cpu(3));
  EXPECT_EQ(call("elemwise_add", {&c, &b}).device(), Device::cpu());  // not pinned as its input
}

TEST(Invoke, ArraysWithoutElements) {
  NDArray x(Shape{0, 3}, DType::kFloat32, Device::cpu());
  NDArray y = call("_plus_scalar", {&x}, {{"scalar", "1"}});
  EXPECT_EQ(y.shape(), (Shape{0, 3}));
  EXPECT_TRUE(values_of(y).empty());
}

TEST(Invoke, ScalarsMakeScalars) {
  NDArray x = array_of({2}, Shape::scalar());
  NDArray y = call("elemwise_mul", {&x, &x});
  EXPECT_EQ(y.shape(), Shape::scalar());
  EXPECT_EQ(values_of(y), Values{4});
}

TEST(Invoke, OperatorsWithoutInputsUseTheGivenDevice) {
  NDArray y = call("_test_fill", {}, {{"shape", "(2,)"}, {"value", "3"}});
  EXPECT_EQ(values_of(y), (Values{3, 3}));
}

TEST(Invoke, GivenOutputsTakePartInTheInference) {
  NDArray out = array_of({0, 0, 0});
  call_into(out, "_test_fill", {}, {{"value", "3"}});
  EXPECT_EQ(values_of(out), (Values{3, 3, 3}));
}

TEST(Invoke, ManyInputsAndRepeatedOnes) {
  std::vector<NDArray> arrays;
  for (int i = 0; i < 100; ++i) arrays.push_back(array_of({1, static_cast<float>(i % 10)}));
  std::vector<const NDArray*> inputs;
  for (int i = 0; i < 300; ++i) inputs.push_back(&arrays[static_cast<std::size_t>(i % 100)]);
  const OpDef& op = Registry::get().at("_test_sum_all");
  const std::array<std::pair<std::string_view, std::string_view>, 1> attrs{{{"num_args", "300"}}};
  NDArray out;
  NDArray* outputs[] = {&out};
  invoke(op, parse_attrs(op, attrs)->params(), inputs, outputs);
  EXPECT_EQ(values_of(out), (Values{300, 1350}));
}

TEST(Invoke, DonatedInputsLendTheirMemoryToOutputs) {
  const OpDef& op = Registry::get().at("elemwise_add");
  const ParamsPtr params = parse_attrs(op, {})->params();
  NDArray x = array_of({1, 2}), y = array_of({3, 4}), shared = y, out;
  const Chunk* chunk = x.chunk().get();
  const NDArray* in[] = {&x, &y};
  NDArray* outputs[] = {&out};
  invoke(op, params, in, outputs, {.donated = 3});
  EXPECT_EQ(out.chunk().get(), chunk);
  EXPECT_EQ(values_of(out), (Values{4, 6}));
  out = NDArray();
  const NDArray* held[] = {&y, &y};
  invoke(op, params, held, outputs, {.donated = 3});
  EXPECT_NE(out.chunk(), y.chunk());  // somebody else holds it
  EXPECT_EQ(values_of(shared), (Values{3, 4}));
  out = NDArray();
  const OpDef& reverse = Registry::get().at("_test_reverse");
  const NDArray* one[] = {&x};
  Engine::get().wait_for_all();
  invoke(reverse, parse_attrs(reverse, {})->params(), one, outputs, {.donated = 1});
  EXPECT_NE(out.chunk(), x.chunk());  // not an operator that runs in place
}

TEST(Invoke, ErrorsOfTheCallerAreThrownAtTheCall) {
  NDArray x = array_of({1, 2, 3}), y = array_of({1, 2}), none;
  NDArray doubles(Shape{3}, DType::kFloat64, Device::cpu());
  EXPECT_TRUE(contains(error_of([&] { call("elemwise_add", {&x}); }),
                       "[elemwise_add] given 1 inputs, expected 2: lhs, rhs"));
  EXPECT_TRUE(contains(error_of([&] { call("elemwise_add", {&x, &y}); }), "(2,)"));
  EXPECT_TRUE(contains(error_of([&] { call("elemwise_add", {&x, &doubles}); }), "float64"));
  EXPECT_TRUE(contains(error_of([&] { call("elemwise_add", {&x, &none}); }), "'rhs'"));
  EXPECT_TRUE(contains(error_of([&] { call("_test_fill", {}); }),
                       "given parameter 'shape' from which output 0 follows as"));
  EXPECT_TRUE(contains(error_of([&] {
                         call_into(y, "_plus_scalar", {&x}, {{"scalar", "1"}});
                       }),
                       "given output 0 of shape (2,)"));
  EXPECT_TRUE(contains(error_of([&] {
                         call_into(doubles, "_plus_scalar", {&x}, {{"scalar", "1"}});
                       }),
                       "float64"));
  EXPECT_EQ(values_of(x), (Values{1, 2, 3}));
}

TEST(Invoke, ErrorsOfKernelsSurfaceAtTheWaitOnce) {
  NDArray x = array_of({1});
  NDArray y = call("_test_fail", {&x});
  EXPECT_THROW(y.wait_to_read(), Error);
  EXPECT_NO_THROW(y.wait_to_read());
  EXPECT_NO_THROW(x.wait_to_read());
}

TEST(Invoke, WhatDependsOnAFailureFailsToo) {
  NDArray x = array_of({1});
  NDArray y = call("_test_fail", {&x});
  NDArray z = call("_plus_scalar", {&y}, {{"scalar", "1"}});
  EXPECT_THROW(z.wait_to_read(), Error);
  EXPECT_THROW(y.wait_to_read(), Error);
}

TEST(Invoke, LargeArraysGoThroughTheWorkersInOrder) {
  const int64_t n = 100'000;
  NDArray x = array_of(Values(static_cast<std::size_t>(n), 1));
  for (int i = 0; i < 20; ++i) call_into(x, "_plus_scalar", {&x}, {{"scalar", "1"}});
  const Values values = values_of(x);
  EXPECT_EQ(values.front(), 21);
  EXPECT_EQ(values.back(), 21);
}

TEST(Invoke, ThreadsShareInputs) {
  NDArray weight = array_of(Values(64, 2), {8, 8});
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (int& bad : wrong) {
    threads.emplace_back([&bad, weight]() mutable {
      for (int i = 0; i < 500; ++i) {
        NDArray mine = array_of(Values(64, static_cast<float>(i)), {8, 8});
        NDArray sum = call("elemwise_add", {&weight, &mine});
        bad += values_of(sum) != Values(64, static_cast<float>(i + 2));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::array<int, 4>{}));
}

// Where a kernel has found the shapes of its arrays.
std::array<const Shape*, 4> g_shapes;

MX_OP(_test_shapes_at, NoParams)
.doc("Two sums, whose kernel says where it found its arrays.")
    .input("lhs", "An array.")
    .input("rhs", "An array.")
    .outputs([](const NoParams&) { return 2; })
    .infer([](const NoParams&, Infer& infer) {
      for (int o = 0; o < 2; ++o) infer.out(o).same_as(infer.in(0)).same_as(infer.in(1));
    })
    .cpu([](const NoParams&, KernelContext& context) {
      g_shapes = {context.in(0).shape_ptr, context.in(1).shape_ptr, context.out(0).shape_ptr,
                  context.out(1).shape_ptr};
      for (int64_t i = 0; i < context.in(0).size(); ++i)
        for (int o = 0; o < 2; ++o)
          context.out(o).as<float>()[i] =
              context.in(0).as<float>()[i] + context.in(1).as<float>()[i];
    });

TEST(Invoke, ASmallCallIsComputedOnTheCallersOwnArrays) {
  NDArray x = array_of({1, 2}), y = array_of({3, 4}), a, b;
  invoke_op("_test_shapes_at", {&x, &y}, {&a, &b});
  EXPECT_EQ(g_shapes, (std::array{&x.shape(), &y.shape(), &a.shape(), &b.shape()}));
  EXPECT_EQ(values_of(a), (Values{4, 6}));
  // Results that are to be added are computed aside; still nothing is copied for a record.
  invoke_op("_test_shapes_at", {&x, &x}, {&a, &b}, {Request::kAdd, Request::kWrite});
  EXPECT_EQ(g_shapes, (std::array{&x.shape(), &x.shape(), &a.shape(), &b.shape()}));
  EXPECT_EQ(values_of(a), (Values{6, 10}));
  EXPECT_EQ(values_of(b), (Values{2, 4}));
}

TEST(Invoke, SparseArraysAreMadeDenseAroundTheCall) {
  NDArray dense = array_of({0, 2, 0, 4}, {2, 2});
  NDArray sparse(StorageType::kCSR, {2, 2}, DType::kFloat32, Device::cpu());
  dense.copy_to(sparse);
  NDArray sum = call("elemwise_add", {&sparse, &dense});
  EXPECT_EQ(sum.storage_type(), StorageType::kDense);
  EXPECT_EQ(values_of(sum), (Values{0, 4, 0, 8}));
  call_into(sparse, "elemwise_add", {&sparse, &dense});
  EXPECT_EQ(sparse.storage_type(), StorageType::kCSR);
  NDArray back = array_of({9, 9, 9, 9}, {2, 2});
  sparse.copy_to(back);
  EXPECT_EQ(values_of(back), (Values{0, 4, 0, 8}));
}

}  // namespace
}  // namespace mxnet
