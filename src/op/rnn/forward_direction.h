// SPDX-License-Identifier: Apache-2.0
// A direction of a layer forward, whatever its products: those with the input for some steps at
// once, then step by step those with the state and the cells, on the same gates while they are in
// cache.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "op/rnn/cells.h"
#include "op/rnn/layout.h"
#include "op/rnn/network.h"
#include "op/rnn/packed_gates.h"
#include "op/rnn/steps.h"
#include "op/rnn/weight_products.h"

namespace mxnet::rnn {

// One direction of one layer. Used by the thread of the kernel; step() runs on several, on rows and
// units of their own.
template <class Products>
class ForwardDirection {
  using T = typename Products::Number;
  using Factor = typename Products::Factor;
  using Weight = typename Products::Weight;

 public:
  static StepShape shape_of(const RnnParams& params, const Extent& extent) {
    const bool projected = params.projection_size.has_value();
    return {extent.steps,
            extent.batch,
            params.hidden(),
            (params.gates() + projected) * params.out(),
            packed_gemm::panel_columns<T>(),
            projected,
            Products::kTogether};
  }

  ForwardDirection(const Products& products, const RnnParams& params, const Extent& extent,
                   const ForwardArrays<T>& arrays, int64_t layer, int direction,
                   KernelContext& context)
      : products_(products),
        shape_(shape_of(params, extent)),
        mode_(params.mode),
        gates_(params.gates()),
        steps_(extent.steps),
        batch_(extent.batch),
        hidden_(params.hidden()),
        out_(params.out()),
        width_(out_ * params.directions()),
        reverse_(direction == 1),
        projected_(params.projection_size.has_value()),
        lengths_(arrays.lengths),
        cell_fn_(cell_forward<T>(params.mode)),
        clip_(clip_of(params)) {
    const ParamLayout layout(params, extent.input_size);
    const ReserveLayout reserve(params, extent.steps, extent.batch);
    input_size_ = layout.input_size(layer);
    gate_values_ = arrays.reserve + reserve.gates(layer, direction);
    cells_ = arrays.reserve + reserve.cells(layer, direction);
    unprojected_ = arrays.reserve + reserve.unprojected(layer, direction);
    const int64_t at = layer * params.directions() + direction;
    state_ = arrays.state + at * batch_ * out_;
    cell_ = arrays.cell == nullptr ? nullptr : arrays.cell + at * batch_ * hidden_;
    const Weight* weights = weights_of(arrays);
    pack_weights(weights, layout, layer, direction, arrays.home, context);
    sum_biases(arrays.params + layout.input_bias(layer, direction),
               arrays.params + layout.state_bias(layer, direction), context);
    for (int i = 0; i < 2; ++i) {
      states_[i] = context.workspace_of<T>(batch_ * out_);
      state_places_[i] = Products::places(batch_, out_, context);
      products_.start_states(state_places_[i], batch_, out_);
    }
    std::copy_n(state_, batch_ * out_, states_[0]);
    for (int64_t r = 0; r < batch_; ++r)
      products_.keep_units(states_[0], state_places_[0], out_, r, 0, out_);
    input_places_ = Products::places(steps_ * batch_, input_size_, context);
    if (projected_) hidden_places_ = Products::places(batch_, hidden_, context);
  }

  // input: rows of input_size; y: rows `width` apart, of which this direction writes its part.
  void run(const T* input, T* y) {
    if constexpr (!std::is_same_v<Factor, T>) {
      const auto cost = static_cast<double>(input_size_);
      const int64_t rows = steps_ * batch_;
      parallel_for(
          rows, cost,
          [&](int64_t first, int64_t last) {
            Products::keep_rows(input, input_places_, rows, input_size_, first, last);
          },
          Products::kTogether);
    }
    const Factor* x = Products::factors(input, input_places_);
    // So many rows amortise reading the weights, and their gates stay in cache until used. With
    // full tiles of a step's own rows they are not needed.
    constexpr int64_t kRows = 256;
    const bool with_steps = sharing(shape_) == Sharing::kFullRows;
    const int64_t chunk =
        with_steps ? steps_ : std::max<int64_t>(1, kRows / std::max<int64_t>(1, batch_));
    for (int64_t s = 0; s < steps_; s += chunk) {
      const int64_t end = std::min(steps_, s + chunk);
      if (!with_steps) multiply_inputs(x, reverse_ ? steps_ - end : s, end - s);
      each_step(shape_, s, end,
                [&](int64_t step, int64_t first, int64_t last, int64_t unit, int64_t unit_end) {
                  if (with_steps)
                    multiply_rows(x, time_of(step) * batch_ + first, last - first, unit, unit_end);
                  run_step({step, first, last, unit, unit_end}, y);
                });
    }
  }

