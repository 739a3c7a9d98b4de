// SPDX-License-Identifier: Apache-2.0
// RNN (op/rnn/), where cuDNN does not compute it: the products with the whole input at once, then
// step by step a product with the state and a kernel of the cells.
#include "op/run/plugin_random.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/recurrent.h"
#include "plugin/cuda/rnn.cuh"

namespace mxnet {
namespace cuda {
namespace recurrent {
namespace {

// One step of the cells: a thread for each unit of each sample.
template <class T>
struct CellStep {
  Sizes<T> sizes;
  Lengths lengths;
  int64_t time;
  T* gates;           // in: products with the input; out: activated
  const T* products;  // with the state
  const T *input_bias, *state_bias;
  T* cells;  // LSTM: cell states; GRU: candidates' products with the state
  const T *c_before, *h_before;
  T* h;
  T* y;  // null: a projection follows

  MX_DEVICE void operator()(int64_t i) const {
    const int64_t sample = i / sizes.hidden, unit = i - sample * sizes.hidden;
    if (lengths.ended(time, sample)) {
      if (sizes.mode == Mode::kLstm) cells[i] = c_before[i];
      h[i] = y == nullptr ? T(0) : h_before[i];
    } else {
      h[i] = advance(i, sample * sizes.row() + unit, unit);
    }
    if (y != nullptr) y[sample * sizes.width + unit] = lengths.ended(time, sample) ? T(0) : h[i];
  }
  MX_DEVICE T before_activation(int64_t first, int64_t unit, int gate) const {
    const int64_t at = gate * sizes.hidden;
    return gates[first + at] + products[first + at] +
           (input_bias[at + unit] + state_bias[at + unit]);
  }
  MX_DEVICE T advance(int64_t i, int64_t first, int64_t unit) const {
    const int64_t next = sizes.hidden;
    const T x = before_activation(first, unit, 0);
    switch (sizes.mode) {
      case Mode::kRelu:
        return gates[first] = relu_unit(x);
      case Mode::kTanh:
        return gates[first] = tanh(x);
      case Mode::kLstm: {
        const T f = before_activation(first, unit, 1), g = before_activation(first, unit, 2),
                o = before_activation(first, unit, 3);
        const LstmUnit<T> out = sizes.clips
                                    ? lstm_unit<true>(x, f, g, o, c_before[i], sizes.bounds)
                                    : lstm_unit<false>(x, f, g, o, c_before[i], sizes.bounds);
        gates[first] = out.i;
        gates[first + next] = out.f;
        gates[first + 2 * next] = out.g;
        gates[first + 3 * next] = out.o;
        cells[i] = out.c;
        return out.h;
      }
      case Mode::kGru: {
        const int64_t candidate = 2 * next;
        const T state = products[first + candidate] + state_bias[candidate + unit];
        const GruUnit<T> out =
            gru_unit(x, before_activation(first, unit, 1),
                     gates[first + candidate] + input_bias[candidate + unit], state, h_before[i]);
        gates[first] = out.r;
        gates[first + next] = out.z;
        gates[first + candidate] = out.n;
        cells[i] = state;
        return out.h;
      }
    }
    return T(0);
  }
};

// After a projection.
template <class T>
struct ProjectedStep {
  Sizes<T> sizes;
  Lengths lengths;
  int64_t time;
  const T* before;
  T *after, *y;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t sample = i / sizes.out;
    const bool ended = lengths.ended(time, sample);
    if (ended) after[i] = before[i];
    y[sample * sizes.width + i - sample * sizes.out] = ended ? T(0) : after[i];
  }
};

template <class T>
void run_direction(const RnnParams& params, const Sizes<T>& sizes, const ParamLayout& layout,
                   const ReserveLayout& reserve, const ForwardArrays<T>& a, int64_t layer,
                   int direction, const T* x, T* y, NativeStream* stream, KernelContext& context) {
  const int64_t at = layer * params.directions() + direction, batch = sizes.batch;
  const int64_t row = sizes.row(), input_size = layout.input_size(layer);
  T* const gates = a.reserve + reserve.gates(layer, direction);
  T* const cells = a.reserve + reserve.cells(layer, direction);
  T* const unprojected = a.reserve + reserve.unprojected(layer, direction);
  const T* const first_cell = a.cell == nullptr ? nullptr : a.cell + at * batch * sizes.hidden;
  multiply(stream, context, false, true, sizes.places(), row, input_size, x,
           a.params + layout.input_weight(layer, direction), gates);
  T* const products = context.workspace_of<T>(batch * row);
  T* const states[2] = {context.workspace_of<T>(batch * sizes.out),
                        context.workspace_of<T>(batch * sizes.out)};
  copy(stream, a.state + at * batch * sizes.out, states[0], batch * sizes.out);
  for (int64_t step = 0; step < sizes.steps; ++step) {
    const int64_t time = sizes.time_of(step), place = time * batch;
    const T* const before = states[step % 2];
    T* const after = states[(step + 1) % 2];
    T* const h = sizes.projected ? unprojected + place * sizes.hidden : after;
    T* const y_now = y + place * sizes.width;
    multiply(stream, context, false, true, batch, row, sizes.out, before,
             a.params + layout.state_weight(layer, direction), products);
    for_each(
        stream, "RNN", batch * sizes.hidden,
        CellStep<T>{sizes, a.lengths, time, gates + place * row, products,
                    a.params + layout.input_bias(layer, direction),
                    a.params + layout.state_bias(layer, direction), cells + place * sizes.hidden,
                    step == 0 ? first_cell : cells + sizes.time_of(step - 1) * batch * sizes.hidden,
                    before, h, sizes.projected ? nullptr : y_now});
    if (!sizes.projected) continue;
    multiply(stream, context, false, true, batch, sizes.out, sizes.hidden, h,
             a.params + layout.projection(layer, direction), after);
    for_each(stream, "RNN", batch * sizes.out,
             ProjectedStep<T>{sizes, a.lengths, time, before, after, y_now});
  }
  if (a.state_out != nullptr)
    copy(stream, states[sizes.steps % 2], a.state_out + at * batch * sizes.out, batch * sizes.out);
  if (a.cell_out != nullptr) {
    const int64_t last = sizes.time_of(sizes.steps - 1) * batch * sizes.hidden;
    copy(stream, sizes.steps == 0 ? first_cell : cells + last,
         a.cell_out + at * batch * sizes.hidden, batch * sizes.hidden);
  }
}

// Factors of dropout, 0 or 1 / (1 - p), and what is left of x; 1 where nothing is dropped.
template <class T>
void drop(float p, const T* x, T* factors, T* dropped, int64_t count, NativeStream* stream,
          const KernelContext& context) {
  const Shape shape{count};
  const Tensor mask{factors, &shape, dtype_of<T>}, from{const_cast<T*>(x), &shape, dtype_of<T>},
      to{dropped, &shape, dtype_of<T>};
  if (context.training())
    return keep_mask(stream, draw_plugin_key(context.device()), 1 - p, mask, &from, &to);
  fill(stream, mask, 1);
  convert(stream, from, to);
}

}  // namespace

template <class T>
void run_forward(const RnnParams& params, const Extent& extent, const ForwardArrays<T>& a,
                 NativeStream* stream, KernelContext& context) {
  const auto [steps, batch, input] = extent;
  const ParamLayout layout(params, input);
  const ReserveLayout reserve(params, steps, batch);
  const int64_t count = steps * batch * params.out() * params.directions();
  const T* x = a.data;
  for (int64_t layer = 0; layer < params.num_layers; ++layer) {
    const bool last = layer + 1 == params.num_layers;
    T* const y = last ? a.out : a.reserve + reserve.handed_up(layer);
    for (int d = 0; d < params.directions(); ++d) {
      run_direction(params, Sizes<T>(params, steps, batch, d), layout, reserve, a, layer, d, x,
                    y + d * params.out(), stream, context);
    }
    x = y;
    if (last || params.p <= 0) continue;
    T* const dropped = context.workspace_of<T>(count);
    drop(params.p, y, a.reserve + reserve.dropout(layer), dropped, count, stream, context);
    x = dropped;
  }
}

template void run_forward(const RnnParams&, const Extent&, const ForwardArrays<float>&,
                          NativeStream*, KernelContext&);
template void run_forward(const RnnParams&, const Extent&, const ForwardArrays<double>&,
                          NativeStream*, KernelContext&);

namespace {

void forward(const RnnParams& params, KernelContext& context) {
  if (forward_by_cudnn(params, context)) return;
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    ForwardArrays<T> a{};
    a.data = arrays.in(0);
    a.params = arrays.in(1);
    a.state = arrays.in(2);
    if (params.has_cell()) a.cell = arrays.in(3);
    if (params.use_sequence_length) {
      const Tensor& lengths = context.in(params.length_input());
      a.lengths = {{lengths.data, lengths.dtype}};
    }
    a.out = arrays.out(0);
    int next = 1;
    if (params.state_outputs) {
      a.state_out = arrays.out(next++);
      if (params.has_cell()) a.cell_out = arrays.out(next++);
    }
    a.reserve = context.out(next).template as<T>();
    const Tensor& data = context.in(0);
    run_forward(params, {data.dim(0), data.dim(1), data.dim(2)}, a, arrays.stream(), context);
  });
}

}  // namespace
}  // namespace recurrent

void add_recurrent(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<rnn::RnnParams, recurrent::forward>("RNN"));
}

}  // namespace cuda
}  // namespace mxnet
