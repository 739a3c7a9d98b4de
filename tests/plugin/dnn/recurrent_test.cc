// SPDX-License-Identifier: Apache-2.0
// Recurrent networks for cuDNN: what is decided before the library is asked, and its descriptors,
// which the library itself checks without a GPU.
#include "plugin/cuda/dnn/recurrent.h"
#include "base/config.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace mxnet::cuda {
namespace {

using rnn::Mode;
using rnn::RnnParams;

RnnParams network(Mode mode, uint32_t layers = 2, bool bidirectional = true) {
  RnnParams params{};
  params.state_size = 6;
  params.num_layers = layers;
  params.bidirectional = bidirectional;
  params.mode = mode;
  return params;
}
RnnParams projected(int32_t size) {
  RnnParams params = network(Mode::kLstm);
  params.projection_size = size;
  return params;
}

constexpr RecurrentExtent kExtent{DType::kFloat32, 5, 3, 7};

std::vector<int64_t> places_of(const std::vector<WeightPart>& parts) {
  std::vector<int64_t> places;
  places.reserve(parts.size());
  for (const WeightPart& part : parts) places.push_back(part.place);
  return places;
}

TEST(RecurrentLayout, ANetworkWithoutDropoutIsOneCall) {
  const auto segments = recurrent_segments(network(Mode::kGru, 3), kExtent);
  ASSERT_EQ(segments.size(), 1u);
  EXPECT_EQ(segments[0].shape.layers, 3);
  EXPECT_EQ(segments[0].shape.input, 7);
  EXPECT_EQ(segments[0].shape.places(), 6);
}

TEST(RecurrentLayout, EachLayerIsACallWhereNumbersAreDroppedBetween) {
  RnnParams params = network(Mode::kLstm, 3);
  params.p = 0.5f;
  const auto segments = recurrent_segments(params, kExtent);
  ASSERT_EQ(segments.size(), 3u);
  for (int64_t i = 0; i < 3; ++i) {
    const RecurrentSegment& segment = segments[static_cast<std::size_t>(i)];
    EXPECT_EQ(segment.first_layer, i);
    EXPECT_EQ(segment.shape.layers, 1);
    EXPECT_EQ(segment.shape.input, i == 0 ? 7 : 12);
  }
  params.num_layers = 1;
  EXPECT_EQ(recurrent_segments(params, kExtent).size(), 1u);
}

// Whatever the network, the parts of its segments are its vector: each number once.
TEST(RecurrentLayout, PartsCoverTheVector) {
  for (RnnParams params : {network(Mode::kRelu), network(Mode::kTanh, 1), network(Mode::kGru, 3),
                           network(Mode::kLstm, 3, false), projected(4)}) {
    for (const float p : {0.0f, 0.5f}) {
      params.p = p;
      std::vector<int> seen(
          static_cast<std::size_t>(rnn::ParamLayout(params, kExtent.input).size()));
      for (const RecurrentSegment& segment : recurrent_segments(params, kExtent)) {
        for (const WeightPart& part : weight_parts(params, kExtent, segment)) {
          ASSERT_GE(part.pseudo_layer, 0);
          ASSERT_LT(part.pseudo_layer, segment.shape.places());
          ASSERT_LE(part.place + part.size, std::ssize(seen));
          std::for_each_n(seen.begin() + part.place, part.size, [](int& count) { ++count; });
        }
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), std::ssize(seen));
    }
  }
}

TEST(RecurrentLayout, PartsHaveTheNamesOfCudnn) {
  const RnnParams params = projected(4);
  const auto parts = weight_parts(params, kExtent, recurrent_segments(params, kExtent)[0]);
  const rnn::ParamLayout layout(params, kExtent.input);
  const auto place = [&](int32_t pseudo_layer, int32_t id, bool bias) {
    const auto at = std::find_if(parts.begin(), parts.end(), [&](const WeightPart& part) {
      return part.pseudo_layer == pseudo_layer && part.id == id && part.bias == bias;
    });
    return at == parts.end() ? -1 : at->place;
  };
  EXPECT_EQ(place(0, 0, false), layout.input_weight(0, 0));
  EXPECT_EQ(place(1, 1, false), layout.input_weight(0, 1) + 6 * 7);  // forget gate
  EXPECT_EQ(place(3, 4, false), layout.state_weight(1, 1));
  EXPECT_EQ(place(2, 8, false), layout.projection(1, 0));
  EXPECT_EQ(place(2, 3, true), layout.input_bias(1, 0) + 3 * 6);  // output gate
  EXPECT_EQ(place(3, 7, true), layout.state_bias(1, 1) + 3 * 6);
  EXPECT_EQ(place(0, 8, true), -1);  // a projection has no bias
}

