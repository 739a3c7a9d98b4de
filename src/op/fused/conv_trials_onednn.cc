// SPDX-License-Identifier: Apache-2.0
// A direct convolution, timed in the layouts of a plan.
#include <omp.h>

#include <chrono>
#include <limits>

#include "base/error.h"
#include "op/fused/conv_trials.h"
#include "op/nn/conv_arrays_onednn.h"
#include "op/onednn/layout.h"

namespace mxnet {

double seconds_of_direct(const ConvGeometry& g, DType type, int threads) {
  using dnnl::memory;
  const memory::data_type number = onednn::data_type(type);
  constexpr int kRuns = 4;
  MX_ASSERT(threads == omp_get_max_threads());  // what primitives are compiled for
  const onednn::ConvArrays a(g);
  const auto desc = onednn::implemented([&] {
    return dnnl::convolution_forward::primitive_desc(
        onednn::engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
        onednn::channel_blocks(a.image(), number), onednn::any_layout(a.weight(), number),
        memory::desc(), onednn::channel_blocks(a.map(), number), a.stride(), a.dilate(), a.pad(),
        a.pad_behind());
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

}  // namespace mxnet
