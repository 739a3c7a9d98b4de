// SPDX-License-Identifier: Apache-2.0
// What a kernel of a plan learns of its outputs: which of them anybody reads.
#include <gtest/gtest.h>

#include "exec/plan_fixture.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

constexpr int kOutputs = 4;
bool g_read[kOutputs];

// Four copies of the input.
struct NoNumbers {};
void make_copies(const NoNumbers&, KernelContext& context) {
  for (int o = 0; o < kOutputs; ++o) {
    g_read[o] = context.is_read(o);
    std::copy_n(context.in(0).as<float>(), context.in(0).size(), context.out(o).as<float>());
  }
}
[[maybe_unused]] const OpBuilder<NoNumbers> defined =
    OpBuilder<NoNumbers>("_test_copies")
        .doc("Four copies.")
        .input("data", "An array.")
        .outputs([](const NoNumbers&) { return kOutputs; })
        .infer([](const NoNumbers&, Infer& infer) {
          for (int o = 0; o < kOutputs; ++o) infer.out(o).same_as(infer.in(0));
        })
        .cpu(make_copies);

TEST(PlanReads, AStepOrTheCallerReadsAValueAndWhoeverOnlyAsksForItsShapeDoesNot) {
  const Value x = variable("x"), copies = apply("_test_copies", {x});
  const auto output = [&](int o) { return Value{ir::Entry{copies.entry().node, o, 0}}; };
  const ir::Graph graph =
      graph_of({apply("tanh", {output(1)}), output(2), apply("broadcast_like", {x, output(3)})});
  Executor executor(graph, Device::cpu(), bind_arrays({array_of({1, 2})}));
  executor.forward(false);
  EXPECT_EQ(values_of(executor.outputs()[1]), (Values{1, 2}));
  EXPECT_FALSE(g_read[0]) << "nobody's";
  EXPECT_TRUE(g_read[1]) << "a step's";
  EXPECT_TRUE(g_read[2]) << "the caller's";
  EXPECT_FALSE(g_read[3]) << "only its shape is asked for";
}

}  // namespace
}  // namespace mxnet
