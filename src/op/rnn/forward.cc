// SPDX-License-Identifier: Apache-2.0
// Forward: layer after layer, dropout between them; what switches choose.
#include <algorithm>
#include <optional>

#include "base/config.h"
#include "op/generators/random_draws.h"
#include "op/generators/random_streams.h"
#include "op/products/packed_bfloat16.h"
#include "op/rnn/forward_layer.h"
#include "op/rnn/network.h"

namespace mxnet::rnn {
namespace {

// Factors of dropout, 0 or 1 / (1 - p).
template <class T>
void draw_factors(float p, int64_t count, T* factors, Device device) {
  const T kept = p < 1 ? static_cast<T>(1 / (1 - double{p})) : T{0};
  RandomStreams::of(device).deal(count, 4, [&](Mt19937& stream, int64_t first, int64_t last) {
    Draws draws(stream);
    for (int64_t i = first; i < last; ++i)
      factors[i] = draws.template uniform<float>() < p ? T{0} : kept;
  });
}

}  // namespace

bool packed_weights_chosen() { return config().onednn.enabled && config().onednn.use_rnn; }

std::optional<MultipliedBy> by_matrix_unit(bool there, bool gains) {
  const int chosen = config().onednn.rnn_matrix_unit;
  if (chosen == 0 || (chosen == 1 && !(there && gains))) return {};
  return there ? MultipliedBy::kUnit : MultipliedBy::kLoops;
}

bool multiplies_bfloat16(const RnnParams& params, int64_t input_size) {
  const bool even = input_size % 2 == 0 && params.hidden() % 2 == 0 && params.out() % 2 == 0;
  return even && packed_bfloat16::available();
}

template <class T>
void run_forward(const RnnParams& params, const Extent& extent, const ForwardArrays<T>& arrays,
                 KernelContext& context) {
  const ReserveLayout reserve(params, extent.steps, extent.batch);
  const int64_t width = params.out() * params.directions();
  const int64_t count = extent.steps * extent.batch * width;
  const T* x = arrays.data;
  T* dropped = nullptr;
  StrassenRuns runs(context);
  for (int64_t layer = 0; layer < params.num_layers; ++layer) {
    const bool last = layer + 1 == params.num_layers;
    T* y = last ? arrays.out : arrays.reserve + reserve.handed_up(layer);
    run_layer(params, extent, arrays, layer, x, y, runs, context);
    x = y;
    if (last || params.p <= 0) continue;
    T* factors = arrays.reserve + reserve.dropout(layer);
    if (!context.training()) {
      if (arrays.keeps_reserve) std::fill_n(factors, count, T{1});
      continue;
    }
    draw_factors(params.p, count, factors, context.device());
    if (dropped == nullptr) dropped = context.workspace_of<T>(count);
    for (int64_t i = 0; i < count; ++i) dropped[i] = y[i] * factors[i];
    x = dropped;
  }
  runs.run();
}

template void run_forward(const RnnParams&, const Extent&, const ForwardArrays<float>&,
                          KernelContext&);
template void run_forward(const RnnParams&, const Extent&, const ForwardArrays<double>&,
                          KernelContext&);

}  // namespace mxnet::rnn
