// SPDX-License-Identifier: Apache-2.0
// LRN: each channel divided by a power of the squares of its neighbours (Krizhevsky et al. 2012).
#include <algorithm>
#include <vector>

#include "op/loops/row_io.h"
#include "op/norm/lrn.h"
#include "op/norm/norm_loops.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr int64_t kPositions = 512;  // of one channel at once: a few channels of them fit the cache
constexpr double kCost = 40.0;       // elementary operations an element: two powers

// fn(example, first position, positions, buffer): all positions in blocks. The buffer holds
// `buffers` runs of kPositions numbers.
template <class C, class F>
void for_positions(const RowLayout& channels, int64_t buffers, const F& fn) {
  const int64_t blocks = (channels.inner + kPositions - 1) / kPositions;
  parallel_for(
      channels.outer * blocks,
      kCost * static_cast<double>(channels.length * std::min(channels.inner, kPositions)),
      [&](int64_t first, int64_t last) {
        std::vector<C> buffer(static_cast<std::size_t>(buffers * kPositions));
        for (int64_t i = first; i < last; ++i) {
          const int64_t at = i % blocks * kPositions;
          fn(i / blocks, at, std::min(kPositions, channels.inner - at), buffer.data());
        }
      },
      1);
}

void forward(const LrnParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0), &norm = context.out(1);
  const RowLayout channels = rows_along(in.shape(), 1);
  with_row_type(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const NormLoops<C>& loops = norm_loops<C>();
    const C alpha = static_cast<C>(params.alpha) / static_cast<C>(params.nsize);
    const bool ready = lies_ready<C>(in, 1);
    const int64_t buffers = 3 + (ready ? 0 : channels.length);
    for_positions<C>(
        channels, buffers, [&](int64_t example, int64_t position, int64_t n, C* buffer) {
          C *sum = buffer, *a = sum + kPositions, *b = a + kPositions, *converted = b + kPositions;
          const auto at = [&](int64_t c) {
            return (example * channels.length + c) * channels.inner + position;
          };
          const int64_t step = ready ? channels.inner : kPositions;  // from channel to channel
          const C* x = ready ? in.as<C>() + at(0) : converted;
          for (int64_t c = 0; c < channels.length && !ready; ++c)
            read_elements(in, at(c), n, 1, converted + c * kPositions);
          for (int64_t c = 0; c < channels.length; ++c) {
            const int64_t first = std::max(c - params.reach(), int64_t{0});
            const int64_t last = std::min(c + params.reach(), channels.length - 1);
            loops.sum_squares(x + first * step, step, last - first + 1, n, sum);
            C* scale = place_elements(norm, at(c), 1, a);
            C* y = place_elements(out, at(c), 1, b);
            loops.response(x + c * step, sum, scale, y, n, static_cast<C>(params.knorm), alpha,
                           static_cast<C>(params.beta));
            write_elements(norm, at(c), n, 1, scale);
            write_elements(out, at(c), n, 1, y);
          }
        });
  });
}

// Inputs: gradient, data, norm. Each element gets a share of the gradients of its neighbours.
void backward(const LrnParams& params, KernelContext& context) {
  const Tensor &dy = context.in(0), &in = context.in(1), &norm = context.in(2);
  const Tensor& dx = context.out(0);
  const RowLayout channels = rows_along(in.shape(), 1);
  with_row_type(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const NormLoops<C>& loops = norm_loops<C>();
    const C beta = static_cast<C>(params.beta);
    const C factor = C(2) * static_cast<C>(params.alpha) * beta / static_cast<C>(params.nsize);
    const int64_t count = channels.length;
    for_positions<C>(
        channels, count + 5, [&](int64_t example, int64_t position, int64_t n, C* buffer) {
          C* share = buffer;  // of each channel
          C *sum = share + count * kPositions, *g = sum + kPositions, *x = g + kPositions;
          C *scale = x + kPositions, *to = scale + kPositions;
          const auto at = [&](int64_t c) {
            return (example * count + c) * channels.inner + position;
          };
          for (int64_t c = 0; c < count; ++c) {
            loops.response_share(
                read_elements(dy, at(c), n, 1, g), read_elements(in, at(c), n, 1, x),
                read_elements(norm, at(c), n, 1, scale), share + c * kPositions, n, beta);
          }
          for (int64_t c = 0; c < count; ++c) {
            std::fill_n(sum, n, C(0));
            const int64_t last = std::min(c + params.reach(), count - 1);
            for (int64_t k = std::max(c - params.reach(), int64_t{0}); k <= last; ++k)
              loops.add_columns(share + k * kPositions, n, 1, n, sum);
            C* out = place_elements(dx, at(c), 1, to);
            loops.response_grad(read_elements(dy, at(c), n, 1, g),
                                read_elements(in, at(c), n, 1, x),
                                read_elements(norm, at(c), n, 1, scale), sum, out, n, beta, factor);
            write_elements(dx, at(c), n, 1, out);
          }
        });
  });
}

OpBuilder<LrnParams>& add_params(OpBuilder<LrnParams>& op) {
  return op.param("alpha", &LrnParams::alpha, 1e-4f, "Factor of the mean square.")
      .param("beta", &LrnParams::beta, 0.75f, "The power.")
      .param("knorm", &LrnParams::knorm, 2.0f, "Added to the squares.")
      .param("nsize", &LrnParams::nsize, "Neighbouring channels that take part, itself included.")
      .at_least<uint32_t>(1)
      .dtypes(kFloating);
}

void infer_alike_rank_4(Infer& infer) {
  for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
  for (int o = 0; o < infer.num_out(); ++o) infer.in(0).same_shape(infer.out(o));
  infer.one_dtype();
  if (infer.in(0).rank_known() && infer.in(0).ndim() != 4) infer.in(0).fail("rank 4");
}

bool define() {
  OpBuilder<LrnParams> op("LRN");
  op.doc("data / (knorm + alpha * mean square of neighbouring channels) ^ beta.")
      .input("data", "Images: batch, channels, height, width.");
  add_params(op)
      .outputs([](const LrnParams&) { return 2; })
      .visible_outputs([](const LrnParams&) { return 1; })
      .output("output")
      .output("tmp_norm")
      .infer([](const LrnParams&, Infer& infer) { infer_alike_rank_4(infer); })
      .cpu(forward)
      .grad([](const LrnParams&, Grad& grad) {
        return Gradients{
            apply("_backward_LRN", {grad.dout(0), grad.in(0), grad.out(1)}, grad.attrs())};
      });
  OpBuilder<LrnParams> back("_backward_LRN");
  back.doc("Gradient of LRN.")
      .input("head_grad", "Gradient of the result.")
      .input("data", "The data.")
      .input("norm", "What was raised to the power.");
  add_params(back)
      .inplace(0, 0)
      .infer([](const LrnParams&, Infer& infer) { infer_alike_rank_4(infer); })
      .cpu(backward);
  return true;
}

[[maybe_unused]] const bool defined = define();

}  // namespace
}  // namespace mxnet
