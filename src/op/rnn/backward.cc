// SPDX-License-Identifier: Apache-2.0
// Backward through time: step by step the gradients of the gates, then all gradients of weights and
// of the input as products over the whole sequence.
#include <algorithm>
#include <type_traits>

#include "op/products/bfloat16_tiles.h"
#include "op/products/blas.h"
#include "op/products/digit_products.h"
#include "op/products/packed_bfloat16.h"
#include "op/products/packed_gemm.h"
#include "op/products/products.h"
#include "op/rnn/cells.h"
#include "op/rnn/network.h"
#include "op/rnn/steps.h"
#include "op/run/parallel_each.h"

namespace mxnet::rnn {
namespace {

using packed_gemm::multiply;
using packed_gemm::pack;
using packed_gemm::packed_size;

// What one direction of one layer works on; y, dy and dx have rows of all directions.
template <class T>
struct Place {
  int64_t layer;
  int direction;
  const T *x, *y, *dy;
  T* dx;        // null: nobody asks
  bool add_dx;  // another direction was there before
};

// One direction of one layer. Used by the thread of the kernel; run_step() runs on several, on rows
// and units of their own.
template <class T>
class Direction {
 public:
  Direction(const RnnParams& params, const Extent& extent, const HostBackwardArrays<T>& arrays,
            const Place<T>& place, KernelContext& context)
      : mode_(params.mode),
        gates_(params.gates()),
        steps_(extent.steps),
        batch_(extent.batch),
        hidden_(params.hidden()),
        out_(params.out()),
        width_(out_ * params.directions()),
        main_(params.mode == Mode::kGru ? 2 * hidden_ : gates_ * hidden_),
        reverse_(place.direction == 1),
        projected_(params.projection_size.has_value()),
        arrays_(arrays),
        place_(place),
        layout_(params, extent.input_size),
        cell_fn_(cell_backward<T>(params.mode)),
        clip_(clip_of(params)),
        context_(context) {
    const ReserveLayout reserve(params, steps_, batch_);
    const int64_t layer = place.layer, at = layer * params.directions() + place.direction;
    const int d = place.direction;
    input_size_ = layout_.input_size(layer);
    gate_values_ = arrays.reserve + reserve.gates(layer, d);
    cells_ = arrays.reserve + reserve.cells(layer, d);
    unprojected_ = arrays.reserve + reserve.unprojected(layer, d);
    state_ = arrays.state + at * batch_ * out_;
    cell_ = arrays.cell == nullptr ? nullptr : arrays.cell + at * batch_ * hidden_;
    state_at_ = at * batch_ * out_;
    cell_at_ = at * batch_ * hidden_;
    pack_weights();
    allocate();
  }

  void run() {
    const int64_t work = gates_ * hidden_ + (projected_ ? hidden_ : 0);
    const StepShape shape{steps_, batch_, out_, work, packed_gemm::panel_columns<T>(), projected_};
    each_step(shape, 0, steps_ + 1,
              [&](int64_t step, int64_t first, int64_t last, int64_t unit, int64_t unit_end) {
                run_step(steps_ - 1 - step, first, last, unit, unit_end);
              });
    if (arrays_.dstate != nullptr) std::copy_n(dh_, batch_ * out_, arrays_.dstate + state_at_);
    if (arrays_.dcell != nullptr) std::copy_n(dc_, batch_ * hidden_, arrays_.dcell + cell_at_);
    if (arrays_.dparams != nullptr) weight_gradients(arrays_.dparams);
    if (place_.dx == nullptr) return;
    product(steps_ * batch_, input_size_, gates_ * hidden_, {dgates_, gates_ * hidden_, 1},
            {arrays_.params + layout_.input_weight(place_.layer, place_.direction), input_size_, 1},
            place_.dx, input_size_, place_.add_dx);
  }

 private:
  int64_t time_of(int64_t step) const { return reverse_ ? steps_ - 1 - step : step; }
  bool ended(int64_t time, int64_t row) const {
    return arrays_.lengths != nullptr && time >= arrays_.lengths[row];
  }
  bool has_candidate() const { return mode_ == Mode::kGru; }

