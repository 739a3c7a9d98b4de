// SPDX-License-Identifier: Apache-2.0
// Plans whose layers are packed and laid out: fully connected layers, training in channel blocks,
// bfloat16.
#include <gtest/gtest.h>

#include "exec/network_fixture.h"
#include "op/fused/conv.h"
#include "op/fused/weight_rows.h"
#include "op/nn/winograd.h"
#include "op/onednn/instructions.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

Value dense(Network& net, const std::string& name, const Value& x, int64_t from, int64_t to,
            bool bias = true) {
  std::vector<Value> inputs{x, net.input(name + "_weight", {to, from})};
  if (bias) inputs.push_back(net.input(name + "_bias", {to}));
  return named(name,
               apply("FullyConnected", inputs,
                     {{"num_hidden", std::to_string(to)}, {"no_bias", bias ? "False" : "True"}}));
}

// --- fully connected layers ----------------------------------------------------------------------

TEST(FusedDense, ALayerTakesOverItsSumAndActivation) {
  Network net({16, 128});
  const Value a = relu(dense(net, "a", net.data(), 128, 128));
  const Value b = relu(sum(dense(net, "b", a, 128, 128, false), net.data()));
  const Network::Result result = net.check(dense(net, "c", b, 128, 96));
  EXPECT_EQ(result.steps("(_sg_onednn_dense)"), 2) << result.plan;
  EXPECT_EQ(result.steps("(_sg_onednn_dense_add)"), 1) << result.plan;
  EXPECT_EQ(result.steps(), 3) << result.plan;
}

TEST(FusedDense, WhatOthersReadIsNotFusedAway) {
  Network net({16, 128});
  const Value a = dense(net, "a", net.data(), 128, 128);
  const Network::Result result = net.check(sum(apply("sigmoid", {a}), a * 2.0));
  EXPECT_EQ(result.steps("(_sg_onednn_dense)"), 1) << result.plan;
}

TEST(FusedDense, LayersTooSmallToGainStayAsTheyAre) {
  Network net({8, 8});
  EXPECT_EQ(net.check(relu(dense(net, "a", net.data(), 8, 8))).steps("_sg_onednn"), 0);
}

TEST(FusedDense, LongRowsAreLeftToBlasOnAvx2) {
  const bool only_avx2 = WinogradConv::best_isa() == WinogradConv::Isa::kAvx2;
  for (const auto& [rows, depth, left] :
       {std::tuple{32, 4096, true}, {64, 3072, true}, {64, 2048, false}, {8, 16384, false}}) {
    Network net({rows, depth});
    const Network::Result result = net.check(relu(dense(net, "a", net.data(), depth, 16)));
    EXPECT_EQ(result.steps("(_sg_onednn_dense)"), only_avx2 && left ? 0 : 1) << result.plan;
  }
}

TEST(FusedDense, AFewRowsTakeOverWhatFollowsOnPlainWeights) {
  Network net({3, 1032});
  const Value a = relu(dense(net, "a", net.data(), 1032, 1032));
  const Value b = relu(sum(dense(net, "b", a, 1032, 1032, false), net.data()));
  const Network::Result result = net.check(dense(net, "c", b, 1032, 1037));
  EXPECT_EQ(result.steps("[few_rows]"), 3) << result.plan;
  EXPECT_EQ(result.steps(), 3) << result.plan;
}

TEST(FusedDense, ImagesAreFlattenedAfterConvolutions) {
  Network net({4, 16, 6, 6});
  const Value x = relu(net.conv("c", net.data(), 16, 32));
  const Network::Result result = net.check(dense(net, "fc", x, 32 * 36, 64));
  EXPECT_EQ(result.steps("(_sg_onednn_dense)"), 1) << result.plan;
}

