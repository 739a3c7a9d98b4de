// SPDX-License-Identifier: Apache-2.0
// Gradients of batch normalisation on the CPU: two passes, of which the second needs the sums of
// the first.
#include <algorithm>
#include <array>
#include <vector>

#include "op/norm/batch_norm_kernel.h"
#include "op/norm/channel_runs.h"

namespace mxnet {
namespace {

// dx = a * dy + b * (x - mean) + c of a channel, from the sums of dy and dy * (x - mean).
struct Slope {
  double a, b, c;
};
Slope slope_of(bool of_batch, double gamma, double inverse_std, double count, double sum_dy,
               double sum_dyx) {
  const double a = gamma * inverse_std;
  if (!of_batch) return {a, 0, 0};
  return {a, -a * inverse_std * inverse_std * sum_dyx / count, -a * sum_dy / count};
}

// Writes the gradients of a channel's parameters; what is left to be done with its data.
Slope finish_channel(const BatchNormGradient& call, int64_t c, double sum_dy, double sum_dyx) {
  const double inverse_std = call.inverse_std[c];
  write_element(call.dbeta, c, sum_dy);
  write_element(call.dgamma, c, call.norm.fix_gamma ? 0.0 : sum_dyx * inverse_std);
  return slope_of(call.of_batch, call.norm.gamma_of(call.gamma, c), inverse_std,
                  static_cast<double>(call.norm.positions()), sum_dy, sum_dyx);
}

template <class C>
void channel_gradients(const BatchNormGradient& call) {
  const NormLoops<C>& loops = norm_loops<C>();
  const RowLayout& channels = call.norm.channels;
  for_channels<C>(channels, 2 * kNormCost, [&](int64_t c, ChannelRuns<C>& runs) {
    const C mean = static_cast<C>(call.mean[c]);
    double sum_dy = 0, sum_dyx = 0;
    for_parts(channels, c, runs, [&](int64_t at, int64_t n) {
      C sums[2];
      loops.grad_sums(runs.read_masked(call.dy, call.mask, at, n, 0), runs.read(call.in, at, n, 1),
                      n, mean, sums);
      sum_dy += sums[0];
      sum_dyx += sums[1];
    });
    const Slope slope = finish_channel(call, c, sum_dy, sum_dyx);
    for_parts(channels, c, runs, [&](int64_t at, int64_t n) {
      C* dx = runs.place(call.dx, at, 2);
      const C* dy = runs.read_masked(call.dy, call.mask, at, n, 0);
      const C a = static_cast<C>(slope.a);
      if (call.of_batch)
        loops.affine_grad(dy, runs.read(call.in, at, n, 1), dx, n, mean, a, static_cast<C>(slope.b),
                          static_cast<C>(slope.c));
      else  // whatever the data is: nothing times NaN is NaN
        loops.affine(dy, dx, n, C(0), a, C(0));
      write_elements(call.dx, at, n, 1, dx);
    });
  });
}

// Sums of each part, of dy and behind them of dy * (x - mean).
template <class C>
std::vector<double> column_sums(const BatchNormGradient& call, int64_t at_once) {
  const NormLoops<C>& loops = norm_loops<C>();
  const RowLayout& channels = call.norm.channels;
  const int64_t step = channels.length;
  std::vector<double> parts(static_cast<std::size_t>(2 * parts_of(channels) * step));
  for_boxes<C>(channels, kNormCost, [&](const ChannelBox& box, ChannelRuns<C>& runs) {
    double* const total_dy = parts.data() + 2 * box.part() * step + box.channel;
    double* const total_dyx = total_dy + step;
    const int64_t first = box.channel, width = box.width;
    std::array<C, ChannelBox::kColumns> mean, sum_dy, sum_dyx;  // as many as `width` says
    for (int64_t j = 0; j < width; ++j)
      mean[static_cast<std::size_t>(j)] = static_cast<C>(call.mean[first + j]);
    for (int64_t begin = box.begin; begin < box.end; begin += ChannelBox::kExamples) {
      std::fill_n(sum_dy.data(), width, C(0));
      std::fill_n(sum_dyx.data(), width, C(0));
      const int64_t end = std::min(begin + ChannelBox::kExamples, box.end);
      for (int64_t n = begin; n < end; n += at_once) {
        const int64_t at = runs.at(n, first);
        loops.add_grad_columns(runs.read_masked(call.dy, call.mask, at, width, 0),
                               runs.read(call.in, at, width, 1), width, std::min(at_once, end - n),
                               step, mean.data(), sum_dy.data(), sum_dyx.data());
      }
      for (std::size_t j = 0; j < static_cast<std::size_t>(width); ++j) {
        total_dy[j] += sum_dy[j];
        total_dyx[j] += sum_dyx[j];
      }
    }
  });
  return parts;
}

std::vector<Slope> column_slopes(const BatchNormGradient& call, const std::vector<double>& parts) {
  const RowLayout& channels = call.norm.channels;
  const int64_t step = channels.length;
  std::vector<Slope> slopes;
  slopes.reserve(static_cast<std::size_t>(step));
  for (int64_t c = 0; c < step; ++c) {
    double sum_dy = 0, sum_dyx = 0;
    for (int64_t part = 0; part < parts_of(channels); ++part) {
      const auto at = static_cast<std::size_t>(2 * part * step + c);
      sum_dy += parts[at];
      sum_dyx += parts[at + static_cast<std::size_t>(step)];
    }
    slopes.push_back(finish_channel(call, c, sum_dy, sum_dyx));
  }
  return slopes;
}

template <class C>
void column_gradients(const BatchNormGradient& call) {
  const NormLoops<C>& loops = norm_loops<C>();
  const RowLayout& channels = call.norm.channels;
  const int64_t step = channels.length;
  const int64_t at_once = rows_at_once<C>({&call.dy, &call.in, &call.dx}, call.mask != nullptr);
  const std::vector<Slope> slopes = column_slopes(call, column_sums<C>(call, at_once));
  for_boxes<C>(channels, kNormCost, [&](const ChannelBox& box, ChannelRuns<C>& runs) {
    const int64_t first = box.channel, width = box.width;
    std::array<C, ChannelBox::kColumns> mean, a, b, c;
    for (int64_t j = 0; j < width; ++j) {
      const auto k = static_cast<std::size_t>(j);
      const Slope& slope = slopes[static_cast<std::size_t>(first + j)];
      mean[k] = static_cast<C>(call.mean[first + j]);
      a[k] = static_cast<C>(slope.a);
      b[k] = static_cast<C>(slope.b);
      c[k] = static_cast<C>(slope.c);
    }
    for (int64_t n = box.begin; n < box.end; n += at_once) {
      const int64_t at = runs.at(n, first);
      C* dx = runs.place(call.dx, at, 2);
      const C* dy = runs.read_masked(call.dy, call.mask, at, width, 0);
      const int64_t rows = std::min(at_once, box.end - n);
      if (call.of_batch)
        loops.affine_grad_columns(dy, runs.read(call.in, at, width, 1), dx, width, rows, step,
                                  mean.data(), a.data(), b.data(), c.data());
      else  // as above; b and c are zeros
        loops.affine_columns(dy, dx, width, rows, step, b.data(), a.data(), c.data());
      write_elements(call.dx, at, width, 1, dx);
    }
  });
}

}  // namespace

void batch_norm_gradient(const BatchNormGradient& call) {
  with_row_type(call.in.dtype, [&](auto zero) {
    using C = decltype(zero);
    (as_columns(call.norm.channels) ? column_gradients<C> : channel_gradients<C>)(call);
  });
}

}  // namespace mxnet