  void pack_weights() {
    const T* weights = arrays_.params + layout_.state_weight(place_.layer, place_.direction);
    const T* projection_in_place =
        arrays_.params + layout_.projection(place_.layer, place_.direction);
    if (!arrays_.packs) {
      weights_ = weights;
      candidate_weights_ = weights + main_ * out_;
      projection_ = projection_in_place;
      return;
    }
    T* packed = context_.workspace_of<T>(packed_size<T>(main_, out_));
    T* candidate =
        has_candidate() ? context_.workspace_of<T>(packed_size<T>(hidden_, out_)) : nullptr;
    parallel_for(
        out_, static_cast<double>(gates_ * hidden_),
        [&](int64_t first, int64_t last) {
          pack<T>({weights, out_, 1}, main_, out_, first, last, packed);
          if (candidate != nullptr)
            pack<T>({weights + main_ * out_, out_, 1}, hidden_, out_, first, last, candidate);
        },
        packed_gemm::panel_columns<T>());
    weights_ = packed;
    candidate_weights_ = candidate;
    if (!projected_) return;
    T* projection = context_.workspace_of<T>(packed_size<T>(out_, hidden_));
    pack<T>({projection_in_place, hidden_, 1}, out_, hidden_, 0, hidden_, projection);
    projection_ = projection;
  }

  void allocate() {
    const int64_t places = steps_ * batch_;
    dgates_ = context_.workspace_of<T>(places * gates_ * hidden_);
    if (has_candidate()) dcandidates_ = context_.workspace_of<T>(places * hidden_);
    if (projected_) {
      dprojected_ = context_.workspace_of<T>(places * out_);
      dunprojected_ = context_.workspace_of<T>(batch_ * hidden_);
    }
    before_ = context_.workspace_of<T>(places * out_);
    dh_ = context_.workspace_of<T>(batch_ * out_);
    dc_ = context_.workspace_of<T>(batch_ * hidden_);
    const auto start = [](const T* from, int64_t count, T* to) {
      from == nullptr ? std::fill_n(to, count, T{0}) : std::copy_n(from, count, to);
    };
    start(arrays_.dstate_out == nullptr ? nullptr : arrays_.dstate_out + state_at_, batch_ * out_,
          dh_);
    start(arrays_.dcell_out == nullptr ? nullptr : arrays_.dcell_out + cell_at_, batch_ * hidden_,
          dc_);
  }

  // Step -1 only finds the gradient of the first state.
  void run_step(int64_t step, int64_t first, int64_t last, int64_t unit, int64_t unit_end) {
    const int64_t row = gates_ * hidden_, rows = last - first;
    if (step + 1 < steps_) {
      const int64_t later = time_of(step + 1) * batch_ + first;
      multiply_weights(rows, out_, main_, {dgates_ + later * row, row, 1}, weights_,
                       dh_ + first * out_, true, unit, unit_end);
      if (has_candidate()) {
        multiply_weights(rows, out_, hidden_, {dcandidates_ + later * hidden_, hidden_, 1},
                         candidate_weights_, dh_ + first * out_, true, unit, unit_end);
      }
    }
    if (step < 0) return;
    const int64_t time = time_of(step);
    for (int64_t r = first; r < last; ++r) {
      if (ended(time, r)) continue;
      const T* dy = place_.dy + (time * batch_ + r) * width_ + place_.direction * out_;
      for (int64_t j = unit; j < unit_end; ++j) dh_[r * out_ + j] += dy[j];
    }
    if (projected_) {
      project(time, first, last);
      unit_end = hidden_;
    }
    for (int64_t r = first; r < last; ++r) cell_gradient(step, r, unit, unit_end);
  }

  void project(int64_t time, int64_t first, int64_t last) {
    T* to = dprojected_ + time * batch_ * out_;
    for (int64_t r = first; r < last; ++r) {
      if (ended(time, r)) {
        std::fill_n(to + r * out_, out_, T{0});
      } else {
        std::copy_n(dh_ + r * out_, out_, to + r * out_);
        std::fill_n(dh_ + r * out_, out_, T{0});
      }
    }
    multiply_weights(last - first, hidden_, out_, {to + first * out_, out_, 1}, projection_,
                     dunprojected_ + first * hidden_, false, 0, hidden_);
  }

