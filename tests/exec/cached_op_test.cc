// SPDX-License-Identifier: Apache-2.0
// Cached ops: results and gradients equal eager calls for every combination of flags and input
// types. Threads: plan_threads_test.cc.
#include "exec/cached_op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <exception>
#include <future>
#include <thread>

#include "base/error.h"
#include "exec/plan_fixture.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

constexpr unsigned kSeed = 17;

CachedOpFlags flags(std::initializer_list<std::pair<std::string_view, std::string_view>> texts) {
  return CachedOpFlags::parse({texts.begin(), texts.size()});
}

std::vector<NDArray> invoke(CachedOp& op, std::vector<NDArray>& inputs) {
  std::vector<NDArray> outputs(op.graph().outputs().size());
  std::vector<NDArray*> in, out;
  for (NDArray& input : inputs) in.push_back(&input);
  for (NDArray& output : outputs) out.push_back(&output);
  op.invoke(in, out, Device::cpu());
  return outputs;
}

// The inputs in the order of the graph's variables (here: of its arguments).
struct Case {
  explicit Case(const CachedOpFlags& flags = {}, int batch = 3)
      : mlp(4, batch, 8, kSeed), inputs(mlp.arrays()), op(mlp.graph, flags) {}
  Mlp mlp;
  std::vector<NDArray> inputs;
  CachedOp op;
};

class CachedOpFlagsTest : public testing::TestWithParam<const char*> {
 protected:
  static CachedOpFlags given() {
    const std::string text = GetParam();
    if (text == "static") return flags({{"static_alloc", "1"}, {"static_shape", "True"}});
    if (text == "bulk") return flags({{"forward_bulk_size", "2"}, {"backward_bulk_size", "3"}});
    if (text == "inline") return flags({{"inline_limit", "100"}});
    return {};
  }
};

TEST_P(CachedOpFlagsTest, InferenceEqualsEagerCalls) {
  Case c(given());
  const EagerResults eager = run_eagerly(c.mlp.graph, c.inputs, false);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(values_of(invoke(c.op, c.inputs)[0]), eager.outputs[0]);
}

TEST_P(CachedOpFlagsTest, GradientsEqualEagerOnes) {
  Case c(given());
  const EagerResults eager = run_eagerly(c.mlp.graph, c.inputs);
  std::vector<NDArray> buffers;
  for (NDArray& input : c.inputs) buffers.push_back(attach_grad(input));
  for (int i = 0; i < 3; ++i) {
    std::vector<NDArray> outputs;
    {
      const Recording recording;
      outputs = invoke(c.op, c.inputs);
    }
    backward_from(outputs[0]);
    EXPECT_EQ(values_of(outputs[0]), eager.outputs[0]);
    for (std::size_t b = 0; b < buffers.size(); ++b)
      EXPECT_EQ(values_of(buffers[b]), eager.grads[b]) << "input " << b;
  }
}

INSTANTIATE_TEST_SUITE_P(All, CachedOpFlagsTest,
                         testing::Values("none", "static", "bulk", "inline"));

TEST(CachedOp, CompilesOnceForEachCombinationOfTypes) {
  Case c;
  invoke(c.op, c.inputs);
  invoke(c.op, c.inputs);
  EXPECT_EQ(c.op.num_plans(), 1);
  c.inputs[0] = random_array({5, 8}, c.mlp.random);
  const NDArray out = invoke(c.op, c.inputs)[0];
  EXPECT_EQ(c.op.num_plans(), 2);
  EXPECT_EQ(out.shape(), (Shape{5, 8}));
  EXPECT_EQ(values_of(out), run_eagerly(c.mlp.graph, c.inputs, false).outputs[0]);
}

TEST(CachedOp, ResultsOfEarlierCallsKeepTheirValues) {
  Case c(flags({{"static_alloc", "1"}, {"static_shape", "1"}}));
  const NDArray first = invoke(c.op, c.inputs)[0];
  const Values before = values_of(first);
  c.inputs[0] = random_array({3, 8}, c.mlp.random);
  invoke(c.op, c.inputs);
  EXPECT_EQ(values_of(first), before);
}

TEST(CachedOp, TwoRecordedCallsKeepTheirOwnActivations) {
  Case c;
  NDArray buffer = attach_grad(c.inputs[1], Request::kAdd);
  const EagerResults eager = run_eagerly(c.mlp.graph, c.inputs);
  c.inputs[1].set_tape({});
  buffer = attach_grad(c.inputs[1], Request::kAdd);
  NDArray sum;
  {
    const Recording recording;
    NDArray a = invoke(c.op, c.inputs)[0], b = invoke(c.op, c.inputs)[0];
    sum = call("elemwise_add", {&a, &b});
  }
  backward_from(sum);
  Values twice = eager.grads[1];
  for (float& value : twice) value *= 2;
  EXPECT_EQ(values_of(buffer), twice);
}