  void final_states(T* state, T* cell) const {
    std::copy_n(states_[steps_ % 2], batch_ * out_, state);
    if (cell == nullptr) return;
    const T* last = steps_ == 0 ? cell_ : cells_ + time_of(steps_ - 1) * batch_ * hidden_;
    std::copy_n(last, batch_ * hidden_, cell);
  }

 private:
  int64_t time_of(int64_t step) const { return reverse_ ? steps_ - 1 - step : step; }
  // Products of this gate with the state do not go where those with the input are.
  bool apart(int gate) const { return mode_ == Mode::kGru && gate == 2; }

  static const Weight* weights_of(const ForwardArrays<T>& arrays) {
    if constexpr (std::is_same_v<Weight, T>)
      return arrays.params;
    else
      return arrays.narrow_params;
  }

  void pack_weights(const Weight* weights, const ParamLayout& layout, int64_t layer, int direction,
                    const WeightHome& home, KernelContext& context) {
    const int64_t offset = layout.input_weight(layer, direction);
    const Weight* input = weights + offset;
    const Weight* state = weights + layout.state_weight(layer, direction);
    const PackedGates<Products> packed_gates(products_, input, state,
                                             {input_size_, hidden_, out_, gates_}, home,
                                             home.place(offset), context);
    input_stride_ = packed_gates.input_stride;
    state_stride_ = packed_gates.state_stride;
    kept_ = packed_gates.kept;
    input_weights_ = packed_gates.input;
    state_weights_ = packed_gates.state;
    if (!projected_) return;
    const Weight* projection = weights + layout.projection(layer, direction);
    projection_ = products_.in_place(projection);
    if (projection_ != nullptr) return;
    T* packed = context.workspace_of<T>(products_.packed_size(hidden_, out_));
    Products::pack(projection, hidden_, out_, 0, out_, packed);
    projection_ = packed;
  }

  void sum_biases(const T* input, const T* state, KernelContext& context) {
    T* sums = context.workspace_of<T>(gates_ * hidden_);
    for (int g = 0; g < gates_; ++g) {
      for (int64_t i = g * hidden_; i < (g + 1) * hidden_; ++i)
        sums[i] = apart(g) ? input[i] : input[i] + state[i];
    }
    bias_ = sums;
    state_bias_ = state + (gates_ - 1) * hidden_;
  }

  void multiply_inputs(const Factor* x, int64_t time, int64_t count) {
    const int64_t rows = count * batch_;
    const double cost = kFlop * static_cast<double>(gates_ * input_size_ * rows);
    parallel_for(
        hidden_, cost,
        [&](int64_t first, int64_t last) { multiply_rows(x, time * batch_, rows, first, last); },
        packed_gemm::panel_columns<T>());
  }

  // Gates of units [unit, unit_end) become the products of `rows` rows of x with their weights.
  void multiply_rows(const Factor* x, int64_t row, int64_t rows, int64_t unit, int64_t unit_end) {
    const int64_t width = gates_ * hidden_;
    for (int g = 0; g < gates_; ++g) {
      products_.multiply(rows, hidden_, input_size_, x + row * Products::row_size(input_size_),
                         input_weights_ + g * input_stride_,
                         gate_values_ + row * width + g * hidden_, width, false, unit, unit_end);
    }
  }

  // Rows [first, last) and units [unit, unit_end) of a step, which are a thread's.
  struct Share {
    int64_t step, first, last, unit, unit_end;
  };

  void run_step(Share share, T* y) {
    multiply_states(share);
    T* hidden = states_after(share.step);
    if (projected_) hidden = unprojected_ + time_of(share.step) * batch_ * hidden_;
    run_cells(share, hidden);
    if (projected_) {
      project(share, hidden);
      share.unit_end = out_;
    }
    hand_out(share, y);
  }

  const T* states_before(int64_t step) const { return states_[step % 2]; }
  T* states_after(int64_t step) const { return states_[(step + 1) % 2]; }
  Factor* places_after(int64_t step) const { return state_places_[(step + 1) % 2]; }
  T* gates_at(int64_t time) const { return gate_values_ + time * batch_ * gates_ * hidden_; }
  T* cells_at(int64_t time) const { return cells_ + time * batch_ * hidden_; }