  void cell_gradient(int64_t step, int64_t r, int64_t unit, int64_t unit_end) {
    const int64_t time = time_of(step), row = time * batch_ + r, at = row * hidden_ + unit;
    const int64_t count = unit_end - unit, own = r * hidden_ + unit;
    T* dgates = dgates_ + row * gates_ * hidden_ + unit;
    // Only a sequence read from its end begins after steps that it does not have.
    const int64_t earlier = step == 0 ? 0 : time_of(step - 1);
    const bool is_first = step == 0 || ended(earlier, r);
    if (!projected_ || unit == 0) {
      const int64_t columns = projected_ ? out_ : count;
      const T* h = is_first ? state_ + r * out_
                            : place_.y + (earlier * batch_ + r) * width_ + place_.direction * out_;
      std::copy_n(h + unit, columns, before_ + row * out_ + unit);
    }
    if (ended(time, r)) {
      for (int g = 0; g < gates_; ++g) std::fill_n(dgates + g * hidden_, count, T{0});
      if (has_candidate()) std::fill_n(dcandidates_ + at, count, T{0});
      return;
    }
    const T* c_before = step == 0 ? cell_ + own : cells_ + (earlier * batch_ + r) * hidden_ + unit;
    cell_fn_({gate_values_ + row * gates_ * hidden_ + unit, cells_ + at, before_ + at, c_before,
              cells_ + at, nullptr, projected_ ? dunprojected_ + own : dh_ + own, dc_ + own, dgates,
              dcandidates_ + at, hidden_, count, clip_});
  }

  // Columns [first, last) of n of the product of rows with weights as pack_weights() leaves them; c
  // has rows of n.
  void multiply_weights(int64_t m, int64_t n, int64_t k, const packed_gemm::View<T>& a,
                        const T* weights, T* c, bool add, int64_t first, int64_t last) {
    if (arrays_.packs) return multiply<T>(m, n, k, a, weights, c, n, add, first, last);
    blas::gemm(false, false, m, last - first, k, T{1}, a.data, a.row, weights + first, n,
               add ? T{1} : T{0}, c + first, n);
  }

  // Over the whole sequence, in all threads.
  void product(int64_t m, int64_t n, int64_t k, const packed_gemm::View<T>& a,
               const packed_gemm::View<T>& b, T* c, int64_t ldc, bool add) {
    if (!arrays_.packs) {
      constexpr int64_t kAlone[] = {0};
      const bool turned = a.column != 1;
      return mxnet::multiply(Products<T>{turned, false, m, n, k, a.data, turned ? a.column : a.row,
                                         b.data, b.row, c, ldc, T{1}, add ? T{1} : T{0}, kAlone,
                                         kAlone, kAlone});
    }
    if constexpr (std::is_same_v<T, float>) {
      if (arrays_.narrow) {
        if (const auto by = by_matrix_unit(Bfloat16Tiles::available()))
          return product_of_lines<Bfloat16Tiles>(*by, m, n, k, a, b, c, ldc, add, context_);
      } else if (const auto by = by_matrix_unit(DigitProducts::available(), gains(m, n, k))) {
        if (multiply_digits(*by, m, n, k, a, b, c, ldc, add)) return;
      }
      if (arrays_.narrow) return packed_bfloat16::product(m, n, k, a, b, c, ldc, add, context_);
    }
    packed_gemm::product<T>(m, n, k, a, b, c, ldc, add, context_);
  }

  // Looking at factors, splitting them and putting sums together takes less than is saved.
  static bool gains(int64_t m, int64_t n, int64_t k) {
    constexpr int64_t kLeastSide = 256, kLeast = 3 << 27;
    return std::min({m, n, k}) >= kLeastSide && m * n * k >= kLeast;
  }

  // False where numbers forbid it.
  bool multiply_digits(MultipliedBy by, int64_t m, int64_t n, int64_t k,
                       const packed_gemm::View<float>& a, const packed_gemm::View<float>& b,
                       float* c, int64_t ldc, bool add) {
    // Gradients of the gates meet what the weights of the input were multiplied with, and then what
    // those of the state were.
    if (a.data != packed_data_ || a.row != packed_row_ || m != packed_rows_) {
      packed_left_ = DigitProducts::pack_suitable({a.data, a.row, a.column}, m, k, false, context_);
      packed_data_ = a.data;
      packed_row_ = a.row;
      packed_rows_ = m;
    }
    if (packed_left_ == nullptr) return false;
    const int8_t* right =
        DigitProducts::pack_suitable({b.data, b.column, b.row}, n, k, true, context_);
    if (right == nullptr) return false;
    multiply_lines<DigitProducts>(by, m, n, k, packed_left_, right, c, ldc, add);
    return true;
  }