TEST(CachedOp, GradientsAreComputedIntoTheirBuffers) {
  constexpr int kWidth = 512;
  Mlp mlp(1, 2, kWidth, kSeed);
  std::vector<NDArray> inputs = mlp.arrays();
  CachedOp op(mlp.graph, {});
  for (NDArray& input : inputs) attach_grad(input);
  const auto record = [&] {
    const Recording recording;
    return invoke(op, inputs)[0];
  };
  NDArray first = record();
  backward_from(first);
  NDArray second = record();
  Engine::get().wait_for_all();
  const auto in_use = [] { return Storage::get().stats(Device::cpu()).in_use; };
  const auto before = in_use();
  Storage::get().reset_peak(Device::cpu());
  backward_from(second);
  Engine::get().wait_for_all();
  EXPECT_LT(Storage::get().stats(Device::cpu()).peak_in_use - before,
            kWidth * kWidth * sizeof(float));
}

// Rows of a network whose activations are large, and what is in use for its calls.
class ManyShapes : public testing::Test {
 protected:
  static constexpr int kRows = 1 << 13, kWidth = 64, kShapes = 24;
  static constexpr std::size_t kLayer = std::size_t{kRows} * kWidth * sizeof(float);

  void call(int rows, bool recorded) {
    inputs_[0] = all_.slice(0, rows);
    if (!recorded) {
      invoke(op_, inputs_);
      return;
    }
    NDArray out;
    {
      const Recording recording;
      out = invoke(op_, inputs_)[0];
    }
    backward_from(out);
  }
  // Each shape twice, the second time after all others.
  void call_all(bool recorded) {
    for (int i = 0; i < 2 * kShapes; ++i) call(kRows - i % kShapes, recorded);
  }
  static std::size_t in_use() {
    Engine::get().wait_for_all();
    return Storage::get().stats(Device::cpu()).in_use;
  }

  Mlp mlp_{4, kRows, kWidth, kSeed};
  std::vector<NDArray> inputs_ = mlp_.arrays();
  const NDArray all_ = inputs_[0];
  CachedOp op_{mlp_.graph, {}};
  const std::size_t before_ = in_use();
};

TEST_F(ManyShapes, LieInOneArena) {
  call(kRows, false);
  const std::size_t one = in_use();
  EXPECT_GT(one, before_ + kLayer);
  call_all(false);
  EXPECT_EQ(op_.num_plans(), kShapes);
  EXPECT_LT(in_use() - one, kLayer);
}

TEST_F(ManyShapes, LieInOneArenaForGradientsToo) {
  attach_grad(inputs_[1]);
  call(kRows, true);
  const std::size_t one = in_use();
  call_all(true);
  EXPECT_EQ(op_.num_plans(), kShapes);
  EXPECT_LT(in_use() - one, kLayer);
}

TEST_F(ManyShapes, GrowingOnesLeaveNothingSmallerBehind) {
  for (int i = 1; i < kShapes; ++i) call(kRows - kShapes + i, false);
  const std::size_t most = in_use();
  call(kRows, false);
  EXPECT_LT(in_use() - most, kLayer);
}

// The largest of a network's shapes need not come again.
TEST_F(ManyShapes, TheArenaIsAsLargeAsThoseMetLatelyNeed) {
  const Values expected = values_of(invoke(op_, inputs_)[0]);
  const std::size_t one = in_use();
  const auto meet_small_ones = [&](int first, int last) {
    for (int i = first; i < last; ++i) call(kRows / 8 - i, false);
  };
  meet_small_ones(0, 6);
  call(kRows, false);
  meet_small_ones(6, 12);
  EXPECT_GE(in_use(), one) << "it came between";
  meet_small_ones(12, 24);
  EXPECT_LT(in_use(), one - kLayer / 2);
  inputs_[0] = all_;
  EXPECT_EQ(values_of(invoke(op_, inputs_)[0]), expected);
}

TEST_F(ManyShapes, LieInOneArenaWhereEachCallHasAThread) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();  // by threads of its own a thread's call shares out its work
  call(kRows, false);
  const std::size_t one = in_use();
  for (int i = 0; i < 8; ++i) std::thread([this, i] { call(kRows - i, false); }).join();
  EXPECT_LT(in_use() - one, one - before_ + kLayer);
}

