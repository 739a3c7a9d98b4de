// SPDX-License-Identifier: Apache-2.0
// What a recorded graph keeps of arrays, when it lets go of it, and what may not be written
// meanwhile.
#include <gtest/gtest.h>

#include "exec/arrays.h"

namespace mxnet {
namespace {

TEST(Autograd, BackwardFreesTheGraphUnlessItIsRetained) {
  NDArray x = array_of({1, 2, 3});
  NDArray grad = attach_grad(x, Request::kAdd);
  NDArray y, z;
  {
    const Recording recording;
    y = times(x, "2");
    z = call("elemwise_mul", {&y, &y});
  }
  backward_from(z, {.retain_graph = true});
  backward_from(z);
  EXPECT_EQ(values_of(grad), (Values{16, 32, 48}));
  EXPECT_TRUE(contains(error_of([&] { backward_from(z); }), "not in a computational graph"));
  EXPECT_TRUE(contains(error_of([&] { backward_from(y); }), "not in a computational graph"));
  NDArray w;
  {
    const Recording recording;
    w = times(y, "2");  // y is a plain array now
  }
  EXPECT_TRUE(contains(error_of([&] { backward_from(w); }), "not in a computational graph"));
}

TEST(Autograd, AGraphThatHangsOnAFreedPartIsAnError) {
  NDArray x = array_of({1, 2});
  attach_grad(x);
  NDArray y, z, w;
  {
    const Recording recording;
    y = times(x, "2");
    z = times(y, "3");
    w = times(y, "4");
  }
  backward_from(z);
  EXPECT_TRUE(contains(error_of([&] { backward_from(w); }), "retain_graph"));
}

TEST(Autograd, BackwardFreesSavedValuesAndDeadBranchesAtOnce) {
  NDArray x = array_of({1, 2, 3});
  attach_grad(x);
  NDArray y, z;
  {
    const Recording recording;
    y = call("exp", {&x});
    z = call("elemwise_mul", {&y, &y});
  }
  Engine::get().wait_for_all();
  EXPECT_FALSE(y.chunk()->unique());  // saved for the gradients
  backward_from(z);
  Engine::get().wait_for_all();
  EXPECT_TRUE(y.chunk()->unique());
  NDArray weight = array_of({1, 2, 3});
  attach_grad(weight);
  {
    const Recording recording;
    NDArray dead = call("exp", {&weight});
    z = call("elemwise_mul", {&dead, &y});
    z = NDArray();
  }
  Engine::get().wait_for_all();
  EXPECT_TRUE(y.chunk()->unique());
}

TEST(Autograd, OnlyWhatTheRuleNeedsIsSaved) {
  NDArray x = array_of({1, 2, 3});
  attach_grad(x);
  const Recording recording;
  NDArray a = times(x, "2");                   // needs nothing
  NDArray b = call("elemwise_add", {&a, &x});  // needs nothing
  Engine::get().wait_for_all();
  EXPECT_TRUE(a.chunk()->unique());
  NDArray c = call("elemwise_mul", {&b, &a});  // needs both inputs
  Engine::get().wait_for_all();
  EXPECT_FALSE(b.chunk()->unique());
  EXPECT_FALSE(a.chunk()->unique());
  EXPECT_TRUE(c.chunk()->unique());
}

TEST(Autograd, AConstantsPartnerIsNotSaved) {
  NDArray x = array_of({1, 2, 3}), constant = array_of({4, 5, 6});
  NDArray grad = attach_grad(x);
  NDArray y, z;
  {
    const Recording recording;
    y = times(x, "1");
    z = call("_test_mul", {&y, &constant});
  }
  Engine::get().wait_for_all();
  EXPECT_TRUE(y.chunk()->unique());
  backward_from(z);
  EXPECT_EQ(values_of(grad), (Values{4, 5, 6}));
}

TEST(Autograd, WritingIntoAGraphIsAnErrorWhileRecording) {
  NDArray x = array_of({1, 2}), constant = array_of({1, 1}), free = array_of({1, 1});
  NDArray grad = attach_grad(x);
  NDArray y;
  {
    const Recording recording;
    y = call("elemwise_mul", {&x, &constant});
    for (NDArray* array : {&y, &x, &constant}) {
      EXPECT_TRUE(contains(error_of([&] {
                             call_into(*array, "_plus_scalar", {&free}, {{"scalar", "1"}});
                           }),
                           "part of a recorded graph"));
    }
    call_into(free, "_plus_scalar", {&free}, {{"scalar", "1"}});
    EXPECT_EQ(values_of(free), (Values{2, 2}));
  }
  call_into(constant, "_plus_scalar", {&free}, {{"scalar", "1"}});  // outside it is allowed
  backward_from(y);
  const Recording recording;
  call_into(constant, "_plus_scalar", {&free}, {{"scalar", "1"}});  // the graph is gone
}

TEST(Autograd, InputsThatTheGradientNeedsMayNotBeOutputs) {
  NDArray x = array_of({1, 2}), constant = array_of({3, 4});
  NDArray grad = attach_grad(x);
  {
    const Recording recording;
    EXPECT_TRUE(contains(error_of([&] {
                           call_into(constant, "_test_mul", {&constant, &x});
                         }),
                         "needed for the gradient"));
    call_into(constant, "elemwise_add", {&constant, &x});  // constant += x
  }
  EXPECT_EQ(values_of(constant), (Values{4, 6}));
  backward_from(constant);
  EXPECT_EQ(values_of(grad), (Values{1, 1}));
}
}  // namespace
}  // namespace mxnet