  void weight_gradients(T* to) {
    const int64_t places = steps_ * batch_, row = gates_ * hidden_, layer = place_.layer;
    const int d = place_.direction;
    // The transpose of dgates times what the weights were multiplied with.
    const packed_gemm::View<T> main{dgates_, 1, row}, candidate{dcandidates_, 1, hidden_};
    const packed_gemm::View<T> before{before_, out_, 1};
    product(row, input_size_, places, main, {place_.x, input_size_, 1},
            to + layout_.input_weight(layer, d), input_size_, false);
    T* state = to + layout_.state_weight(layer, d);
    product(main_, out_, places, main, before, state, out_, false);
    if (has_candidate()) {
      product(hidden_, out_, places, candidate, before, state + main_ * out_, out_, false);
    }
    if (projected_) {
      product(out_, hidden_, places, {dprojected_, 1, out_}, {unprojected_, hidden_, 1},
              to + layout_.projection(layer, d), hidden_, false);
    }
    T* bias = to + layout_.input_bias(layer, d);
    sum_rows(dgates_, row, bias, row);
    T* state_bias = to + layout_.state_bias(layer, d);
    std::copy_n(bias, main_, state_bias);
    if (has_candidate()) sum_rows(dcandidates_, hidden_, state_bias + main_, hidden_);
  }

  void sum_rows(const T* from, int64_t stride, T* to, int64_t count) {
    std::fill_n(to, count, T{0});
    parallel_for(count, static_cast<double>(steps_ * batch_) * kFlop,
                 [&](int64_t first, int64_t last) {
                   add_rows(from + first, steps_ * batch_, stride, to + first, last - first);
                 });
  }

  const Mode mode_;
  const int gates_;
  const int64_t steps_, batch_, hidden_, out_, width_;
  const int64_t main_;  // rows of the state's weights whose gradients are those of the input's
  const bool reverse_, projected_;
  const HostBackwardArrays<T>& arrays_;
  const Place<T> place_;
  const ParamLayout layout_;
  const CellBackward<T> cell_fn_;
  const Clip clip_;
  KernelContext& context_;
  int64_t input_size_, state_at_, cell_at_;
  const T *gate_values_, *cells_, *unprojected_, *state_, *cell_;
  const T *weights_, *candidate_weights_, *projection_ = nullptr;
  T *dgates_, *dcandidates_ = nullptr, *dprojected_ = nullptr, *dunprojected_ = nullptr;
  T* before_;  // states before each step
  T *dh_, *dc_;
  // The left factor of the last product in digits, and what it was made of.
  const int8_t* packed_left_ = nullptr;
  const float* packed_data_ = nullptr;
  int64_t packed_row_ = 0, packed_rows_ = 0;
};

template <class T>
void scale(const T* a, const T* b, T* to, int64_t count) {
  parallel_each(count, 1.0, [=](int64_t i) { to[i] = a[i] * b[i]; });
}

}  // namespace

template <class T>
void run_backward(const RnnParams& params, const Extent& extent,
                  const HostBackwardArrays<T>& arrays, KernelContext& context) {
  const ReserveLayout reserve(params, extent.steps, extent.batch);
  const int64_t count = extent.steps * extent.batch * params.out() * params.directions();
  const T* dy = arrays.dout;
  T* dropped = nullptr;
  for (int64_t layer = params.num_layers - 1; layer >= 0; --layer) {
    const bool last = layer + 1 == params.num_layers;
    const T* x = layer == 0 ? arrays.data : arrays.reserve + reserve.handed_up(layer - 1);
    const T* factors =
        layer > 0 && params.p > 0 ? arrays.reserve + reserve.dropout(layer - 1) : nullptr;
    if (factors != nullptr) {
      if (dropped == nullptr) dropped = context.workspace_of<T>(count);
      scale(x, factors, dropped, count);
      x = dropped;
    }
    T* dx = layer == 0 ? arrays.ddata : context.workspace_of<T>(count);
    const T* y = last ? arrays.out : arrays.reserve + reserve.handed_up(layer);
    for (int d = 0; d < params.directions(); ++d)
      Direction<T>(params, extent, arrays, {layer, d, x, y, dy, dx, d > 0}, context).run();
    if (factors != nullptr) scale(dx, factors, dx, count);
    dy = dx;
  }
}

template void run_backward(const RnnParams&, const Extent&, const HostBackwardArrays<float>&,
                           KernelContext&);
template void run_backward(const RnnParams&, const Extent&, const HostBackwardArrays<double>&,
                           KernelContext&);

}  // namespace mxnet::rnn
