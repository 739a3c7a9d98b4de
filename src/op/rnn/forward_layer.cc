// SPDX-License-Identifier: Apache-2.0
// Which products a layer's weights, sizes and numbers ask for, and its directions one after the
// other or beside each other.
#include "op/rnn/forward_layer.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "base/config.h"
#include "op/rnn/forward_direction.h"
#include "op/rnn/forward_units.h"
#include "op/rnn/magnitudes.h"
#include "op/rnn/steps.h"
#include "op/rnn/weight_products.h"

namespace mxnet::rnn {
namespace {

// Whether tiles of rows begin at each step.
bool has_whole_tiles(const Extent& extent) {
  return extent.steps > 0 && extent.batch > 0 && extent.batch % kLinesOfTile == 0;
}

std::optional<OfDigits> digits_for(const RnnParams& params, const Extent& extent,
                                   const ForwardArrays<float>& arrays, int64_t layer, int direction,
                                   const float* x, StrassenRuns& runs) {
  const int64_t inputs = ParamLayout(params, extent.input_size).input_size(layer);
  // Of fewer numbers, splitting them and putting sums together takes longer than is saved.
  constexpr int64_t kLeast = 256;
  const auto by =
      by_matrix_unit(DigitProducts::available(), std::min(inputs, params.hidden()) >= kLeast);
  // Of relu nobody knows how large states become; a projection would be looked at at each step.
  if (!by || !arrays.packs || !has_whole_tiles(extent) || params.mode == Mode::kRelu ||
      params.projection_size)
    return {};
  runs.run();
  const Magnitudes most = magnitudes(params, extent, arrays, layer, direction, x);
  if (!may_be_mixed(most, inputs, params.hidden())) return {};
  return OfDigits{{*by}, most.state};
}

template <class Products, class T>
void hand_out_states(const ForwardDirection<Products>& direction, const RnnParams& params,
                     const Extent& extent, const ForwardArrays<T>& arrays, int64_t layer, int d) {
  if (arrays.state_out == nullptr) return;
  const int64_t at = (layer * params.directions() + d) * extent.batch;
  direction.final_states(
      arrays.state_out + at * params.out(),
      arrays.cell_out == nullptr ? nullptr : arrays.cell_out + at * params.hidden());
}

template <class Products, class T>
void run_direction(const Products& products, const RnnParams& params, const Extent& extent,
                   const ForwardArrays<T>& arrays, int64_t layer, int d, const T* x, T* y,
                   StrassenRuns& runs, KernelContext& context) {
  if constexpr (std::is_same_v<Products, OwnProducts<float>>) {
    if (const auto digits = digits_for(params, extent, arrays, layer, d, x, runs))
      return run_direction(*digits, params, extent, arrays, layer, d, x, y, runs, context);
    // Sizes alone decide, so that no layer below waits in `runs`.
    if (config().onednn.rnn_strassen < 2 &&
        run_by_units(params, extent, arrays, layer, d, x, y + d * params.out(), context))
      return;
    if (runs.add(params, extent, arrays, layer, d, x, y + d * params.out())) return;
  }
  runs.run();
  ForwardDirection<Products> direction(products, params, extent, arrays, layer, d, context);
  direction.run(x, y + d * params.out());
  hand_out_states(direction, params, extent, arrays, layer, d);
}

// One direction of a layer, by the products that its weights ask for.
template <class T>
void run_alone(const RnnParams& params, const Extent& extent, const ForwardArrays<T>& arrays,
               int64_t layer, int d, const T* x, T* y, StrassenRuns& runs, KernelContext& context) {
  const auto run = [&](const auto& products) {
    run_direction(products, params, extent, arrays, layer, d, x, y, runs, context);
  };
  if constexpr (std::is_same_v<T, float>) {
    if (arrays.narrow_params != nullptr) {
      const auto by = by_matrix_unit(Bfloat16Tiles::available());
      return by && has_whole_tiles(extent) ? run(OfBfloat16Tiles{{*by}}) : run(Bfloat16Products{});
    }
  }
  run(OwnProducts<T>{arrays.packs});
}

// Both directions of a layer beside each other, each on a thread.
template <class T>
void run_both(const RnnParams& params, const Extent& extent, const ForwardArrays<T>& arrays,
              int64_t layer, const T* x, T* y, KernelContext& context) {
  using Own = ForwardDirection<OwnProducts<T>>;
  const OwnProducts<T> products{arrays.packs};
  Own both[]{{products, params, extent, arrays, layer, 0, context},
             {products, params, extent, arrays, layer, 1, context}};
  parallel_for(
      2, cost_of_steps(Own::shape_of(params, extent)),
      [&](int64_t first, int64_t last) {
        for (int64_t d = first; d < last; ++d) both[d].run(x, y + d * params.out());
      },
      1);
  for (int d = 0; d < 2; ++d) hand_out_states(both[d], params, extent, arrays, layer, d);
}

}  // namespace

template <class T>
void run_layer(const RnnParams& params, const Extent& extent, const ForwardArrays<T>& arrays,
               int64_t layer, const T* x, T* y, StrassenRuns& runs, KernelContext& context) {
  if (params.directions() == 2 && arrays.narrow_params == nullptr && !has_whole_tiles(extent) &&
      one_thread_each(ForwardDirection<OwnProducts<T>>::shape_of(params, extent)))
    return run_both(params, extent, arrays, layer, x, y, context);
  for (int d = 0; d < params.directions(); ++d)
    run_alone(params, extent, arrays, layer, d, x, y, runs, context);
}

template void run_layer(const RnnParams&, const Extent&, const ForwardArrays<float>&, int64_t,
                        const float*, float*, StrassenRuns&, KernelContext&);
template void run_layer(const RnnParams&, const Extent&, const ForwardArrays<double>&, int64_t,
                        const double*, double*, StrassenRuns&, KernelContext&);

}  // namespace mxnet::rnn