TEST_F(ManyShapes, CallsThatKeepTheirActivationsLieInOthers) {
  for (int round = 0; round < 4; ++round) {
    const int rows[] = {3 + round % 2, 4 - round % 2};
    Values expected[2];
    for (int k : {0, 1}) {
      inputs_[0] = all_.slice(0, rows[k]);
      expected[k] = run_eagerly(mlp_.graph, inputs_).grads[1];
    }
    inputs_[1].set_tape({});
    const NDArray buffer = attach_grad(inputs_[1]);
    NDArray outs[2];
    for (int k : {0, 1}) {
      inputs_[0] = all_.slice(0, rows[k]);
      const Recording recording;
      outs[k] = invoke(op_, inputs_)[0];
    }
    for (int k : {1, 0}) {
      backward_from(outs[k]);
      EXPECT_EQ(values_of(buffer), expected[k]);
    }
  }
}

// Whoever meets many small shapes after a large one keeps no memory for that.
TEST(CachedOp, AnArenaThatIsMuchTooLargeGoes) {
  constexpr int kRows = 1 << 22, kWidth = 8;
  Mlp mlp(4, 1, kWidth, kSeed);
  std::vector<NDArray> inputs = mlp.arrays();
  const NDArray all({kRows, kWidth}, DType::kFloat32, Device::cpu(), "rows");
  inputs[0] = all;
  std::fill_n(inputs[0].data_as<float>(), inputs[0].shape().size(), 0.0f);
  CachedOp op(mlp.graph, {});
  const auto in_use = [] {
    Engine::get().wait_for_all();
    return Storage::get().stats(Device::cpu()).in_use;
  };
  const std::size_t before = in_use();
  invoke(op, inputs);
  EXPECT_GT(in_use() - before, std::size_t{128} << 20);
  inputs[0] = all.slice(0, 8);
  invoke(op, inputs);
  EXPECT_LT(in_use() - before, std::size_t{1} << 20);
}

// In the arena that both calls lie in, whatever their shapes.
TEST(CachedOp, ACallThatFailsLaterSaysNothingOfThoseBehindIt) {
  // Never the last to go: the thread sanitizer does not see how the library of C++ counts who holds
  // it.
  static const std::exception_ptr late =
      std::make_exception_ptr(Error(ErrorCode::kValue, "test", "late"));
  Case c;
  const NDArray all = c.inputs[0];
  for (const int rows : {3, 2}) {
    c.inputs[0] = all.slice(0, rows);
    const Values expected = values_of(invoke(c.op, c.inputs)[0]);
    const NDArray good = c.inputs[0];
    c.inputs[0] = array_of(values_of(all), all.shape());
    std::promise<OnComplete> begun;
    const std::array<Var*, 1> writes{c.inputs[0].var()};
    Engine::get().push_async(
        [&](const RunContext&, OnComplete complete) { begun.set_value(complete); },
        {.device = Device::cpu(), .reads = {}, .writes = writes, .name = "late"});
    const OnComplete complete = begun.get_future().get();
    const NDArray failed = invoke(c.op, c.inputs)[0];
    c.inputs[0] = good;
    const NDArray behind = invoke(c.op, c.inputs)[0];
    complete.fail(late);
    EXPECT_TRUE(contains(error_of([&] { values_of(failed); }), "late"));
    EXPECT_EQ(values_of(behind), expected) << rows;
  }
}

// What reads a buffer still needs its values, and two gradients cannot lie in one place.
TEST(CachedOp, BuffersThatAreReadOrSharedTakeTheirGradientsAfterwards) {
  Case c;
  const EagerResults eager = run_eagerly(c.mlp.graph, c.inputs);
  NDArray read = c.inputs[1];  // of a weight, as the place for its own gradient
  NDArray shared(c.inputs[3].shape(), c.inputs[3].dtype(), Device::cpu());
  mark_variable(c.inputs[1], Request::kWrite, read);
  mark_variable(c.inputs[3], Request::kWrite, shared);
  mark_variable(c.inputs[5], Request::kAdd, shared);
  NDArray out;
  {
    const Recording recording;
    out = invoke(c.op, c.inputs)[0];
  }
  backward_from(out);
  EXPECT_EQ(values_of(read), eager.grads[1]);
  Values sum = eager.grads[3];
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += eager.grads[5][i];
  EXPECT_EQ(values_of(shared), sum);
}

