// SPDX-License-Identifier: Apache-2.0
// The operator's order of gates, layers and directions is cuDNN's; what differs is what lies
// between them.
#include "plugin/cuda/dnn/recurrent_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace mxnet::cuda {
namespace {

constexpr int32_t kProjectionId = 8;
constexpr int64_t kAlignment = 256;  // of what lies in the reserve

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool fits_int32(std::initializer_list<int64_t> sizes) {
  return std::all_of(sizes.begin(), sizes.end(),
                     [](int64_t size) { return size <= std::numeric_limits<int32_t>::max(); });
}

}  // namespace

std::string RecurrentShape::to_string() const {
  static constexpr const char* kModes[] = {"relu", "tanh", "lstm", "gru"};
  std::string text = fmt::format(
      "{} {}, {} steps, batch {}, {} -> {} units, {} out, {} layers, "
      "{} directions",
      kModes[static_cast<int>(mode)], dtype_name(dtype), steps, batch, input, hidden, out, layers,
      directions);
  if (clip_low) text += fmt::format(", from {}", *clip_low);
  if (clip_high) text += fmt::format(", to {}", *clip_high);
  if (ragged) text += ", of any length";
  return text;
}

const char* not_for_cudnn(const rnn::RnnParams& params, const RecurrentExtent& extent,
                          bool in_order) {
  if (extent.steps == 0 || extent.batch == 0 || extent.input == 0) return "nothing to compute";
  if (in_order) return "cuDNN adds in an order of its own (MXNET_ENFORCE_DETERMINISM)";
  if (params.lstm_state_clip_nan) return "cuDNN 9 keeps NaN when it clips";
  if (params.projection_size && params.out() >= params.hidden())
    return "cuDNN projects to fewer units than there are";
  const int64_t states = int64_t{params.num_layers} * params.directions() * extent.batch;
  if (!fits_int32({extent.steps, extent.input, params.hidden() * params.gates(), states}))
    return "cuDNN counts in 32 bits";
  return nullptr;
}

std::vector<RecurrentSegment> recurrent_segments(const rnn::RnnParams& params,
                                                 const RecurrentExtent& extent) {
  RecurrentSegment segment{0,
                           {.mode = params.mode,
                            .dtype = extent.dtype,
                            .steps = extent.steps,
                            .batch = extent.batch,
                            .input = extent.input,
                            .hidden = params.hidden(),
                            .out = params.out(),
                            .layers = params.num_layers,
                            .directions = params.directions(),
                            .gates = params.gates(),
                            .clip_low = params.lstm_state_clip_min,
                            .clip_high = params.lstm_state_clip_max,
                            .ragged = params.use_sequence_length}};
  if (params.p <= 0 || params.num_layers == 1) return {segment};
  segment.shape.layers = 1;
  std::vector<RecurrentSegment> segments{segment};
  segment.shape.input = segment.shape.width();
  while (++segment.first_layer < params.num_layers) segments.push_back(segment);
  return segments;
}

std::vector<RecurrentWay> recurrent_ways(const RecurrentShape& shape, bool trials) {
  const bool plain = shape.dtype != DType::kFloat64 && !shape.ragged && shape.out == shape.hidden &&
                     !shape.clip_low && !shape.clip_high;
  if (!trials || !plain || shape.steps < 2) return {RecurrentWay::kStandard};
  return {RecurrentWay::kStandard, RecurrentWay::kPersistent, RecurrentWay::kPersistentSmall};
}

RecurrentWay fastest_way(const std::vector<RecurrentWay>& ways,
                         const std::function<double(RecurrentWay)>& milliseconds) {
  RecurrentWay best = ways.front();
  if (ways.size() == 1) return best;
  std::optional<double> least;
  for (const RecurrentWay way : ways) {
    try {
      const double taken = milliseconds(way);
      if (least && taken >= *least) continue;
      least = taken;
      best = way;
    } catch (const Error&) {
      if (!least) return best;
    }
  }
  return best;
}

std::vector<WeightPart> weight_parts(const rnn::RnnParams& params, const RecurrentExtent& extent,
                                     const RecurrentSegment& segment) {
  const rnn::ParamLayout layout(params, extent.input);
  const int64_t hidden = params.hidden(), out = params.out();
  const int32_t gates = params.gates();
  std::vector<WeightPart> weights, biases;
  int32_t pseudo_layer = 0;
  for (int64_t i = 0; i < segment.shape.layers; ++i) {
    const int64_t layer = segment.first_layer + i, input = layout.input_size(layer);
    for (int d = 0; d < params.directions(); ++d, ++pseudo_layer) {
      const auto add = [&](std::vector<WeightPart>& to, int32_t first_id, int64_t size,
                           int64_t place) {
        for (int32_t gate = 0; gate < gates; ++gate)
          to.push_back({pseudo_layer, first_id + gate, &to == &biases, size, place + gate * size});
      };
      add(weights, 0, hidden * input, layout.input_weight(layer, d));
      add(weights, gates, hidden * out, layout.state_weight(layer, d));
      if (params.projection_size)
        weights.push_back(
            {pseudo_layer, kProjectionId, false, out * hidden, layout.projection(layer, d)});
      add(biases, 0, hidden, layout.input_bias(layer, d));
      add(biases, gates, hidden, layout.state_bias(layer, d));
    }
  }
  weights.insert(weights.end(), biases.begin(), biases.end());
  return weights;
}

std::vector<WeightRun> weight_runs(const std::vector<WeightPart>& parts,
                                   const std::vector<int64_t>& places) {
  std::vector<WeightRun> runs;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!runs.empty()) {
      WeightRun& last = runs.back();
      if (last.from + last.size == parts[i].place && last.to + last.size == places[i]) {
        last.size += parts[i].size;
        continue;
      }
    }
    runs.push_back({parts[i].place, places[i], parts[i].size});
  }
  return runs;
}

bool is_whole_vector(const std::vector<WeightRun>& runs, int64_t size) {
  return runs.size() == 1 && runs[0] == WeightRun{0, 0, size};
}

std::optional<RecurrentReserve> recurrent_reserve(const std::vector<RecurrentSegment>& segments,
                                                  const std::vector<std::size_t>& kept_bytes,
                                                  std::size_t available) {
  const auto room = static_cast<int64_t>(available);
  RecurrentReserve reserve{};
  int64_t end = 0;  // of what is placed
  const auto place = [&](int64_t bytes) {
    const int64_t begin = aligned(end);
    end = begin + bytes;
    return begin;
  };
  for (std::size_t i = 0; i < segments.size(); ++i) {
    RecurrentReserve::Of& of = reserve.segments.emplace_back();
    if (i + 1 == segments.size()) break;
    const RecurrentShape& shape = segments[i].shape;
    const int64_t bytes =
        shape.steps * shape.batch * shape.width() * static_cast<int64_t>(dtype_size(shape.dtype));
    of.handed_up = place(bytes);
    of.factors = place(bytes);
  }
  if (end > room) return std::nullopt;
  for (std::size_t i = 0; i < segments.size(); ++i)
    reserve.segments[i].kept = place(static_cast<int64_t>(kept_bytes[i]));
  reserve.has_kept = end <= room;
  return reserve;
}

}  // namespace mxnet::cuda
