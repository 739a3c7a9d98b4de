// SPDX-License-Identifier: Apache-2.0
// The gradient of RNN, where cuDNN does not compute it: step by step the gradients of the gates,
// then those of weights and of the input as products over the whole sequence.
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/recurrent.h"
#include "plugin/cuda/rnn.cuh"

namespace mxnet {
namespace cuda {
namespace recurrent {
namespace {

// What a step back is about: what comes from later steps and from above becomes the gradient of the
// state after it.
template <class T>
struct StepBack {
  Sizes<T> sizes;
  Lengths lengths;
  int64_t time, earlier;    // times of this step and of the one before
  bool first;               // there is none before
  const T* products;        // of later gates' gradients with the weights; null at the last step
  const T *dy, *y, *state;  // rows of this direction; y and state are states before steps
  T *dh, *before;           // of dh what goes past the products stays

  MX_DEVICE T arriving(int64_t i, int64_t sample, int64_t unit) const {
    T d = dh[i];
    if (products != nullptr) d += products[i];
    if (!lengths.ended(time, sample)) d += dy[(time * sizes.batch + sample) * sizes.width + unit];
    return d;
  }
  // Only a sequence read from its end begins after steps that it does not have.
  MX_DEVICE void keep_before(int64_t i, int64_t sample, int64_t unit) const {
    const bool is_first = first || lengths.ended(earlier, sample);
    before[time * sizes.batch * sizes.out + i] =
        is_first ? state[i] : y[(earlier * sizes.batch + sample) * sizes.width + unit];
  }
};

// Before the cells where the hidden units were projected.
template <class T>
struct ProjectionBack {
  StepBack<T> step;
  T* dprojected;  // of this time
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t sample = i / step.sizes.out, unit = i - sample * step.sizes.out;
    const T d = step.arriving(i, sample, unit);
    const bool ended = step.lengths.ended(step.time, sample);
    step.keep_before(i, sample, unit);
    dprojected[i] = ended ? T(0) : d;
    step.dh[i] = ended ? d : T(0);
  }
};

// The cells: a thread for each unit of each sample.
template <class T>
struct CellBack {
  StepBack<T> step;
  const T *gates, *cells, *c_before;  // of this time; of the one before
  const T* dunprojected;              // null: without a projection
  T* dc;
  T *dgates, *dstates;  // of products with the input and with the state

  MX_DEVICE void operator()(int64_t i) const {
    const Sizes<T>& sizes = step.sizes;
    const int64_t sample = i / sizes.hidden, unit = i - sample * sizes.hidden;
    const int64_t first = sample * sizes.row() + unit;
    const bool ended = step.lengths.ended(step.time, sample);
    T d;
    if (dunprojected != nullptr) {
      d = dunprojected[i];
    } else {
      d = step.arriving(i, sample, unit);
      step.keep_before(i, sample, unit);
      step.dh[i] = ended ? d : T(0);
    }
    if (ended) {
      for (int g = 0; g < sizes.gates; ++g)
        dgates[first + g * sizes.hidden] = dstates[first + g * sizes.hidden] = T(0);
    } else {
      slopes(i, first, d);
    }
  }
  MX_DEVICE void slopes(int64_t i, int64_t first, T d) const {
    const Sizes<T>& sizes = step.sizes;
    const int64_t second = first + sizes.hidden, third = second + sizes.hidden;
    switch (sizes.mode) {
      case Mode::kRelu:
        dgates[first] = relu_slope(gates[first], d);
        break;
      case Mode::kTanh:
        dgates[first] = tanh_slope(gates[first], d);
        break;
      case Mode::kLstm: {
        const int64_t fourth = third + sizes.hidden;
        const T gi = gates[first], gf = gates[second], gg = gates[third], go = gates[fourth];
        const LstmSlopes<T> out =
            sizes.clips
                ? lstm_slopes<true>(gi, gf, gg, go, cells[i], c_before[i], d, dc[i], sizes.bounds)
                : lstm_slopes<false>(gi, gf, gg, go, cells[i], c_before[i], d, dc[i], sizes.bounds);
        dgates[first] = out.i;
        dgates[second] = out.f;
        dgates[third] = out.g;
        dgates[fourth] = out.o;
        dc[i] = out.before;
        break;
      }
      case Mode::kGru: {
        const T before = step.before[step.time * sizes.batch * sizes.out + i];
        const GruSlopes<T> out =
            gru_slopes(gates[first], gates[second], gates[third], cells[i], before, d);
        dgates[first] = dstates[first] = out.r;
        dgates[second] = dstates[second] = out.z;
        dgates[third] = out.n;
        dstates[third] = out.state;
        step.dh[i] = out.before;
        break;
      }
    }
  }
};

// One direction of one layer; y, dy and dx have rows of all directions.
template <class T>
class Direction {
 public:
  Direction(const RnnParams& params, const BackwardArrays<T>& a, const ParamLayout& layout,
            const ReserveLayout& reserve, const Sizes<T>& sizes, int64_t layer, int direction,
            NativeStream* stream, KernelContext& context)
      : a_(a),
        layout_(layout),
        sizes_(sizes),
        layer_(layer),
        direction_(direction),
        stream_(stream),
        context_(context),
        at_(layer * params.directions() + direction),
        gates_(a.reserve + reserve.gates(layer, direction)),
        cells_(a.reserve + reserve.cells(layer, direction)),
        unprojected_(a.reserve + reserve.unprojected(layer, direction)) {
    const int64_t places = sizes.places();
    dgates_ = context.workspace_of<T>(places * sizes.row());
    dstates_ = sizes.mode == Mode::kGru ? context.workspace_of<T>(places * sizes.row()) : dgates_;
    before_ = context.workspace_of<T>(places * sizes.out);
    products_ = context.workspace_of<T>(sizes.batch * sizes.out);
    dh_ = started(a.dstate_out, sizes.batch * sizes.out);
    dc_ = started(a.dcell_out, sizes.batch * sizes.hidden);
    if (!sizes.projected) return;
    dprojected_ = context.workspace_of<T>(places * sizes.out);
    dunprojected_ = context.workspace_of<T>(sizes.batch * sizes.hidden);
  }

