// SPDX-License-Identifier: Apache-2.0
// Recording and differentiation as users see them.
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "exec/arrays.h"

namespace mxnet {
namespace {

TEST(Autograd, SwitchesAreOffAtFirstAndPerThread) {
  const Recording recording;
  EXPECT_TRUE(autograd_state().recording);
  std::thread([] {
    EXPECT_FALSE(autograd_state().recording);
    EXPECT_FALSE(autograd_state().training);
  }).join();
}

TEST(Autograd, WriteOverwritesTheBuffer) {
  NDArray x = array_of({1, 2, 3});
  NDArray grad = attach_grad(x, Request::kWrite, 100);
  NDArray y;
  {
    const Recording recording;
    y = call("elemwise_mul", {&x, &x});
  }
  backward_from(y);
  EXPECT_EQ(values_of(grad), (Values{2, 4, 6}));
  EXPECT_EQ(values_of(x.tape()->gradient()), (Values{2, 4, 6}));
}

TEST(Autograd, AddAccumulatesOverPasses) {
  NDArray x = array_of({1, 2, 3});
  NDArray grad = attach_grad(x, Request::kAdd, 0.5);
  for (int i = 0; i < 2; ++i) {
    NDArray y, z;
    {
      const Recording recording;
      y = times(x, "2");
      z = call("elemwise_add", {&y, &x});
    }
    backward_from(z);
  }
  EXPECT_EQ(values_of(grad), (Values{6.5, 6.5, 6.5}));
}

TEST(Autograd, NullTakesNoPart) {
  NDArray x = array_of({1, 2}), w = array_of({3, 4});
  mark_variable(x, Request::kNull, NDArray());
  NDArray y, z;
  {
    const Recording recording;
    y = times(x, "2");
  }
  EXPECT_TRUE(contains(error_of([&] { backward_from(y); }), "require gradients"));
  NDArray grad = attach_grad(w);
  {
    const Recording recording;
    z = call("elemwise_mul", {&x, &w});
  }
  backward_from(z);
  EXPECT_EQ(values_of(grad), (Values{1, 2}));
}

TEST(Autograd, NothingIsRecordedOutsideOfRecordOrInPause) {
  NDArray x = array_of({1, 2, 3});
  NDArray grad = attach_grad(x);
  NDArray outside = times(x, "2");
  EXPECT_TRUE(contains(error_of([&] { backward_from(outside); }), "not in a computational graph"));
  const Recording recording;
  NDArray y = times(x, "2"), z;
  {
    const AutogradScope pause({});
    z = call("elemwise_mul", {&y, &y});
  }
  NDArray w = call("elemwise_add", {&z, &y});
  backward_from(w);
  EXPECT_EQ(values_of(grad), (Values{2, 2, 2}));
}

TEST(Autograd, HeadGradientsDefaultToOnes) {
  NDArray x = array_of({1, 2, 3}), head = array_of({1, 10, 100});
  NDArray grad = attach_grad(x);
  NDArray y;
  {
    const Recording recording;
    y = times(x, "2");
  }
  const NDArray* heads[] = {&y};
  const NDArray* head_grads[] = {&head};
  backward(heads, head_grads, {.retain_graph = true});
  EXPECT_EQ(values_of(grad), (Values{2, 20, 200}));
  backward(heads, {}, {.retain_graph = true});
  EXPECT_EQ(values_of(grad), (Values{2, 2, 2}));
  const NDArray* null_grads[] = {nullptr};
  backward(heads, null_grads);
  EXPECT_EQ(values_of(grad), (Values{2, 2, 2}));
}

TEST(Autograd, HeadGradientsMustFit) {
  NDArray x = array_of({1, 2, 3}), head = array_of({1, 2});
  attach_grad(x);
  NDArray y;
  {
    const Recording recording;
    y = times(x, "2");
  }
  const NDArray* heads[] = {&y};
  const NDArray* head_grads[] = {&head};
  EXPECT_TRUE(contains(error_of([&] { backward(heads, head_grads); }), "head gradient 0"));
}

TEST(Autograd, SeveralHeadsSumUpAndALeafMayBeOne) {
  NDArray x = array_of({1, 2, 3});
  NDArray grad = attach_grad(x);
  NDArray y;
  {
    const Recording recording;
    y = times(x, "2");
  }
  const NDArray* heads[] = {&y, &x, &y};
  backward(heads, {});
  EXPECT_EQ(values_of(grad), (Values{5, 5, 5}));
}

TEST(Autograd, SumsOverAllUsersOfAValue) {
  NDArray x = array_of({1, 2});
  NDArray grad = attach_grad(x);
  NDArray z;
  {
    const Recording recording;
    NDArray y = times(x, "2");
    NDArray a = call("elemwise_mul", {&y, &y}), b = times(y, "3"), c = call("square", {&y});
    NDArray ab = call("elemwise_add", {&a, &b});
    z = call("elemwise_add", {&ab, &c});
  }
  backward_from(z);  // z = 2 y^2 + 3 y, y = 2 x
  EXPECT_EQ(values_of(grad), (Values{22, 38}));
}

TEST(Autograd, RecordedOutputsMayBeGivenArrays) {
  NDArray x = array_of({1, 2, 3}), out = array_of({0, 0, 0});
  NDArray grad = attach_grad(x);
  {
    const Recording recording;
    call_into(out, "elemwise_mul", {&x, &x});
  }
  backward_from(out);
  EXPECT_EQ(values_of(grad), (Values{2, 4, 6}));
}

TEST(Autograd, AttachGradDetaches) {
  NDArray x = array_of({1, 2, 3});
  NDArray x_grad = attach_grad(x, Request::kWrite, 7);
  NDArray y, z;
  NDArray y_grad;
  {
    const Recording recording;
    y = times(x, "2");
    y_grad = attach_grad(y);
    z = times(y, "3");
  }
  backward_from(z);
  EXPECT_EQ(values_of(y_grad), (Values{3, 3, 3}));
  EXPECT_EQ(values_of(x_grad), (Values{7, 7, 7}));
}

TEST(Autograd, LeavesBehindABlockGetZerosOthersStay) {
  NDArray x = array_of({1, 2}), blocked = array_of({1, 2}), other = array_of({1, 2});
  NDArray x_grad = attach_grad(x), blocked_grad = attach_grad(blocked, Request::kWrite, 7),
          other_grad = attach_grad(other, Request::kWrite, 7);
  NDArray y;
  {
    const Recording recording;
    NDArray b = call("_test_block", {&blocked});
    NDArray unused = times(other, "2");
    y = call("elemwise_add", {&x, &b});
  }
  backward_from(y);
  EXPECT_EQ(values_of(x_grad), (Values{1, 1}));
  EXPECT_EQ(values_of(blocked_grad), (Values{0, 0}));
  EXPECT_EQ(values_of(other_grad), (Values{7, 7}));
}

TEST(Autograd, OperatorsWithoutGradientAreAnErrorOnlyWhenAskedForOne) {
  NDArray x = array_of({1, 2}), w = array_of({1, 2});
  attach_grad(x);
  NDArray w_grad = attach_grad(w);
  NDArray y, z;
  {
    const Recording recording;
    y = call("_test_no_gradient", {&x});
    NDArray blocked = call("_test_block", {&y});
    z = call("elemwise_add", {&blocked, &w});
  }
  EXPECT_NO_THROW(backward_from(z));
  {
    const Recording recording;
    y = call("_test_no_gradient", {&x});
  }
  EXPECT_TRUE(contains(error_of([&] { backward_from(y); }), "[_test_no_gradient]"));
}

TEST(Autograd, OutputsWithoutGradientCountAsZero) {
  NDArray x = array_of({1, 2});
  NDArray grad = attach_grad(x);
  std::vector<NDArray> outputs;
  for (std::size_t used : {0, 1}) {
    {
      const Recording recording;
      NDArray* inputs[] = {&x};
      outputs = call_op("_test_split", inputs);
    }
    backward_from(outputs[used]);
    EXPECT_EQ(values_of(grad), used == 0 ? (Values{1, 1}) : (Values{2, 2}));
  }
}

TEST(Autograd, HeadGradientMayBeTheBufferItself) {
  NDArray x = array_of({1, 2}), y = array_of({3, 4});
  NDArray x_grad = attach_grad(x, Request::kWrite, 10), y_grad = attach_grad(y);
  NDArray z;
  {
    const Recording recording;
    z = call("elemwise_mul", {&x, &y});
  }
  const NDArray* heads[] = {&z};
  const NDArray* head_grads[] = {&x_grad};
  backward(heads, head_grads);
  EXPECT_EQ(values_of(x_grad), (Values{30, 40}));
  EXPECT_EQ(values_of(y_grad), (Values{10, 20}));
}

TEST(Autograd, BuffersThatTheGraphHasSavedAreReadBeforeTheyAreWritten) {
  NDArray x = array_of({1, 2}), y = array_of({3, 4});
  NDArray x_grad = attach_grad(x, Request::kWrite, 10), y_grad = attach_grad(y);
  NDArray z;
  {
    const Recording recording;
    NDArray a = call("elemwise_mul", {&y, &x_grad});
    NDArray b = call("elemwise_mul", {&x, &x_grad});
    z = call("elemwise_add", {&a, &b});
  }
  backward_from(z);
  EXPECT_EQ(values_of(x_grad), (Values{10, 10}));
  EXPECT_EQ(values_of(y_grad), (Values{10, 10}));
}

TEST(Autograd, GradientsAreComputedIntoTheBuffer) {
  NDArray x = array_of({1, 2, 3});
  NDArray grad = attach_grad(x);
  const uint64_t before = Engine::get().version(grad.var());
  NDArray y;
  {
    const Recording recording;
    y = call("square", {&x});
  }
  backward_from(y);
  EXPECT_EQ(values_of(grad), (Values{2, 4, 6}));
  EXPECT_EQ(Engine::get().version(grad.var()), before + 1);  // one write, no copy
}

TEST(Autograd, FreshGradientsAreMarked) {
  NDArray x = array_of({1});
  attach_grad(x);
  EXPECT_FALSE(x.tape()->fresh_gradient());
  NDArray y;
  {
    const Recording recording;
    y = times(x, "2");
  }
  backward_from(y);
  EXPECT_TRUE(x.tape()->fresh_gradient());
  x.tape()->set_fresh_gradient(false);
  EXPECT_FALSE(x.tape()->fresh_gradient());
}

TEST(Autograd, GraphsMayBeDeep) {
  const int depth = 100'000;
  NDArray x = array_of({1});
  NDArray grad = attach_grad(x);
  NDArray y = x;
  {
    const Recording recording;
    for (int i = 0; i < depth; ++i) y = call("_plus_scalar", {&y}, {{"scalar", "0"}});
  }
  backward_from(y);
  EXPECT_EQ(values_of(grad), Values{1});
  {
    const Recording recording;
    y = times(x, "1");
    for (int i = 0; i < depth; ++i) y = call("_plus_scalar", {&y}, {{"scalar", "0"}});
  }
  y = NDArray();  // never differentiated
}

// What a rule asks for is kept for calls of the same attributes, and these differ in what is
// wanted, in shapes, and in which outputs have a gradient.
TEST(Autograd, RulesAreAskedAnewWhereCallsDiffer) {
  NDArray x = array_of({1, 2, 3, 4}, {2, 2}), row = array_of({5, 6}, {1, 2});
  NDArray other = array_of({7, 8, 9, 10}, {2, 2});
  NDArray dx = attach_grad(x), drow = attach_grad(row), dother = attach_grad(other);
  const auto product_of = [](NDArray& a, NDArray& b) {
    NDArray y;
    {
      const Recording recording;
      y = call("broadcast_mul", {&a, &b});
    }
    backward_from(y);
  };
  for (int round = 0; round < 2; ++round) {
    product_of(x, row);
    EXPECT_EQ(values_of(dx), (Values{5, 6, 5, 6}));
    EXPECT_EQ(values_of(drow), (Values{4, 6}));
    product_of(x, other);
    EXPECT_EQ(values_of(dx), (Values{7, 8, 9, 10}));
    EXPECT_EQ(values_of(dother), (Values{1, 2, 3, 4}));
    NDArray constant = array_of({2, 3}, {1, 2});
    product_of(x, constant);
    EXPECT_EQ(values_of(dx), (Values{2, 3, 2, 3}));
    product_of(constant, x);
    EXPECT_EQ(values_of(dx), (Values{2, 3, 2, 3}));
    for (const int part : {0, 1}) {
      NDArray halves[2];
      {
        const Recording recording;
        NDArray* inputs[] = {&x};
        NDArray* outputs[] = {&halves[0], &halves[1]};
        const std::pair<std::string_view, std::string_view> attrs[] = {{"num_outputs", "2"}};
        const OpDef& split = Registry::get().at("SliceChannel");
        imperative_invoke(parse_attrs(split, attrs), inputs, outputs);
      }
      backward_from(halves[part]);
      EXPECT_EQ(values_of(dx), part == 0 ? (Values{1, 0, 1, 0}) : (Values{0, 1, 0, 1}));
    }
  }
}

TEST(Autograd, ThreadsMakeOneArrayTheirConstant) {
  constexpr int kThreads = 4, kRounds = 100;
  std::vector<NDArray> shared(kRounds);
  for (NDArray& array : shared) array = array_of({2, 3});
  std::barrier together(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto factor = static_cast<float>(t + 1);
      NDArray x = array_of({factor, 1});
      const NDArray grad = attach_grad(x);
      for (NDArray& array : shared) {
        together.arrive_and_wait();
        NDArray y;
        {
          const Recording recording;
          y = call("elemwise_mul", {&x, &array});
          y = call("elemwise_mul", {&y, &array});
        }
        backward_from(y);
        EXPECT_EQ(values_of(grad), (Values{4, 9}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const NDArray& array : shared) EXPECT_EQ(tape_entry(array), nullptr);  // as any other again
}

TEST(Autograd, ThreadsDifferentiateGraphsOverSharedLeaves) {
  NDArray weight = array_of({1, 2, 3});
  attach_grad(weight, Request::kAdd);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([weight]() mutable {
      for (int i = 0; i < 100; ++i) {
        NDArray y;
        {
          const Recording recording;
          y = call("elemwise_mul", {&weight, &weight});
        }
        backward_from(y);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(values_of(weight.tape()->gradient()), (Values{800, 1600, 2400}));
}

}  // namespace
}  // namespace mxnet
