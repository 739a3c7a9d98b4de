// SPDX-License-Identifier: Apache-2.0
// What is decided about a recurrent network before cuDNN sees it: whether it does, in how many
// calls, which numbers of the operator's parameter vector it finds where, and what of the reserve
// is whose. Pure functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "op/rnn/layout.h"

namespace mxnet::cuda {

// Layers that one call runs, without dropout between them.
struct RecurrentShape {
  rnn::Mode mode;
  DType dtype;
  int64_t steps, batch, input, hidden;
  int64_t out;  // less than `hidden` where there is a projection
  int64_t layers;
  int directions, gates;
  std::optional<double> clip_low, clip_high;
  bool ragged = false;  // samples end at steps of their own

  int64_t width() const { return out * directions; }      // of a row of all directions
  int64_t places() const { return layers * directions; }  // of states
  bool has_cell() const { return mode == rnn::Mode::kLstm; }
  // All of it as text: the key of plans, and how messages name it.
  std::string to_string() const;
};

struct RecurrentSegment {
  int64_t first_layer;
  RecurrentShape shape;
};

struct RecurrentExtent {
  DType dtype;
  int64_t steps, batch, input;
};

// Why cuDNN does not compute this network, or null. `in_order`: sums must come in one order.
const char* not_for_cudnn(const rnn::RnnParams& params, const RecurrentExtent& extent,
                          bool in_order);

// The whole network, or, where numbers are dropped between layers, each layer: masks are ours, so
// that they follow from mx.random.seed as all others do.
std::vector<RecurrentSegment> recurrent_segments(const rnn::RnnParams& params,
                                                 const RecurrentExtent& extent);

// How cuDNN goes through the steps: a product and cells each, or one kernel that keeps the weights
// of the state where it computes, for layers whose weights a device holds, or one multiprocessor.
enum class RecurrentWay { kStandard, kPersistent, kPersistentSmall };

// The ways that are worth a trial, the standard one first. `trials`: whether there are to be any
// (MXNET_CUDNN_AUTOTUNE_DEFAULT).
std::vector<RecurrentWay> recurrent_ways(const RecurrentShape& shape, bool trials);
// The one of them that takes least. milliseconds(way) throws Error where there is no such way,
// which is out then; where the first one fails, the trial has, and it is taken unseen.
RecurrentWay fastest_way(const std::vector<RecurrentWay>& ways,
                         const std::function<double(RecurrentWay)>& milliseconds);

// A matrix or a bias, as cuDNN names it. Sizes and places are in elements.
struct WeightPart {
  int32_t pseudo_layer, id;
  bool bias;
  int64_t size, place;  // in the operator's vector
};
std::vector<WeightPart> weight_parts(const rnn::RnnParams& params, const RecurrentExtent& extent,
                                     const RecurrentSegment& segment);

// Numbers that lie together in both vectors.
struct WeightRun {
  int64_t from, to, size;  // from: the operator's vector
  bool operator==(const WeightRun&) const = default;
};
// `places`: where cuDNN has each part.
std::vector<WeightRun> weight_runs(const std::vector<WeightPart>& parts,
                                   const std::vector<int64_t>& places);
// Whether cuDNN can read the operator's vector of `size` elements as it is.
bool is_whole_vector(const std::vector<WeightRun>& runs, int64_t size);

// Places in the operator's reserve, in bytes: what a segment hands up and the factors of dropout
// behind it, for all segments but the last; then what cuDNN keeps of each.
struct RecurrentReserve {
  struct Of {
    int64_t handed_up, factors, kept;
  };
  std::vector<Of> segments;
  // Whether there is room for what cuDNN keeps; without, backward runs forward once more.
  bool has_kept;
};
// cuDNN alone knows how much it keeps (`kept_bytes`, of each segment). None where there is not even
// room for what segments hand up.
std::optional<RecurrentReserve> recurrent_reserve(const std::vector<RecurrentSegment>& segments,
                                                  const std::vector<std::size_t>& kept_bytes,
                                                  std::size_t available);

}  // namespace mxnet::cuda