  void run(const T* x, const T* y, const T* dy, T* dx, bool add_dx) {
    const int64_t first = direction_ * sizes_.out;
    for (int64_t step = sizes_.steps - 1; step >= 0; --step) step_back(step, y + first, dy + first);
    products_of(sizes_.time_of(0));
    const Shape state{sizes_.batch * sizes_.out};
    accumulate(stream_, {dh_, &state, dtype_of<T>}, {products_, &state, dtype_of<T>});
    if (a_.dstate != nullptr) copy(stream_, dh_, a_.dstate + at_ * state[0], state[0]);
    const int64_t cells = sizes_.batch * sizes_.hidden;
    if (a_.dcell != nullptr) copy(stream_, dc_, a_.dcell + at_ * cells, cells);
    if (a_.dparams != nullptr) weight_gradients(x);
    if (dx != nullptr) input_gradient(dx, add_dx);
  }

 private:
  T* started(const T* from, int64_t count) {
    T* const to = context_.workspace_of<T>(count);
    if (from == nullptr)
      clear(stream_, to, count);
    else
      copy(stream_, from + at_ * count, to, count);
    return to;
  }
  const T* weight(int64_t offset) const { return a_.params + offset; }

  void products_of(int64_t time) {
    multiply(stream_, context_, false, false, sizes_.batch, sizes_.out, sizes_.row(),
             dstates_ + time * sizes_.batch * sizes_.row(),
             weight(layout_.state_weight(layer_, direction_)), products_);
  }

  void step_back(int64_t step, const T* y, const T* dy) {
    const bool last = step + 1 == sizes_.steps;
    if (!last) products_of(sizes_.time_of(step + 1));
    const int64_t time = sizes_.time_of(step), batch = sizes_.batch, hidden = sizes_.hidden;
    const int64_t earlier = step == 0 ? 0 : sizes_.time_of(step - 1);
    const StepBack<T> back{sizes_,  a_.lengths, time,
                           earlier, step == 0,  last ? nullptr : products_,
                           dy,      y,          a_.state + at_ * batch * sizes_.out,
                           dh_,     before_};
    if (sizes_.projected) {
      T* const dprojected = dprojected_ + time * batch * sizes_.out;
      for_each(stream_, "RNN", batch * sizes_.out, ProjectionBack<T>{back, dprojected});
      multiply(stream_, context_, false, false, batch, hidden, sizes_.out, dprojected,
               weight(layout_.projection(layer_, direction_)), dunprojected_);
    }
    const int64_t row = time * batch * sizes_.row();
    const T* const first_cell = a_.cell == nullptr ? nullptr : a_.cell + at_ * batch * hidden;
    for_each(stream_, "RNN", batch * hidden,
             CellBack<T>{back, gates_ + row, cells_ + time * batch * hidden,
                         step == 0 ? first_cell : cells_ + earlier * batch * hidden, dunprojected_,
                         dc_, dgates_ + row, dstates_ + row});
  }

