// SPDX-License-Identifier: Apache-2.0
// Sizes of a recurrent network and where things lie: in the packed parameter vector that models
// carry, and in the reserve that the forward call leaves to the backward one.
#pragma once
#include <cstdint>
#include <optional>

#include "base/shape.h"

namespace mxnet::rnn {

enum class Mode : int32_t { kRelu, kTanh, kLstm, kGru };

struct RnnParams {
  uint32_t state_size, num_layers;
  bool bidirectional;
  Mode mode;
  float p;
  bool state_outputs;
  std::optional<int32_t> projection_size;
  std::optional<double> lstm_state_clip_min, lstm_state_clip_max;
  bool lstm_state_clip_nan;
  bool use_sequence_length;
  int32_t wanted;       // of the backward operator: bit i = the gradient of input i is asked for
  int32_t num_weights;  // of the gathered operator (gathered.h)

  int gates() const { return mode == Mode::kLstm ? 4 : mode == Mode::kGru ? 3 : 1; }
  int directions() const { return bidirectional ? 2 : 1; }
  bool has_cell() const { return mode == Mode::kLstm; }
  int64_t hidden() const { return state_size; }
  // Numbers a direction hands on: the hidden units, or their projection.
  int64_t out() const { return projection_size ? *projection_size : hidden(); }
  int num_states() const { return has_cell() ? 2 : 1; }
  int length_input() const { return 2 + num_states(); }
};

// Offsets into the parameter vector: all weights first (per layer and direction: of the input, of
// the state, of the projection), then all biases (of the input, of the state).
class ParamLayout {
 public:
  ParamLayout(const RnnParams& params, int64_t input_size)
      : params_(params), input_size_(input_size) {}
  int64_t input_size(int64_t layer) const {
    return layer == 0 ? input_size_ : params_.out() * params_.directions();
  }
  int64_t rows() const { return params_.gates() * params_.hidden(); }
  int64_t input_weight(int64_t layer, int direction) const {
    const int64_t below =
        layer == 0 ? 0 : params_.directions() * (weights(0) + (layer - 1) * weights(1));
    return below + direction * weights(layer);
  }
  int64_t state_weight(int64_t layer, int direction) const {
    return input_weight(layer, direction) + rows() * input_size(layer);
  }
  int64_t projection(int64_t layer, int direction) const {
    return state_weight(layer, direction) + rows() * params_.out();
  }
  int64_t input_bias(int64_t layer, int direction) const {
    return input_weight(params_.num_layers, 0) +
           (layer * params_.directions() + direction) * 2 * rows();
  }
  int64_t state_bias(int64_t layer, int direction) const {
    return input_bias(layer, direction) + rows();
  }
  int64_t size() const { return input_bias(params_.num_layers, 0); }

 private:
  int64_t weights(int64_t layer) const {
    return rows() * (input_size(layer) + params_.out()) +
           (params_.projection_size ? params_.out() * params_.hidden() : 0);
  }
  const RnnParams& params_;
  int64_t input_size_;
};

// Offsets into the reserve, in elements of the type that is computed in. Per layer and direction:
// gates after their activation; cells, or the recurrent part of the GRU's candidate; hidden units
// before their projection. Per layer but the last: what it hands up and the factors of dropout.
class ReserveLayout {
 public:
  ReserveLayout(const RnnParams& params, int64_t steps, int64_t batch)
      : params_(params), places_(steps * batch) {}
  int64_t gates(int64_t layer, int direction) const {
    return layer * layer_size() + direction * direction_size();
  }
  int64_t cells(int64_t layer, int direction) const {
    return gates(layer, direction) + places_ * params_.gates() * params_.hidden();
  }
  int64_t unprojected(int64_t layer, int direction) const {
    return cells(layer, direction) + (has_cells() ? places_ * params_.hidden() : 0);
  }
  int64_t handed_up(int64_t layer) const { return gates(layer, params_.directions()); }
  int64_t dropout(int64_t layer) const { return handed_up(layer) + width(); }
  int64_t size() const {
    return params_.num_layers * layer_size() - (layer_size() - gates(0, params_.directions()));
  }

 private:
  bool has_cells() const { return params_.mode == Mode::kLstm || params_.mode == Mode::kGru; }
  int64_t width() const { return places_ * params_.out() * params_.directions(); }
  int64_t direction_size() const {
    const int64_t units =
        params_.gates() + (has_cells() ? 1 : 0) + (params_.projection_size ? 1 : 0);
    return places_ * params_.hidden() * units;
  }
  int64_t layer_size() const {
    return params_.directions() * direction_size() + width() * (params_.p > 0 ? 2 : 1);
  }
  const RnnParams& params_;
  int64_t places_;
};

}  // namespace mxnet::rnn