TEST(RecurrentLayout, PartsThatLieTogetherAreCopiedTogether) {
  const RnnParams params = network(Mode::kLstm);
  const auto parts = weight_parts(params, kExtent, recurrent_segments(params, kExtent)[0]);
  const int64_t size = rnn::ParamLayout(params, kExtent.input).size();
  std::vector<int64_t> places = places_of(parts);
  EXPECT_TRUE(is_whole_vector(weight_runs(parts, places), size));
  // The same with a gap before the biases, then with them in front.
  const int64_t biases = 2 * 2 * 2 * 4 * 6, weights = size - biases;
  for (std::size_t i = 0; i < parts.size(); ++i) places[i] += parts[i].bias ? 32 : 0;
  EXPECT_EQ(weight_runs(parts, places),
            (std::vector<WeightRun>{{0, 0, weights}, {weights, weights + 32, biases}}));
  for (std::size_t i = 0; i < parts.size(); ++i)
    places[i] = parts[i].place + (parts[i].bias ? -weights : biases);
  const auto runs = weight_runs(parts, places);
  EXPECT_EQ(runs, (std::vector<WeightRun>{{0, biases, weights}, {weights, 0, biases}}));
  EXPECT_FALSE(is_whole_vector(runs, size));
}

TEST(RecurrentLayout, WhatCudnnKeepsLiesInTheReserveWhereThereIsRoom) {
  RnnParams params = network(Mode::kLstm);
  const auto whole = recurrent_segments(params, kExtent);
  const auto exact = recurrent_reserve(whole, {1000}, 1000);
  ASSERT_TRUE(exact);
  EXPECT_TRUE(exact->has_kept);
  EXPECT_EQ(exact->segments[0].kept, 0);
  EXPECT_FALSE(recurrent_reserve(whole, {1001}, 1000)->has_kept);
  // 5 steps of 3 samples of 12 numbers are 720 bytes, twice, each at a multiple of 256.
  params.p = 0.5f;
  const auto layers = recurrent_segments(params, kExtent);
  const auto both = recurrent_reserve(layers, {1000, 500}, 3060);
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->has_kept);
  EXPECT_EQ(both->segments[0].handed_up, 0);
  EXPECT_EQ(both->segments[0].factors, 768);
  EXPECT_EQ(both->segments[0].kept, 1536);
  EXPECT_EQ(both->segments[1].kept, 2560);
  EXPECT_FALSE(recurrent_reserve(layers, {1000, 501}, 3060)->has_kept);
  EXPECT_FALSE(recurrent_reserve(layers, {1000, 500}, 1487));
}

TEST(RecurrentLayout, WhatCudnnCannotDoIsSaid) {
  EXPECT_EQ(not_for_cudnn(projected(4), kExtent, false), nullptr);
  EXPECT_NE(not_for_cudnn(projected(4), kExtent, true), nullptr);
  EXPECT_NE(not_for_cudnn(projected(6), kExtent, false), nullptr);
  RnnParams clipped = network(Mode::kLstm);
  clipped.lstm_state_clip_min = -1;
  EXPECT_EQ(not_for_cudnn(clipped, kExtent, false), nullptr);
  clipped.lstm_state_clip_nan = true;
  EXPECT_NE(not_for_cudnn(clipped, kExtent, false), nullptr);
  RecurrentExtent extent = kExtent;
  extent.batch = 0;
  EXPECT_NE(not_for_cudnn(network(Mode::kGru), extent, false), nullptr);
  extent.batch = int64_t{1} << 30;
  EXPECT_NE(not_for_cudnn(network(Mode::kGru), extent, false), nullptr);
}

TEST(RecurrentLayout, TextHoldsAllThatAPlanDependsOn) {
  const RecurrentShape base = recurrent_segments(network(Mode::kLstm), kExtent)[0].shape;
  std::vector<RecurrentShape> others(13, base);
  others[0].mode = Mode::kGru;
  others[1].dtype = DType::kFloat16;
  others[2].steps = 6;
  others[3].batch = 4;
  others[4].input = 8;
  others[5].hidden = 9;
  others[6].out = 5;
  others[7].layers = 3;
  others[8].directions = 1;
  others[9].clip_low = -1;
  others[10].clip_high = 1;
  others[11].clip_high = 0.3333333333333333;
  others[12].ragged = true;
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_NE(others[i].to_string(), base.to_string()) << i;
    if (i > 0) {
      EXPECT_NE(others[i].to_string(), others[i - 1].to_string()) << i;
    }
  }
}