TEST(FusedDense, ChangedWeightsAreSeenAtTheNextRun) {
  Network net({16, 128});
  const Value output = dense(net, "a", net.data(), 128, 128);
  Executor executor = net.bind(graph_of({output}));
  executor.forward(false);
  NDArray& weight = net.array("a_weight");
  array_of(Values(128 * 128, 0.0F), weight.shape()).copy_to(weight);
  executor.forward(false);
  const Values bias = values_of(net.array("a_bias")), now = values_of(executor.outputs()[0]);
  for (std::size_t i = 0; i < now.size(); ++i) EXPECT_EQ(now[i], bias[i % 128]);
}

TEST(FusedDenseConfig, EachRowSwitchesItsFusionOff) {
  Network net({16, 128});
  const Value output = relu(sum(dense(net, "a", net.data(), 128, 128), net.data()));
  const auto result = [&](const char* row) {
    const Setting off(row, "1");
    return net.check(output);
  };
  EXPECT_EQ(net.check(output).steps(), 1);
  EXPECT_EQ(result("MXNET_DISABLE_ONEDNN_FC_OPT").steps("_sg_onednn_dense"), 0);
  EXPECT_EQ(result("MXNET_DISABLE_ONEDNN_FC_SUM").steps("_sg_onednn_dense_add"), 0);
  const Network::Result apart = result("MXNET_DISABLE_ONEDNN_FUSE_FC_ELTWISE");
  EXPECT_EQ(apart.steps("_sg_onednn_dense_add"), 1) << apart.plan;
  EXPECT_EQ(apart.steps("(Activation)"), 1) << apart.plan;
}

// Nobody tells a plan that the weights' memory was written behind its back: what is packed once
// stays, what is packed at each run follows.
TEST(FusedDenseConfig, WithoutACacheWeightsArePackedAtEachRun) {
  const auto follows = [](const char* disabled) {
    const Setting row("MXNET_ONEDNN_DISABLE_FC_CACHE", disabled);
    Network net({1024, 64});
    Executor executor = net.bind(graph_of({dense(net, "a", net.data(), 64, 64, false)}));
    executor.forward(false);
    const Values before = values_of(executor.outputs()[0]);
    std::fill_n(static_cast<float*>(net.array("a_weight").data()), 64 * 64, 0.0F);
    executor.forward(false);
    return values_of(executor.outputs()[0]) != before;
  };
  EXPECT_FALSE(follows("0"));
  EXPECT_TRUE(follows("1"));
}

// --- training ------------------------------------------------------------------------------------

TEST(LaidOutTraining, ImagesStayInBlocksOnTheWayBack) {
  Network net({2, 3, 12, 12});
  const Value x = relu(net.batch_norm("bn0", net.conv("c0", net.data(), 3, 32), 32));
  const Value a = relu(net.batch_norm("bn1", net.conv("c1", x, 32, 32, 1), 32, "True"));
  const Value b = net.batch_norm("bn2", net.conv("c2", a, 32, 32, 1), 32);
  const std::string plan = net.check_training(relu(sum(b, x)));
  EXPECT_EQ(count(plan, "(_backward_contrib_BatchNormWithReLU) [onednn]"), 2) << plan;
  EXPECT_EQ(count(plan, "(_backward_BatchNorm) [onednn]"), 1) << plan;
  EXPECT_EQ(count(plan, "(Convolution) [plain]"), 0) << plan;
  // Weights both ways, and the network's input and output: no image in between.
  EXPECT_EQ(count(plan, "relu_reorder"), 0) << plan;
}