  // Adds to the gates the products of the states with their weights.
  void multiply_states(const Share& share) {
    const int64_t time = time_of(share.step), row = gates_ * hidden_;
    const Factor* factors =
        Products::factors(states_before(share.step), state_places_[share.step % 2]);
    for (int i = 0; i < gates_; ++i) {
      // Back and forth: the weights used last in a step are still close at the next one.
      const int g = share.step % 2 == 0 ? i : gates_ - 1 - i;
      T* to = apart(g) ? cells_at(time) + share.first * hidden_
                       : gates_at(time) + share.first * row + g * hidden_;
      products_.multiply(share.last - share.first, hidden_, out_,
                         factors + share.first * Products::row_size(out_),
                         state_weights_ + g * state_stride_, to, apart(g) ? hidden_ : row,
                         !apart(g), share.unit, share.unit_end);
    }
  }

  // Gates become cells and hidden units; a sequence that has ended keeps its own.
  void run_cells(const Share& share, T* hidden) {
    const int64_t time = time_of(share.step), row = gates_ * hidden_;
    T* gates = gates_at(time);
    T* candidates = cells_at(time);
    const T* before = states_before(share.step);
    const T* c_before = share.step == 0 ? cell_ : cells_at(time_of(share.step - 1));
    for (int64_t r = share.first; r < share.last; ++r) {
      const int64_t at = r * hidden_ + share.unit;
      const Cell<T> cell{gates + r * row + share.unit,
                         bias_ + share.unit,
                         state_bias_ + share.unit,
                         candidates + at,
                         before + at,
                         c_before + at,
                         hidden + at,
                         candidates + at,
                         hidden_,
                         share.unit_end - share.unit,
                         clip_};
      if (!ended(time, r)) {
        cell_fn_(cell);
      } else {
        if (mode_ == Mode::kLstm) std::copy_n(cell.c_before, cell.count, cell.c);
        if (projected_)
          std::fill_n(cell.h, cell.count, T{0});
        else
          std::copy_n(cell.h_before, cell.count, cell.h);
      }
    }
  }

  void project(const Share& share, const T* hidden) {
    Products::keep_rows(hidden, hidden_places_, batch_, hidden_, share.first, share.last);
    products_.multiply(
        share.last - share.first, out_, hidden_,
        Products::factors(hidden, hidden_places_) + share.first * Products::row_size(hidden_),
        projection_, states_after(share.step) + share.first * out_, out_, false, 0, out_);
  }

  // States become output, zeros where a sequence has ended, and factors of the next step.
  void hand_out(const Share& share, T* y) {
    const int64_t time = time_of(share.step), count = share.unit_end - share.unit;
    T* after = states_after(share.step);
    for (int64_t r = share.first; r < share.last; ++r) {
      T* to = y + (time * batch_ + r) * width_ + share.unit;
      if (ended(time, r)) {
        if (projected_) std::copy_n(states_before(share.step) + r * out_, out_, after + r * out_);
        std::fill_n(to, count, T{0});
      } else {
        std::copy_n(after + r * out_ + share.unit, count, to);
      }
      products_.keep_units(after, places_after(share.step), out_, r, share.unit, share.unit_end);
    }
  }

  bool ended(int64_t time, int64_t row) const {
    return lengths_ != nullptr && time >= lengths_[row];
  }

  const Products products_;
  const StepShape shape_;
  const Mode mode_;
  const int gates_;
  const int64_t steps_, batch_, hidden_, out_, width_;
  const bool reverse_, projected_;
  const int64_t* const lengths_;
  const CellForward<T> cell_fn_;
  const Clip clip_;
  int64_t input_size_, input_stride_, state_stride_;  // strides: from gate to gate
  const T *input_weights_, *state_weights_, *projection_ = nullptr;
  std::shared_ptr<const std::byte> kept_;  // the packed weights, where a cache has them
  const T *bias_, *state_bias_, *state_, *cell_;
  T *gate_values_, *cells_, *unprojected_;
  T* states_[2];  // before and after a step, in turns
  // Of the states, the input and the hidden units before their projection.
  Factor *state_places_[2], *input_places_, *hidden_places_ = nullptr;
};

}  // namespace mxnet::rnn
