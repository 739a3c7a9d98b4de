// SPDX-License-Identifier: Apache-2.0
// Recurrent networks on the plug-in's kernels: all cells, directions, projections, clipped cells
// and samples of different lengths, forward and backward. Numbers are those of the CPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "device/plugin_loader.h"
#include "exec/cached_op.h"
#include "tests/graph/graphs.h"
#include "tests/plugin/emulated/both_devices.h"
#include "tests/setting.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

constexpr int64_t kSteps = 4, kBatch = 3, kFeatures = 5, kUnits = 6, kLayers = 2;

struct Network {
  const char* mode;
  bool bidirectional = false, lengths = false;
  int64_t projection = 0;
  bool clips = false;
  float p = 0;  // of dropout
  int64_t units = kUnits, batch = kBatch;

  bool has_cell() const { return std::string_view(mode) == "lstm"; }
  int64_t gates() const { return has_cell() ? 4 : std::string_view(mode) == "gru" ? 3 : 1; }
  int64_t directions() const { return bidirectional ? 2 : 1; }
  int64_t out() const { return projection > 0 ? projection : units; }
  int64_t num_params() const {
    const int64_t rows = gates() * units;
    const auto of_layer = [&](int64_t input) {
      return rows * (input + out() + 2) + projection * units;
    };
    return directions() * (of_layer(kFeatures) + (kLayers - 1) * of_layer(out() * directions()));
  }
  Attrs attrs() const {
    Attrs result{{"mode", mode},
                 {"state_size", std::to_string(units)},
                 {"num_layers", std::to_string(kLayers)},
                 {"bidirectional", bidirectional ? "True" : "False"},
                 {"state_outputs", "True"},
                 {"use_sequence_length", lengths ? "True" : "False"}};
    if (projection > 0) result.emplace_back("projection_size", std::to_string(projection));
    if (p > 0) result.emplace_back("p", std::to_string(p));
    if (clips) {
      result.emplace_back("lstm_state_clip_min", "-0.25");
      result.emplace_back("lstm_state_clip_max", "0.25");
    }
    return result;
  }
};

Input scaled(const Shape& shape, float scale) {
  Input input{random_values(shape.size(), -4, 4), shape};
  for (float& value : input.values) value *= scale;
  return input;
}

std::vector<Input> inputs_of(const Network& network) {
  const Shape state{kLayers * network.directions(), network.batch, network.out()};
  std::vector<Input> inputs{scaled(Shape{kSteps, network.batch, kFeatures}, 0.25f),
                            scaled(Shape{network.num_params()}, 0.125f), scaled(state, 0.25f)};
  if (network.has_cell())
    inputs.push_back(
        scaled(Shape{kLayers * network.directions(), network.batch, network.units}, 0.125f));
  if (network.lengths) inputs.push_back({{2, 4, 1}, Shape{network.batch}, "int32"});
  return inputs;
}

const Network kNetworks[] = {
    {"rnn_relu"},
    {"rnn_tanh", true},
    {"lstm"},
    {"lstm", true, true},
    {"lstm", false, false, 4},
    {"lstm", true, true, 4, true},
    {"gru"},
    {"gru", true, true},
    // With dropout each layer is a call of its own. Nothing is dropped, or all: that is the same
    // everywhere. Whole lines of memory leave room in the reserve for what the library keeps.
    {.mode = "lstm", .bidirectional = true, .p = 1},
    {.mode = "gru", .p = 1, .units = 64, .batch = 4},
    {.mode = "lstm", .projection = 4, .p = 1, .units = 64, .batch = 4},
};

class GpuRecurrent : public ::testing::TestWithParam<Network> {};
INSTANTIATE_TEST_SUITE_P(Networks, GpuRecurrent, ::testing::ValuesIn(kNetworks));

TEST_P(GpuRecurrent, IsThatOfTheCpu) {
  const Network& network = GetParam();
  for (const auto& [dtype, tolerance] :
       {std::pair{"float32", 1e-5}, {"float64", 1e-6}, {"float16", 1e-2}}) {
    std::vector<Input> inputs = inputs_of(network);
    for (Input& input : inputs)
      if (std::string_view(input.dtype) == "float32") input.dtype = dtype;
    expect_same_outputs("RNN", inputs, network.attrs(), tolerance);
  }
}