// The steps of a plan are those of each run: how often a training step lays a weight out is how
// often its plan names it.
TEST(LaidOutTraining, AWeightIsLaidOutOnceForEachDirectionThatWantsIt) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  if (!WinogradConv::has(WinogradConv::Isa::kAvx2)) GTEST_SKIP() << "needs AVX2";
  Network net({4, 32, 24, 24});
  const Value shared = net.input("shared_weight", {32, 32, 1, 1});
  const auto with_shared = [&](const char* name, const Value& x) {
    const Attrs attrs{{"kernel", "(1,1)"}, {"num_filter", "32"}, {"no_bias", "True"}};
    return named(name, apply("Convolution", {x, shared}, attrs));
  };
  Value x = net.conv("first", net.data(), 32, 32, 1);
  x = relu(net.conv("winograd", x, 32, 32, 3));
  x = with_shared("twice", relu(with_shared("once", x)));
  const std::string plan = net.check_training(net.conv("last", x, 32, 64, 1));
  // Forward wants vectors of filters, the gradient of the image vectors of its channels.
  for (const char* weight : {"first", "shared", "last"})
    EXPECT_EQ(count(plan, "  " + std::string(weight) + "_weight_reorder("), 2) << weight << plan;
  // What the users of one weight send back is added up before it is laid out.
  for (const char* gradient : {"first_backward", "shared_weight_grad_sum", "last_backward"})
    EXPECT_EQ(count(plan, std::string(gradient) + "_reorder(_sg_onednn_reorder) [squares]"), 1)
        << gradient << plan;
  // Winograd's method reads and writes weights as they are.
  EXPECT_EQ(count(plan, "  winograd_weight_reorder("), 0) << plan;
  EXPECT_EQ(count(plan, "[squares]"), 3) << plan;
}

TEST(LaidOutTraining, GradientsOfWeightsComeBackByOneLoop) {
  if (weight_square() == 0) GTEST_SKIP() << "needs AVX2";
  for (const int kernel : {1, 3}) {
    SCOPED_TRACE(kernel);
    const Setting direct("MXNET_ONEDNN_WINOGRAD", "off");
    Network net({2, 32, 7, 9});
    const std::string plan = net.check_training(net.conv("c", net.data(), 32, 48, kernel));
    EXPECT_EQ(count(plan, "c_backward_reorder(_sg_onednn_reorder) [squares]"), 1) << plan;
  }
}

TEST(LaidOutTraining, OddChannelsGroupsPoolingAndJoinsAgree) {
  Network net({2, 16, 12, 12});
  const Value odd = relu(net.conv("odd", net.data(), 16, 19));
  const Value depthwise = net.conv("dw", net.conv("c", odd, 19, 32), 32, 32, 3, false, 32);
  const Value pool = apply("Pooling", {depthwise}, {{"kernel", "(2,2)"}, {"stride", "(2,2)"}});
  const Value joined = apply("Concat", {pool, relu(net.conv("d", pool, 32, 16, 1))},
                             {{"num_args", "2"}, {"dim", "1"}});
  net.check_training(net.conv("e", joined, 48, 16));
}

// --- pooling, on the way back --------------------------------------------------------------------

struct PoolCase {
  const char* what;
  int64_t channels;
  Attrs attrs;
};
void PrintTo(const PoolCase& pool, std::ostream* to) { *to << pool.what; }

class LaidOutPooling : public testing::TestWithParam<PoolCase> {};

