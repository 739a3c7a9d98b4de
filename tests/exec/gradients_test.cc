// SPDX-License-Identifier: Apache-2.0
// Gradients as arrays, of any order, and functions whose gradient the user writes.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "exec/arrays.h"

namespace mxnet {
namespace {

std::vector<NDArray> grad_of(NDArray& head, std::vector<NDArray*> variables, bool create_graph) {
  const NDArray* heads[] = {&head};
  const std::vector<const NDArray*> refs(variables.begin(), variables.end());
  return gradients(heads, {}, refs, {.retain_graph = create_graph, .create_graph = create_graph});
}

TEST(Gradients, LeaveTheBuffersAlone) {
  NDArray x = array_of({1, 2});
  NDArray buffer = attach_grad(x, Request::kWrite, 7);
  NDArray y;
  {
    const Recording recording;
    y = call("square", {&x});
  }
  EXPECT_EQ(values_of(grad_of(y, {&x}, false)[0]), (Values{2, 4}));
  EXPECT_EQ(values_of(buffer), (Values{7, 7}));
}

TEST(Gradients, OfAnyOrder) {
  NDArray x = array_of({1, 2, 3});
  attach_grad(x);
  const Recording recording;
  NDArray x2 = call("_test_mul", {&x, &x});
  NDArray y = call("_test_mul", {&x2, &x2});  // x^4
  const std::vector<Values> expected = {{4, 32, 108}, {12, 48, 108}, {24, 48, 72}, {24, 24, 24}};
  for (const Values& values : expected) {
    y = grad_of(y, {&x}, true)[0];
    EXPECT_EQ(values_of(y), values);
  }
}

TEST(Gradients, OfGradientsReachTheBuffers) {
  NDArray x = array_of({1, 2, 3});
  NDArray buffer = attach_grad(x);
  NDArray first;
  {
    const Recording recording;
    NDArray y = call("exp", {&x});
    NDArray z = call("elemwise_mul", {&y, &x});  // x e^x
    first = grad_of(z, {&x}, true)[0];           // (x + 1) e^x
  }
  backward_from(first);  // (x + 2) e^x
  const Values values = values_of(buffer);
  for (int i = 0; i < 3; ++i) {
    const double at = i + 1;
    EXPECT_NEAR(values[static_cast<std::size_t>(i)], (at + 2) * std::exp(at), 1e-4 * std::exp(at));
  }
}

TEST(Gradients, OfLinearFunctionsHaveZeroGradients) {
  NDArray x = array_of({1, 2});
  NDArray buffer = attach_grad(x, Request::kWrite, 7);
  NDArray head;
  {
    const Recording recording;
    NDArray y = times(x, "3");
    NDArray first = grad_of(y, {&x}, true)[0];
    EXPECT_EQ(values_of(first), (Values{3, 3}));
    head = times(first, "5");
  }
  backward_from(head);
  EXPECT_EQ(values_of(buffer), (Values{0, 0}));
}

TEST(Gradients, OfVariablesThatDoNotMatterAreAnError) {
  NDArray x = array_of({1}), other = array_of({1}), unmarked = array_of({1});
  attach_grad(x);
  attach_grad(other);
  const Recording recording;
  NDArray y = times(x, "2");
  EXPECT_TRUE(contains(error_of([&] { grad_of(y, {&x, &other}, true); }), "variable 1"));
  EXPECT_TRUE(contains(error_of([&] { grad_of(y, {&unmarked}, true); }), "variable 0"));
}

TEST(Gradients, OfAnUntouchedVariableAreZeros) {
  NDArray x = array_of({1, 2}), blocked = array_of({1, 2});
  attach_grad(x);
  attach_grad(blocked);
  NDArray y;
  {
    const Recording recording;
    NDArray b = call("_test_block", {&blocked});
    y = call("elemwise_mul", {&x, &b});
  }
  EXPECT_EQ(values_of(grad_of(y, {&blocked}, false)[0]), (Values{0, 0}));
}

// --- functions of the user -----------------------------------------------------------------------

TEST(Function, ItsGradientIsAskedFor) {
  NDArray x = array_of({1, 2});
  NDArray grad = attach_grad(x);
  NDArray y, out;
  int calls = 0;
  {
    const Recording recording;
    y = times(x, "2");
    {
      const AutogradScope pause({});
      out = call("square", {&y});
    }
    NDArray* inputs[] = {&y};
    NDArray* outputs[] = {&out};
    record_function(
        [&](std::vector<NDArray> dout, std::span<const NDArray>) {
          ++calls;
          return std::vector<NDArray>{times(dout[0], "10")};
        },
        inputs, outputs);
  }
  backward_from(out);
  EXPECT_EQ(values_of(grad), (Values{20, 20}));
  EXPECT_EQ(calls, 1);
}

TEST(Function, MayThrow) {
  NDArray x = array_of({1});
  attach_grad(x);
  NDArray y = times(x, "2");
  {
    const Recording recording;
    NDArray* inputs[] = {&x};
    NDArray* outputs[] = {&y};
    record_function(
        [](std::vector<NDArray>, std::span<const NDArray>) -> std::vector<NDArray> {
          throw Error(ErrorCode::kValue, "function", "given up");
        },
        inputs, outputs);
  }
  EXPECT_TRUE(contains(error_of([&] { backward_from(y); }), "given up"));
}

}  // namespace
}  // namespace mxnet