  // The transpose of the gates' gradients times what the weights were multiplied with.
  void weight_gradients(const T* x) {
    const int64_t places = sizes_.places(), row = sizes_.row();
    const auto of_weight = [&](const T* d, int64_t rows, const T* with, int64_t columns,
                               int64_t offset) {
      multiply(stream_, context_, true, false, rows, columns, places, d, with, a_.dparams + offset);
    };
    of_weight(dgates_, row, x, layout_.input_size(layer_),
              layout_.input_weight(layer_, direction_));
    of_weight(dstates_, row, before_, sizes_.out, layout_.state_weight(layer_, direction_));
    if (sizes_.projected)
      of_weight(dprojected_, sizes_.out, unprojected_, sizes_.hidden,
                layout_.projection(layer_, direction_));
    const Shape all{places, row}, sums{row};
    const auto of_bias = [&](T* d, int64_t offset) {
      constexpr uint32_t kRows = 1;  // axis 0
      reduce(stream_, {.reduction = Reduction::sum, .wide = false}, {d, &all, dtype_of<T>}, kRows,
             {a_.dparams + offset, &sums, dtype_of<T>}, context_);
    };
    of_bias(dgates_, layout_.input_bias(layer_, direction_));
    of_bias(dstates_, layout_.state_bias(layer_, direction_));
  }

  void input_gradient(T* dx, bool add) {
    const int64_t width = layout_.input_size(layer_);
    const Shape all{sizes_.places() * width};
    T* const to = add ? context_.workspace_of<T>(all[0]) : dx;
    multiply(stream_, context_, false, false, sizes_.places(), width, sizes_.row(), dgates_,
             weight(layout_.input_weight(layer_, direction_)), to);
    if (add) accumulate(stream_, {dx, &all, dtype_of<T>}, {to, &all, dtype_of<T>});
  }

  const BackwardArrays<T>& a_;
  const ParamLayout& layout_;
  const Sizes<T> sizes_;
  const int64_t layer_;
  const int direction_;
  NativeStream* const stream_;
  KernelContext& context_;
  const int64_t at_;
  const T *gates_, *cells_, *unprojected_;
  T *dgates_, *dstates_, *before_, *products_, *dh_, *dc_;
  T *dprojected_ = nullptr, *dunprojected_ = nullptr;
};

template <class T>
void scale(NativeStream* stream, const T* a, const T* b, T* to, int64_t count) {
  const Shape shape{count};
  binary(stream, static_cast<int>(BinaryRow::multiply), {const_cast<T*>(a), &shape, dtype_of<T>},
         {const_cast<T*>(b), &shape, dtype_of<T>}, {to, &shape, dtype_of<T>});
}

}  // namespace

template <class T>
void run_backward(const RnnParams& params, const Extent& extent, const BackwardArrays<T>& a,
                  NativeStream* stream, KernelContext& context) {
  const auto [steps, batch, input] = extent;
  const ParamLayout layout(params, input);
  const ReserveLayout reserve(params, steps, batch);
  const int64_t count = steps * batch * params.out() * params.directions();
  const T* dy = a.dout;
  for (int64_t layer = params.num_layers - 1; layer >= 0; --layer) {
    const bool last = layer + 1 == params.num_layers;
    const T* x = layer == 0 ? a.data : a.reserve + reserve.handed_up(layer - 1);
    const T* const factors =
        layer > 0 && params.p > 0 ? a.reserve + reserve.dropout(layer - 1) : nullptr;
    if (factors != nullptr) {
      T* const dropped = context.workspace_of<T>(count);
      scale(stream, x, factors, dropped, count);
      x = dropped;
    }
    T* const dx = layer == 0 ? a.ddata : context.workspace_of<T>(count);
    const T* const y = last ? a.out : a.reserve + reserve.handed_up(layer);
    for (int d = 0; d < params.directions(); ++d) {
      Direction<T>(params, a, layout, reserve, Sizes<T>(params, steps, batch, d), layer, d, stream,
                   context)
          .run(x, y, dy, dx, d > 0);
    }
    if (factors != nullptr) scale(stream, dx, factors, dx, count);
    dy = dx;
  }
}

template void run_backward(const RnnParams&, const Extent&, const BackwardArrays<float>&,
                           NativeStream*, KernelContext&);
template void run_backward(const RnnParams&, const Extent&, const BackwardArrays<double>&,
                           NativeStream*, KernelContext&);

namespace {

// Inputs: those of the operator, its output and reserve, gradients of its outputs.
void backward(const RnnParams& params, KernelContext& context) {
  if (backward_by_cudnn(params, context)) return;
  const bool empty = context.in(0).dim(0) == 0 || context.in(0).dim(1) == 0;
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    Lengths lengths{};
    if (params.use_sequence_length) {
      const Tensor& given = context.in(params.length_input());
      lengths = {{given.data, given.dtype}};
    }
    const auto clear = [&](int i) { fill(arrays.stream(), context.out(i), 0); };
    const auto a = rnn::backward_arrays<T>(params, lengths, arrays, empty, clear);
    if (empty) return;
    const Tensor& data = context.in(0);
    run_backward(params, {data.dim(0), data.dim(1), data.dim(2)}, a, arrays.stream(), context);
  });
}

}  // namespace
}  // namespace recurrent

void add_recurrent_slopes(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<rnn::RnnParams, recurrent::backward>("_backward_RNN"));
}

}  // namespace cuda
}  // namespace mxnet