// Of the squares of all outputs, by the tape; the last of some passes.
std::vector<Values> gradients_of(const Network& network, const char* dtype, Device device,
                                 int passes = 1) {
  std::vector<NDArray> arrays, slopes;
  for (Input input : inputs_of(network)) {
    const bool real = std::string_view(input.dtype) == "float32";
    if (real) input.dtype = dtype;
    arrays.push_back(input.on(device));
    if (real) slopes.push_back(input.on(device));
  }
  for (std::size_t i = 0; i < slopes.size(); ++i)
    mark_variable(arrays[i], Request::kWrite, slopes[i]);
  std::vector<NDArray*> pointers;
  for (NDArray& array : arrays) pointers.push_back(&array);
  NDArray loss;
  {
    const Recording recording;
    std::vector<NDArray> outputs = call_op("RNN", pointers, network.attrs());
    for (NDArray& output : outputs) {
      NDArray square = call("elemwise_mul", {&output, &output});
      NDArray sum = call("sum", {&square});
      loss = loss.is_none() ? sum : call("elemwise_add", {&loss, &sum});
    }
  }
  for (int pass = 1; pass <= passes; ++pass) backward_from(loss, {.retain_graph = pass < passes});
  std::vector<Values> result;
  for (NDArray& slope : slopes) result.push_back(values_as_float(slope));
  return result;
}

TEST_P(GpuRecurrent, HasTheGradientsOfTheCpu) {
  for (const char* dtype : {"float32", "float64"}) {
    const std::vector<Values> want = gradients_of(GetParam(), dtype, Device::cpu());
    const std::vector<Values> got = gradients_of(GetParam(), dtype, kGpu);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(got[i].size(), want[i].size());
      for (std::size_t k = 0; k < want[i].size(); ++k)
        ASSERT_NEAR(got[i][k], want[i][k], 1e-4 * (1 + std::fabs(want[i][k])))
            << GetParam().mode << ", gradient " << i << " [" << k << "] of " << dtype;
    }
  }
}

// What forward has kept serves as often as it is asked for.
TEST_P(GpuRecurrent, HasTheSameGradientsOnceMore) {
  EXPECT_EQ(gradients_of(GetParam(), "float16", kGpu, 2),
            gradients_of(GetParam(), "float16", kGpu));
}

TEST(GpuRecurrentLengths, BeyondTheStepsAreTheErrorOfTheCpu) {
  for (const char* mode : {"lstm", "rnn_relu"}) {
    const Network network{.mode = mode, .lengths = true};
    const auto error = [&](Device device) {
      std::vector<Input> inputs = inputs_of(network);
      inputs.back().values[1] = kSteps + 1;
      std::vector<NDArray> arrays;
      for (const Input& input : inputs) arrays.push_back(input.on(device));
      std::vector<NDArray*> pointers;
      for (NDArray& array : arrays) pointers.push_back(&array);
      return error_of([&] { values_of(call_op("RNN", pointers, network.attrs())[0]); });
    };
    EXPECT_TRUE(contains(error(kGpu), "given 5 for sample 1, expected 0 to 4")) << error(kGpu);
    EXPECT_EQ(error(kGpu), error(Device::cpu()));
  }
}

// --- weights that are packed once
// ------------------------------------------------------------------