TEST(RecurrentLayout, PersistentKernelsAreTriedWhereCudnnMayHaveThem) {
  const auto ways = [](const RnnParams& params, bool trials = true) {
    return recurrent_ways(recurrent_segments(params, kExtent)[0].shape, trials).size();
  };
  EXPECT_EQ(ways(network(Mode::kLstm)), 3u);
  EXPECT_EQ(ways(network(Mode::kLstm), false), 1u);
  EXPECT_EQ(ways(projected(4)), 1u);
  EXPECT_EQ(recurrent_ways(
                recurrent_segments(network(Mode::kGru), {DType::kFloat64, 5, 3, 7})[0].shape, true)
                .size(),
            1u);
  RnnParams params = network(Mode::kLstm);
  params.use_sequence_length = true;
  EXPECT_EQ(ways(params), 1u);
  params = network(Mode::kLstm);
  params.lstm_state_clip_max = 1;
  EXPECT_EQ(ways(params), 1u);
  EXPECT_EQ(recurrent_ways(
                recurrent_segments(network(Mode::kGru), {DType::kFloat16, 1, 3, 7})[0].shape, true)
                .size(),
            1u);
}

TEST(RecurrentLayout, TheFastestWayThatRunsIsTaken) {
  using Way = RecurrentWay;
  const std::vector<Way> all{Way::kStandard, Way::kPersistent, Way::kPersistentSmall};
  constexpr double kNone = -1;
  const auto taken = [&](double standard, double persistent, double small) {
    return fastest_way(all, [&](Way way) {
      const double time = way == Way::kStandard     ? standard
                          : way == Way::kPersistent ? persistent
                                                    : small;
      if (time == kNone) throw Error(ErrorCode::kGeneric, "cudnn", "not supported");
      return time;
    });
  };
  EXPECT_EQ(taken(2, 1, 3), Way::kPersistent);
  EXPECT_EQ(taken(2, kNone, 1), Way::kPersistentSmall);
  EXPECT_EQ(taken(2, kNone, kNone), Way::kStandard);
  EXPECT_EQ(taken(1, 1, 1), Way::kStandard);
  EXPECT_EQ(taken(kNone, 1, 1), Way::kStandard);  // there is no memory to try with, say
  // What is alone is not tried.
  EXPECT_EQ(fastest_way({Way::kStandard},
                        [](Way) -> double {
                          ADD_FAILURE();
                          return 0;
                        }),
            Way::kStandard);
}

TEST(Recurrent, TensorCoresComputeWhatTheVariablesAllow) {
  CudaConfig config{};
  config.allow_tensor_core = true;
  config.tensor_op_math_allow_conversion = false;
  EXPECT_EQ(recurrent_math(config, DType::kFloat16), CUDNN_TENSOR_OP_MATH);
  EXPECT_EQ(recurrent_math(config, DType::kFloat32), CUDNN_DEFAULT_MATH);
  config.tensor_op_math_allow_conversion = true;
  EXPECT_EQ(recurrent_math(config, DType::kFloat32), CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION);
  config.allow_tensor_core = false;
  EXPECT_EQ(recurrent_math(config, DType::kFloat16), CUDNN_FMA_MATH);
  EXPECT_EQ(recurrent_math(config, DType::kFloat32), CUDNN_FMA_MATH);
}

TEST(Recurrent, CudnnTakesTheNetworksOfAllCellsAndTypes) {
  for (RnnParams params : {network(Mode::kRelu), network(Mode::kTanh, 1, false),
                           network(Mode::kGru, 3), network(Mode::kLstm), projected(4)}) {
    if (params.mode == Mode::kLstm) params.lstm_state_clip_max = 1;
    for (const DType dtype :
         {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
      RecurrentExtent extent = kExtent;
      extent.dtype = dtype;
      const RecurrentShape shape = recurrent_segments(params, extent)[0].shape;
      for (const RecurrentWay way : recurrent_ways(shape, true))
        EXPECT_NO_THROW(RecurrentNetwork(shape, way, nullptr)) << shape.to_string();
      EXPECT_NO_THROW(RecurrentSequences(shape, shape.width(), {}));
      EXPECT_NO_THROW(RecurrentSequences(shape, shape.input, {5, 0, 2}));
      RecurrentTensor states;
      EXPECT_NO_THROW(states.set(dtype, {4, 3, 6}));
      EXPECT_EQ(states.size(), 72);
    }
  }
}

TEST(Recurrent, WhatDoesNotFitIsAnErrorThatNamesTheCall) {
  const RecurrentShape shape = recurrent_segments(network(Mode::kLstm), kExtent)[0].shape;
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.tag(), "cudnn");
      return error.message();
    }
    return "taken";
  };
  EXPECT_NE(message([&] {
              RecurrentSequences(shape, 7, {5, 6, 1});
            }).find("cudnnSetRNNDataDescriptor"),
            std::string::npos);
  RecurrentShape wider = shape;
  wider.out = shape.hidden + 1;
  EXPECT_NE(message([&] {
              RecurrentNetwork(wider, RecurrentWay::kStandard, nullptr);
            }).find("cudnnSetRNNDescriptor_v8"),
            std::string::npos);
}

}  // namespace
}  // namespace mxnet::cuda
