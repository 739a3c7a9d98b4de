// SPDX-License-Identifier: Apache-2.0
// The 3x3 convolutions with step 1 of ResNet-50, VGG-16 and Inception-v3: ours by Winograd beside
// oneDNN's direct convolution, each on the blocked layout that oneDNN prefers for its own, with
// bias and ReLU. Rates are those that a direct convolution would need: 2 * 9 operations a channel,
// filter and pixel.
//
//   bench_winograd [network] [batch] [threads]   (substring of a layer's name; 0 = 1 and 32; 0 = 1,
//   2)
#include <omp.h>
#include <dnnl.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "op/nn/winograd.h"
#include "op/onednn/runtime.h"
#include "winograd_bench.h"

namespace mxnet::winograd_bench {
namespace {

double direct_seconds(const Layer& l, int64_t batch, int64_t size_out,
                      dnnl::memory::data_type type = dnnl::memory::data_type::f32) {
  using dnnl::memory;
  const auto any = [type](const memory::dims& dims) {
    return memory::desc(dims, type, memory::format_tag::any);
  };
  dnnl::post_ops relu;
  relu.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(relu);
  const auto& engine = onednn::engine();
  const dnnl::convolution_forward::primitive_desc desc(
      engine, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      any({batch, l.channels, l.size, l.size}), any({l.filters, l.channels, 3, 3}),
      any({l.filters}), any({batch, l.filters, size_out, size_out}), {1, 1}, {l.pad, l.pad},
      {l.pad, l.pad}, attributes);
  const Array src = array(desc.src_desc().get_size()),
              weights = array(desc.weights_desc().get_size()),
              bias = array(desc.bias_desc().get_size()), dst = array(desc.dst_desc().get_size());
  const memory m[] = {{desc.src_desc(), engine, src.get()},
                      {desc.weights_desc(), engine, weights.get()},
                      {desc.bias_desc(), engine, bias.get()},
                      {desc.dst_desc(), engine, dst.get()}};
  const dnnl::convolution_forward conv(desc);
  dnnl::stream stream(engine);
  return seconds([&] {
    conv.execute(stream, {{DNNL_ARG_SRC, m[0]},
                          {DNNL_ARG_WEIGHTS, m[1]},
                          {DNNL_ARG_BIAS, m[2]},
                          {DNNL_ARG_DST, m[3]}});
    stream.wait();
  });
}

// With tiles of four, as WinogradConv takes it.
WinogradDesc describe(const Layer& l, int64_t batch) {
  return {.batch = batch,
          .channels = l.channels,
          .filters = l.filters,
          .height = l.size,
          .width = l.size,
          .pad_y = l.pad,
          .pad_x = l.pad,
          .src_blocked = l.channels > 3,  // images are plain
          .dst_blocked = true};
}

// With `pairs` of bfloat16, as between layers in bfloat16.
double winograd_seconds(const Layer& l, int64_t batch, int tile, int threads, bool narrow = false,
                        bool pairs = false) {
  WinogradDesc desc = describe(l, batch);
  desc.tile = tile;
  desc.src_narrow = desc.dst_narrow = narrow;
  desc.pairs = pairs;
  if (!WinogradConv::supported(desc)) return 0;
  const WinogradConv conv(desc, WinogradConv::best_isa());
  const auto rounded = [&](int64_t channels) {
    return (channels + conv.block() - 1) / conv.block() * conv.block();
  };
  const int64_t size_out = l.size + 2 * l.pad - 2;
  const Array src = floats(batch * rounded(l.channels) * l.size * l.size),
              weights = floats(l.filters * l.channels * 9), bias = floats(l.filters),
              dst = floats(batch * rounded(l.filters) * size_out * size_out),
              packed = array(conv.packed_bytes()), space = array(conv.workspace_bytes(threads));
  conv.pack(weights.get(), packed.get(), threads);
  return seconds([&] {
    conv.run(src.get(), packed.get(), {.bias = bias.get(), .low = 0}, dst.get(), space.get(),
             threads);
  });
}

// Until the threads have cores of their own and these have their clock rate.
void warm_up(int threads) {
  omp_set_num_threads(threads);
  for (int i = 0; i < 3; ++i) winograd_seconds(kLayers[9], 4, 4, threads);
}

void compare(const Layer& l, int64_t batch, int threads) {
  const int64_t size_out = l.size + 2 * l.pad - 2;
  const double giga = 18e-9 * static_cast<double>(batch * l.channels * l.filters) *
                      static_cast<double>(size_out * size_out);
  const double direct = direct_seconds(l, batch, size_out);
  const double four = winograd_seconds(l, batch, 4, threads);
  const double two = winograd_seconds(l, batch, 2, threads);
  // Between arrays of bfloat16: directly, in float with large tiles, by pairs with small ones.
  const double direct_16 = direct_seconds(l, batch, size_out, dnnl::memory::data_type::bf16);
  const double four_16 = winograd_seconds(l, batch, 4, threads, true);
  const double pairs = winograd_seconds(l, batch, 2, threads, true, true);
  const auto rate = [giga](double time) { return time > 0 ? giga / time : 0; };
  std::printf("%-20s %5ld %7d %8.2f %8.0f %8.0f %8.0f %8.2f %8.2f %8.0f %8.0f %8.0f\n", l.name,
              static_cast<long>(batch), threads, 1e3 * direct, rate(direct), rate(four), rate(two),
              direct / four, direct / two, rate(direct_16), rate(four_16), rate(pairs));
  std::fflush(stdout);
}

}  // namespace
}  // namespace mxnet::winograd_bench

int main(int argc, char** argv) {
  if (!mxnet::WinogradConv::has(mxnet::WinogradConv::Isa::kAvx2)) {
    std::puts("there are no loops for processors without AVX2");
    return 1;
  }
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "limits") {
    mxnet::winograd_bench::print_limits();
    return 0;
  }
  const long only_batch = argc > 2 ? std::atol(argv[2]) : 0;
  const int only_threads = argc > 3 ? std::atoi(argv[3]) : 0;
  std::printf("%-20s %5s %7s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "layer", "batch", "threads",
              "dir. ms", "direct", "F(4,3)", "F(2,3)", "ratio 4", "ratio 2", "bf16", "F(4,3)16",
              "pairs");
  for (const long batch : {1L, 32L}) {
    for (const int threads : {1, 2}) {
      if ((only_batch != 0 && only_batch != batch) ||
          (only_threads != 0 && only_threads != threads))
        continue;
      mxnet::winograd_bench::warm_up(threads);
      for (const auto& layer : mxnet::winograd_bench::kLayers) {
        if (std::string(layer.name).find(name) != std::string::npos)
          mxnet::winograd_bench::compare(layer, batch, threads);
      }
    }
  }
  return 0;
}