// A network on the GPU whose weights change in place.
class KeptWeights {
 public:
  explicit KeptWeights(const Network& network, const char* dtype = "float32") : network_(network) {
    for (Input input : inputs_of(network)) {
      if (std::string_view(input.dtype) == "float32") input.dtype = dtype;
      arrays_.push_back(input.on(kGpu));
    }
  }
  Values outputs(bool training = false) {
    std::vector<NDArray*> pointers;
    for (NDArray& array : arrays_) pointers.push_back(&array);
    const AutogradScope scope({.recording = false, .training = training});
    Values all;
    for (const NDArray& output : call_op("RNN", pointers, network_.attrs())) {
      const Values values = values_as_float(output);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
  void double_weights() { times(arrays_[1], "2").copy_to(arrays_[1]); }
  std::vector<NDArray>& arrays() { return arrays_; }

 private:
  const Network& network_;
  std::vector<NDArray> arrays_;
};

TEST_P(GpuRecurrent, KeepsPackedWeightsForInferenceWhereThatIsSaid) {
  // The last runs on the plug-in's own kernels, which pack nothing.
  const bool packs = std::string_view(GetParam().mode) != "rnn_relu";
  for (const char* dtype : {"float32", "float64", "float16"}) {
    KeptWeights network(GetParam(), dtype);
    const Values before = network.outputs();
    const Setting keep("MXNET_RNN_USE_WEIGHT_CACHE", "1");
    EXPECT_EQ(network.outputs(), before);
    network.double_weights();
    const Values after = network.outputs(), trained = network.outputs(true);
    if (packs) {
      EXPECT_EQ(after, before) << "packed once more";
    }
    const Setting look("MXNET_RNN_USE_WEIGHT_CACHE", "0");
    const Values seen = network.outputs();
    EXPECT_NE(seen, before) << "the weights do not matter";
    if (!packs) {
      EXPECT_EQ(after, seen);
    }
    if (GetParam().p == 0) {
      EXPECT_EQ(trained, seen) << "training did not look";
    }
  }
}

// Other weights, and the same in another type or order, are packed apart.
TEST(GpuRecurrentWeights, AreKeptByWhereTheyAreAndHowTheyArePacked) {
  // Of a size that no other test has: weights that one has left may have lain where these do.
  const Network one{.mode = "lstm", .units = 7}, other{.mode = "gru", .units = 7};
  KeptWeights first(one), second(one), third(other);
  second.double_weights();
  const Values plain[] = {first.outputs(), second.outputs(), third.outputs()};
  const Setting keep("MXNET_RNN_USE_WEIGHT_CACHE", "1");
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_EQ(first.outputs(), plain[0]);
    EXPECT_EQ(second.outputs(), plain[1]);
    EXPECT_EQ(third.outputs(), plain[2]);
  }
}

// The devices of the emulated plug-in have no memory left as long as it lives.
class FullDevices {
 public:
  FullDevices() {
    const std::string path = path_beside_this_library("libmxnet_cuda.so");
    void* const plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    be_full_ = reinterpret_cast<void (*)(bool)>(dlsym(plugin, "fake_cuda_be_full"));
    be_full_(true);
  }
  ~FullDevices() { be_full_(false); }

 private:
  void (*be_full_)(bool);
};

TEST(GpuRecurrentWeights, AreNotKeptWhereTheDeviceHasNoRoom) {
  const char* const pool = std::getenv("MXNET_GPU_MEM_POOL_TYPE");
  if (pool != nullptr && std::string_view(pool) == "Unpooled")
    GTEST_SKIP() << "the call itself finds no memory either";
  const Network network{.mode = "gru", .units = 9};
  KeptWeights weights(network);
  const Values before = weights.outputs();
  EXPECT_EQ(weights.outputs(), before);  // the pool has what a call needs
  const Setting keep("MXNET_RNN_USE_WEIGHT_CACHE", "1");
  const FullDevices full;
  EXPECT_EQ(weights.outputs(), before);
}

// A recorded graph reads what was kept before, also when it has left the list since.
TEST(GpuRecurrentWeights, StayAsLongAsAGraphReadsThem) {
  const Network network{"lstm"};
  const Setting keep("MXNET_RNN_USE_WEIGHT_CACHE", "1"), graphs("MXNET_ENABLE_CUDA_GRAPHS", "1");
  KeptWeights weights(network);
  std::vector<Value> inputs;
  for (const char* name : {"data", "parameters", "state", "cell"}) inputs.push_back(variable(name));
  const Value out = apply("RNN", inputs, network.attrs());
  const ir::Graph graph = graph_of({apply("relu", {apply("negative", {out})})});
  const std::pair<std::string_view, std::string_view> flags[] = {{"static_alloc", "true"},
                                                                 {"static_shape", "true"}};
  CachedOp op(graph, CachedOpFlags::parse(flags));
  const auto run = [&] {
    std::vector<NDArray*> pointers;
    for (NDArray& array : weights.arrays()) pointers.push_back(&array);
    NDArray result;
    NDArray* const outputs[] = {&result};
    op.invoke(pointers, outputs, kGpu);
    return values_of(result);
  };
  const Values first = run();
  EXPECT_EQ(run(), first);
  EXPECT_EQ(run(), first);
  std::vector<KeptWeights> others;
  for (int i = 0; i < 70; ++i) others.emplace_back(network).outputs();
  EXPECT_EQ(run(), first);
}

}  // namespace
}  // namespace mxnet
