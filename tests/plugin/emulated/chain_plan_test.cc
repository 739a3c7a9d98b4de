// SPDX-License-Identifier: Apache-2.0
// Chains of pointwise operators in plans for a GPU.
#include <gtest/gtest.h>

#include "exec/cached_op.h"
#include "exec/plan.h"
#include "op/fused/pointwise.h"
#include "op/run/gpu.h"
#include "tests/exec/arrays.h"
#include "tests/graph/graphs.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

TEST(GpuChains, PlansFuseAndThePluginRunsThem) {
  const KernelEntry* kernel = gpu_kernel(Registry::get().at(PointwiseChain::kName));
  ASSERT_NE(kernel, nullptr);
  EXPECT_STREQ(kernel->name, "cuda");
  EXPECT_TRUE(PlanOptions::configured(kGpu, false).fuse_pointwise);

  // A value that is read twice, a number, and an operator that runs on the host only.
  const Value x = variable("x"), e = apply("exp", {x});
  const Value chain = apply("tanh", {e * 0.5}) + apply("square", {e});
  const ir::Graph graph = graph_of({apply("smooth_l1", {apply("sqrt", {chain})})});
  const auto run = [&](Device device) {
    CachedOp op(graph, CachedOpFlags::parse({}));
    NDArray in = array_of({-1, 0, 0.5f, 2, 3}, {}, device), out;
    NDArray* const inputs[] = {&in};
    NDArray* const outputs[] = {&out};
    op.invoke(inputs, outputs, device);
    return values_of(out);
  };
  const Values expected = run(Device::cpu()), result = run(kGpu);
  ASSERT_EQ(result.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(result[i], expected[i], 1e-5 * (1 + std::fabs(expected[i]))) << i;
}

}  // namespace
}  // namespace mxnet