// Activations before it make equal numbers (zeros) in most windows.
TEST_P(LaidOutPooling, GradientsStayInBlocks) {
  Network net({2, 16, 13, 11});
  const PoolCase& pool = GetParam();
  const Value x = relu(net.conv("c0", net.data(), 16, pool.channels));
  const Value y = net.conv("c1", apply("Pooling", {x}, pool.attrs), pool.channels, 16, 1);
  const std::string plan = net.check_training(y);
  if (pool.channels % 16 == 0) {
    EXPECT_EQ(count(plan, "(_backward_Pooling_max) [plain]"), 0) << plan;
    EXPECT_EQ(count(plan, "(_backward_Pooling_sum) [plain]"), 0) << plan;
    EXPECT_EQ(count(plan, "(_sg_onednn_reorder) [onednn] (2,32,13,11)"), 0) << plan;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, LaidOutPooling,
    testing::Values(
        PoolCase{"pairs", 32, {{"kernel", "(2,2)"}, {"stride", "(2,2)"}}},
        PoolCase{"lines that no window sees", 32, {{"kernel", "(2,3)"}, {"stride", "(4,5)"}}},
        PoolCase{"windows that overlap, with padding",
                 32,
                 {{"kernel", "(3,3)"}, {"stride", "(2,2)"}, {"pad", "(1,1)"}}},
        PoolCase{"windows beyond the edge",
                 32,
                 {{"kernel", "(3,2)"}, {"stride", "(2,3)"}, {"pooling_convention", "full"}}},
        PoolCase{"channels that do not fill a block",
                 24,
                 {{"kernel", "(3,3)"}, {"stride", "(1,2)"}, {"pad", "(1,1)"}}},
        PoolCase{"the whole image", 32, {{"global_pool", "True"}, {"kernel", "(1,1)"}}},
        PoolCase{
            "averages",
            32,
            {{"kernel", "(3,3)"}, {"stride", "(2,2)"}, {"pad", "(1,1)"}, {"pool_type", "avg"}}},
        PoolCase{"averages of pixels only",
                 32,
                 {{"kernel", "(3,3)"},
                  {"pad", "(1,1)"},
                  {"pool_type", "avg"},
                  {"count_include_pad", "False"}}},
        PoolCase{"the average of all", 32, {{"global_pool", "True"}, {"pool_type", "avg"}}}));

// Convolutions, normalised, with a pooling layer after every second one.
Value pooled_stack(Network& net, int layers) {
  Value x = net.data();
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    x = relu(net.batch_norm("bn" + n, net.conv("c" + n, x, 32, 32), 32));
    if (i % 2 == 1)
      x = apply("Pooling", {x}, {{"kernel", "(2,2)"}, {"stride", "(2,2)"}, {"pool_type", "max"}});
  }
  return x;
}

int64_t arena_bytes_in(const std::string& plan) {
  return std::stoll(plan.substr(plan.find("planned bytes: ") + 15));
}

TEST(LaidOutTraining, WhatIsComputedAgainLiesInBlocksToo) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  Network net({2, 32, 16, 16});
  const Value y = pooled_stack(net, 4);
  const int64_t before = arena_bytes_in(net.check_training(y));
  const Setting mirror("MXNET_BACKWARD_DO_MIRROR", "1");
  const std::string plan = net.check_training(y);
  EXPECT_GT(count(plan, "_mirror("), 0) << plan;
  EXPECT_GT(count(plan, "weight_reorder"), 0) << plan;
  EXPECT_LE(arena_bytes_in(plan), before);
}

TEST(LaidOutTraining, BudgetsOfAnySizeAgreeWithPlainRows) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  Network net({4, 32, 32, 32});
  const Value y = pooled_stack(net, 6);
  const int64_t before = arena_bytes_in(net.check_training(y));
  int laid_out = 0;
  for (int64_t tenths = 9; tenths > 1; tenths -= 2) {
    const Setting budget("MXNET_BACKWARD_MIRROR_BUDGET", std::to_string(before * tenths / 10));
    const std::string plan = net.check_training(y);
    EXPECT_LE(arena_bytes_in(plan), before) << tenths;
    laid_out += count(plan, "_mirror(") > 0 && count(plan, "weight_reorder") > 0;
  }
  EXPECT_GT(laid_out, 0);
}

TEST(LaidOutTraining, NormalisationOfImagesInBlocksIsTheSameWhenStatisticsAreGiven) {
  Network net({2, 16, 8, 8});
  const Value conv = net.conv("c", net.data(), 16, 32);
  const Value normed = apply("BatchNorm",
                             {conv, net.input("g", {32}), net.input("b", {32}),
                              net.input("m", {32}), net.input("v", {32}, 0.5)},
                             {{"use_global_stats", "True"}, {"fix_gamma", "False"}});
  net.check_training(relu(normed));
  const Value with_relu = apply("_contrib_BatchNormWithReLU",
                                {conv, net.input("g2", {32}), net.input("b2", {32}),
                                 net.input("m2", {32}), net.input("v2", {32}, 0.5)},
                                {{"fix_gamma", "False"}});
  net.check_training(with_relu);
  net.check(with_relu);
}

