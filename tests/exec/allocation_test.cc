// SPDX-License-Identifier: Apache-2.0
// A call into given outputs allocates nothing once its attributes have been seen: this program
// counts every operator new.
#include <gtest/gtest.h>

#include <array>
#include <future>

#include "counted_new.h"
#include "exec/arrays.h"

namespace mxnet {
namespace {

constexpr int kCalls = 200;

// What so many calls into `out` allocate, once as many have been made. First the pools are filled
// with more than any interleaving can need: a few times as many are held in flight together, by an
// operation that ends when they are pushed.
template <class Call>
uint64_t allocations_of(const NDArray& out, const Call& call) {
  Var* const writes[] = {out.var()};
  std::promise<OnComplete> started;
  Engine::get().push_async(
      [&](const RunContext&, OnComplete done) { started.set_value(done); },
      {.device = Device::cpu(), .reads = {}, .writes = writes, .name = "hold"});
  const OnComplete release = started.get_future().get();
  for (int i = 0; i < 4 * kCalls; ++i) call();
  release();
  Engine::get().wait_for_all();
  for (int i = 0; i < kCalls; ++i) call();
  const uint64_t before = g_allocations;
  for (int i = 0; i < kCalls; ++i) call();
  return g_allocations - before;
}

class Allocation : public testing::Test {
 protected:
  void SetUp() override {
    if (!kCounts) GTEST_SKIP() << "allocations are not counted under the address sanitizer";
  }
  NDArray x_ = array_of(Values(64, 1), {8, 8}), y_ = array_of(Values(64, 2), {8, 8});
  NDArray out_ = array_of(Values(64, 0), {8, 8});
};

TEST_F(Allocation, NoneInACallWithoutAttributes) {
  const ParsedAttrsRef add = parse_attrs(Registry::get().at("elemwise_add"), {});
  NDArray* inputs[] = {&x_, &y_};
  NDArray* outputs[] = {&out_};
  EXPECT_EQ(allocations_of(out_, [&] { imperative_invoke(add, inputs, outputs); }), 0u);
  EXPECT_EQ(values_of(out_), Values(64, 3));
}

TEST_F(Allocation, NoneInACallWithAttributesAsTexts) {
  const OpDef& op = Registry::get().at("_plus_scalar");
  const std::pair<std::string_view, std::string_view> attrs[] = {{"scalar", "2.0"}};
  NDArray* inputs[] = {&x_};
  NDArray* outputs[] = {&out_};
  const auto call = [&] { imperative_invoke(parse_attrs(op, attrs), inputs, outputs); };
  EXPECT_EQ(allocations_of(out_, call), 0u);
  EXPECT_EQ(values_of(out_), Values(64, 3));
}

// Per operator of a chain that is recorded and differentiated, once as long a one has been: a node,
// its inputs, what its result knows of it, and the result's memory.
TEST_F(Allocation, FewForARecordedCallAndItsGradient) {
  constexpr int kLength = 500;
  NDArray grad = attach_grad(x_);
  const ParsedAttrsRef product = parse_attrs(Registry::get().at("elemwise_mul"), {});
  const auto pass = [&] {
    NDArray y = x_;
    {
      const Recording recording;
      for (int i = 0; i < kLength; ++i) {
        NDArray next;
        NDArray* inputs[] = {&y, &y_};
        NDArray* outputs[] = {&next};
        imperative_invoke(product, inputs, outputs);
        y = std::move(next);
      }
    }
    backward_from(y);
  };
  y_ = array_of(Values(64, 1), {8, 8});
  for (int i = 0; i < 3; ++i) pass();
  const uint64_t before = g_allocations;
  pass();
  EXPECT_LT(static_cast<double>(g_allocations - before) / kLength, 6.5);
  EXPECT_EQ(values_of(grad), Values(64, 1));
}

// Biases and branches in turn: rules of one operator without attributes, which ask for other steps.
TEST_F(Allocation, FewWhereShapesOfRecordedCallsAlternate) {
  constexpr int kLength = 200;
  attach_grad(x_);
  NDArray row = array_of(Values(8, 1), {8});
  y_ = array_of(Values(64, 1), {8, 8});
  const ParsedAttrsRef sum = parse_attrs(Registry::get().at("broadcast_add"), {});
  const auto allocations = [&](std::array<NDArray*, 2> others) {
    const auto pass = [&] {
      NDArray y = x_;
      {
        const Recording recording;
        for (int i = 0; i < kLength; ++i) {
          NDArray next;
          NDArray* inputs[] = {&y, others[static_cast<std::size_t>(i % 2)]};
          NDArray* outputs[] = {&next};
          imperative_invoke(sum, inputs, outputs);
          y = std::move(next);
        }
      }
      backward_from(y);
    };
    for (int i = 0; i < 3; ++i) pass();
    const uint64_t before = g_allocations;
    pass();
    return g_allocations - before;
  };
  attach_grad(row);
  attach_grad(y_);
  const uint64_t apart = allocations({&row, &row}) + allocations({&y_, &y_});
  EXPECT_LE(2 * allocations({&row, &y_}), apart + 20);
}

}  // namespace
}  // namespace mxnet
