// SPDX-License-Identifier: Apache-2.0
// A direct convolution, timed in the layouts that a plan may give it.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/error.h"
#include "op/fused/conv_trials.h"
#include "op/nn/conv_arrays_onednn.h"
#include "op/onednn/layout.h"

namespace mxnet {

namespace {

using dnnl::memory;

// With images and maps that `lie` makes of their sizes; infinite where there is nothing.
template <class Lie>
double seconds_lying(const ConvGeometry& g, memory::data_type number, const Lie& lie) {
  constexpr int kRuns = 4;
  const onednn::ConvArrays a(g);
  const auto desc = onednn::implemented([&] {
    return dnnl::convolution_forward::primitive_desc(
        onednn::engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
        lie(a.image(), number), onednn::any_layout(a.weight(), number), memory::desc(),
        lie(a.map(), number), a.stride(), a.dilate(), a.pad(), a.pad_behind(),
        dnnl::primitive_attr());
  });
  double best = std::numeric_limits<double>::infinity();
  if (!desc) return best;
  const dnnl::convolution_forward conv(*desc);
  const memory image(desc->src_desc(), onednn::engine()), map(desc->dst_desc(), onednn::engine());
  const memory weight(desc->weights_desc(), onednn::engine());
  for (const memory& array : {image, weight})  // in bfloat16 every second number is 1, others 0
    std::fill_n(static_cast<float*>(array.get_data_handle()),
                array.get_desc().get_size() / sizeof(float), 1.0F);
  for (int i = 0; i < kRuns; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    onednn::execute(
        conv,
        {{DNNL_ARG_SRC, image.get()}, {DNNL_ARG_WEIGHTS, weight.get()}, {DNNL_ARG_DST, map.get()}});
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    if (i > 0) best = std::min(best, time.count());
  }
  return best;
}

}  // namespace

double seconds_of_direct(const ConvGeometry& g, DType type, int threads) {
  MX_ASSERT(threads == omp_get_max_threads());  // what primitives are compiled for
  const memory::data_type number = onednn::data_type(type);
  const double in_blocks = seconds_lying(g, number, onednn::channel_blocks);
  // What plans choose where blocks would be padding to a large part.
  return g.pads_much() ? std::min(in_blocks, seconds_lying(g, number, onednn::channels_behind))
                       : in_blocks;
}

}  // namespace mxnet