// --- bfloat16 ------------------------------------------------------------------------------------

// ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 makes CPUs with matrix units plan as those without.
bool in_tiles() { return onednn::multiplies_bfloat16_in_tiles(); }

TEST(BFloat16Plan, TheRowMakesLayersComputeInIt) {
  Network net({1, 3, 12, 12});
  Value x = relu(net.batch_norm("bn0", net.conv("c0", net.data(), 3, 32), 32));
  const Value pool = apply("Pooling", {x}, {{"kernel", "(2,2)"}, {"stride", "(2,2)"}});
  const Value joined =
      apply("Concat", {relu(net.conv("a", pool, 32, 32)), pool}, {{"num_args", "2"}, {"dim", "1"}});
  const Value y = relu(sum(net.conv("b", joined, 64, 64), joined));
  const Value output = apply("Pooling", {y}, {{"global_pool", "True"}, {"pool_type", "avg"}});
  const Values exact = net.run(output).values;
  const Setting narrow("MXNET_ONEDNN_BFLOAT16", "1");
  const Network::Result result = net.run(output);
  Network::expect_near(result.values, exact, 0.02);
  if (!__builtin_cpu_supports("avx512bf16")) {
    EXPECT_EQ(result.values, exact) << "CPUs without the instructions compute in float32";
    return;
  }
  EXPECT_NE(result.values, exact);
  EXPECT_EQ(result.steps("[winograd]"), 0) << result.plan;
}

TEST(BFloat16Plan, WinogradLayersBetweenReadAndWriteIt) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  Network net({2, 32, 16, 16});
  Value x = net.data();
  for (const char* block : {"a", "b"}) {
    const std::string name = block;
    const Value narrow = relu(net.conv(name + "0", x, 32, 32, 1));
    const Value wide = relu(net.conv(name + "1", narrow, 32, 32));
    x = relu(sum(net.conv(name + "2", wide, 32, 32, 1), x));
  }
  const Network::Result exact = net.run(x);
  const Setting narrow("MXNET_ONEDNN_BFLOAT16", "1");
  const Network::Result result = net.run(x);
  Network::expect_near(result.values, exact.values, 0.02);
  EXPECT_EQ(result.steps("[winograd]"), in_tiles() ? 0 : exact.steps("[winograd]")) << result.plan;
  if (__builtin_cpu_supports("avx512bf16")) {
    EXPECT_NE(result.values, exact.values);
    EXPECT_EQ(result.steps("_reorder("), 2)
        << "the network's input and its output: " << result.plan;
  }
}

TEST(BFloat16Plan, FewTilesComputeDirectlyInIt) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  if (!__builtin_cpu_supports("avx512bf16")) GTEST_SKIP() << "needs AVX512_BF16";
  const auto plan = [](int64_t size, int64_t batch) {
    Network net({batch, 32, size, size});
    return net.run(relu(net.conv("c", net.data(), 32, 32)));
  };
  EXPECT_EQ(plan(8, 1).steps("[winograd]"), 1) << "16 small tiles are enough against float32";
  const Setting narrow("MXNET_ONEDNN_BFLOAT16", "1");
  const int chosen = in_tiles() ? 0 : 1;
  EXPECT_EQ(plan(8, 1).steps("[winograd]"), chosen) << "with products of bfloat16 here too";
  EXPECT_EQ(plan(6, 1).steps("[winograd]"), 0);
  EXPECT_EQ(plan(6, 2).steps("[winograd]"), chosen) << "18 tiles";
}