TEST(CachedOp, RetainedGraphsCanBeDifferentiatedAgain) {
  Case c;
  const EagerResults eager = run_eagerly(c.mlp.graph, c.inputs);
  NDArray buffer = attach_grad(c.inputs[1]);
  NDArray out;
  {
    const Recording recording;
    out = invoke(c.op, c.inputs)[0];
  }
  for (int i = 0; i < 3; ++i) {
    backward_from(out, {.retain_graph = true});
    EXPECT_EQ(values_of(buffer), eager.grads[1]);
  }
}

TEST(CachedOp, GradientsOfGradients) {
  // y = x^3 by products; y'' = 6 x.
  const Value x = variable("x");
  CachedOp op(graph_of({x * x * x + 0.0}), {});
  std::vector<NDArray> inputs{array_of({2, -3})};
  NDArray buffer = attach_grad(inputs[0]);
  NDArray first;
  {
    const Recording recording;
    const NDArray y = invoke(op, inputs)[0];
    const NDArray *heads[] = {&y}, *variables[] = {&inputs[0]};
    first = gradients(heads, {}, variables, {.retain_graph = true, .create_graph = true})[0];
  }
  EXPECT_EQ(values_of(first), (Values{12, 27}));
  backward_from(first);
  EXPECT_EQ(values_of(buffer), (Values{12, -18}));
}

TEST(CachedOp, GivenOutputsAreWritten) {
  Case c;
  const EagerResults eager = run_eagerly(c.mlp.graph, c.inputs, false);
  NDArray out = array_of(Values(24), {3, 8});
  const NDArray same = out;
  std::vector<NDArray*> in;
  for (NDArray& input : c.inputs) in.push_back(&input);
  c.op.invoke(in, std::array<NDArray*, 1>{&out}, Device::cpu());
  EXPECT_EQ(values_of(same), eager.outputs[0]);
  // An input may be the output, too.
  c.op.invoke(in, std::array<NDArray*, 1>{&c.inputs[0]}, Device::cpu());
  EXPECT_EQ(values_of(c.inputs[0]), eager.outputs[0]);
}

TEST(CachedOp, ShapesThatFollowFromValues) {
  const Value data = variable("data"), index = variable("index");
  CachedOp op(graph_of({apply("_contrib_boolean_mask", {data, index}) * 2.0}), {});
  std::vector<NDArray> inputs{array_of({1, 2, 3}), array_of({0, 1, 1})};
  NDArray buffer = attach_grad(inputs[0]);
  NDArray out;
  {
    const Recording recording;
    out = invoke(op, inputs)[0];
  }
  EXPECT_EQ(values_of(out), (Values{4, 6}));
  backward_from(out);
  EXPECT_EQ(values_of(buffer), (Values{0, 2, 2}));
}

TEST(CachedOp, HookSeesEveryOperator) {
  Case c;
  std::vector<std::string> seen;
  c.op.set_hook([&](const std::string& name, const std::string& op,
                    const NDArray&) { seen.push_back(name + " " + op); },
                false);
  const NDArray out = invoke(c.op, c.inputs)[0];
  EXPECT_EQ(seen.size(), 11u);
  EXPECT_EQ(seen.front(), "fc0_output dot");
  EXPECT_EQ(values_of(out), run_eagerly(c.mlp.graph, c.inputs, false).outputs[0]);
}

TEST(CachedOp, UnknownFlagsAreErrors) {
  EXPECT_TRUE(contains(error_of([] { flags({{"static_allok", "1"}}); }), "static_alloc"));
  EXPECT_TRUE(contains(error_of([] { flags({{"inline_limit", "x"}}); }), "inline_limit"));
  EXPECT_TRUE(contains(error_of([] { flags({{"static_shape", "1"}}); }), "static_alloc"));
}

TEST(CachedOp, ResultsAreWhereTheInputsAre) {
  Case c;
  for (NDArray& input : c.inputs) input = input.copy(Device::cpu(3));
  EXPECT_EQ(invoke(c.op, c.inputs)[0].device(), Device::cpu(3));
  NDArray buffer = attach_grad(c.inputs[1]);
  {
    const Recording recording;
    NDArray out = invoke(c.op, c.inputs)[0];
    EXPECT_EQ(out.device(), Device::cpu(3));
    const NDArray *heads[] = {&out}, *variables[] = {&c.inputs[1]};
    EXPECT_EQ(gradients(heads, {}, variables, {})[0].device(), Device::cpu(3));
  }
  EXPECT_EQ(c.op.num_plans(), 2);  // CPUs share them
}

}  // namespace
}  // namespace mxnet