TEST(BFloat16Plan, ChannelsLieBehindForMatrixUnits) {
  if (!in_tiles()) GTEST_SKIP() << "needs AMX";
  const Shape image{2, 32, 24, 24}, weight{20, 32, 3, 3}, map{2, 20, 24, 24};
  const auto array = [](const Shape& shape) { return Tensor{nullptr, &shape, DType::kFloat32}; };
  const Tensor in[] = {array(image), array(weight)}, out[] = {array(map)};
  FusedConvParams params{};
  params.conv.stride = params.conv.dilate = params.conv.pad = {1, 1};
  params.conv.kernel = {3, 3};
  params.conv.num_filter = 20;
  params.conv.num_group = 1;
  params.conv.no_bias = true;
  const Setting narrow("MXNET_ONEDNN_BFLOAT16", "1");
  const LayoutRef plain[2];
  const auto kernel = prepare_fused_conv(Registry::get().at(FusedConvParams::kWithoutSum), &params,
                                         {in, out, false}, plain);
  ASSERT_NE(kernel, nullptr);
  ASSERT_NE(kernel->out()[0], nullptr);
  EXPECT_EQ(kernel->out()[0]->bytes(), 2 * map.size()) << "blocks would fill up to 32 channels";
}

TEST(BFloat16Plan, NothingMovesBetweenLayersForMatrixUnits) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  if (!in_tiles()) GTEST_SKIP() << "needs AMX";
  Network net({2, 3, 24, 24});
  Value x = relu(net.conv("first", net.data(), 3, 32));
  x = apply("Pooling", {x}, {{"kernel", "(2,2)"}, {"stride", "(2,2)"}});
  x = apply("Concat", {relu(net.conv("a", x, 32, 48)), x}, {{"num_args", "2"}, {"dim", "1"}});
  x = relu(sum(net.conv("b", x, 80, 80, 1), x));
  x = relu(net.conv("c", x, 80, 20));
  const Setting narrow("MXNET_ONEDNN_BFLOAT16", "1");
  const Network::Result result = net.run(x);
  EXPECT_EQ(result.steps("_reorder("), 2) << "the network's input and its output: " << result.plan;
}

// Two dense layers, the first one's weight too large for caches.
Network::Result dense_layers(int64_t rows, int64_t units = 1100) {
  Network net({rows, 16, 8, 8});
  const std::string hidden = std::to_string(units);
  Value x = apply("FullyConnected",
                  {net.data(), net.input("w0", {units, 1024}), net.input("b0", {units})},
                  {{"num_hidden", hidden}});
  x = apply("FullyConnected", {relu(x), net.input("w1", {units, units})},
            {{"num_hidden", hidden}, {"no_bias", "True"}});
  return net.run(x);
}

TEST(BFloat16Plan, DenseLayersMultiplyInIt) {
  if (!__builtin_cpu_supports("avx512bf16")) GTEST_SKIP() << "needs AVX512_BF16";
  for (int64_t rows : {2, 40}) {
    SCOPED_TRACE(rows);
    const Network::Result exact = dense_layers(rows);
    const Setting narrow("MXNET_ONEDNN_BFLOAT16", "1");
    const Network::Result result = dense_layers(rows);
    Network::expect_near(result.values, exact.values, 0.02);
    EXPECT_NE(result.values, exact.values);
    EXPECT_EQ(result.steps("[few_rows]"), rows == 2 ? 2 : 0) << result.plan;
    EXPECT_EQ(result.steps("_reorder("), rows == 2 ? 0 : 2) << "rows are rounded: " << result.plan;
  }
}

TEST(BFloat16Plan, SmallDenseLayersStayExact) {
  const Network::Result exact = dense_layers(4, 64);
  const Setting narrow("MXNET_ONEDNN_BFLOAT16", "1");
  EXPECT_EQ(dense_layers(4, 64).values, exact.values);
}

}  // namespace
}  // namespace mxnet
