// SPDX-License-Identifier: Apache-2.0
// Statistics and results of batch normalisation on the CPU.
#include "op/norm/batch_norm_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "op/norm/channel_runs.h"

namespace mxnet {
namespace {

// Elements of a channel up to which both passes for its moments go over all of it: what fits half a
// second-level cache. Longer ones are taken block by block.
constexpr int64_t kCached = 65536;

// --- statistics --------------------------------------------------------------------------------

template <class C>
void channel_statistics(const BatchNormCall& call, const Tensor& in, double* mean,
                        double* variance) {
  const NormLoops<C>& loops = norm_loops<C>();
  for_channels<C>(call.channels, kNormCost, [&](int64_t c, ChannelRuns<C>& runs) {
    Moments moments;
    if (call.positions() <= kCached) {
      const double count = static_cast<double>(call.positions());
      double sum = 0, square = 0;
      for_parts(call.channels, c, runs,
                [&](int64_t at, int64_t n) { sum += loops.sum(runs.read(in, at, n, 0), n); });
      const C about = call.positions() > 0 ? static_cast<C>(sum / count) : C(0);
      sum = 0;
      for_parts(call.channels, c, runs, [&](int64_t at, int64_t n) {
        C sums[2];
        loops.deviations(runs.read(in, at, n, 0), n, 1, &about, sums);
        sum += sums[0];
        square += sums[1];
      });
      if (call.positions() > 0)
        moments.merge(count, about + sum / count, square - sum / count * sum);
    } else {
      for_parts(call.channels, c, runs, [&](int64_t at, int64_t n) {
        add_block(loops, runs.read(in, at, n, 0), n, &moments);
      });
    }
    mean[c] = moments.mean;
    variance[c] = moments.variance();
  });
}

template <class C>
void column_statistics(const BatchNormCall& call, const Tensor& in, double* mean,
                       double* variance) {
  const NormLoops<C>& loops = norm_loops<C>();
  const int64_t step = call.channels.length, at_once = rows_at_once<C>({&in});
  std::vector<Moments> parts(static_cast<std::size_t>(parts_of(call.channels) * step));
  for_boxes<C>(call.channels, kNormCost, [&](const ChannelBox& box, ChannelRuns<C>& runs) {
    Moments* const moments = parts.data() + box.part() * step + box.channel;
    const int64_t first = box.channel, width = box.width;
    std::array<C, ChannelBox::kColumns> about, sum, square;  // as many of each as `width` says
    for (int64_t begin = box.begin; begin < box.end; begin += ChannelBox::kExamples) {
      const int64_t end = std::min(begin + ChannelBox::kExamples, box.end);
      const double count = static_cast<double>(end - begin);
      std::fill_n(sum.data(), width, C(0));
      for (int64_t n = begin; n < end; n += at_once) {
        loops.add_columns(runs.read(in, runs.at(n, first), width, 0), width,
                          std::min(at_once, end - n), step, sum.data());
      }
      std::transform(sum.data(), sum.data() + width, about.data(),
                     [=](C value) { return static_cast<C>(value / count); });
      std::fill_n(sum.data(), width, C(0));
      std::fill_n(square.data(), width, C(0));
      for (int64_t n = begin; n < end; n += at_once) {
        loops.add_deviation_columns(runs.read(in, runs.at(n, first), width, 0), width,
                                    std::min(at_once, end - n), step, about.data(), sum.data(),
                                    square.data());
      }
      for (std::size_t j = 0; j < static_cast<std::size_t>(width); ++j) {
        const double rest = sum[j] / count;
        moments[j].merge(count, about[j] + rest, square[j] - rest * sum[j]);
      }
    }
  });
  for (int64_t c = 0; c < step; ++c) {
    Moments whole;
    for (std::size_t at = static_cast<std::size_t>(c); at < parts.size();
         at += static_cast<std::size_t>(step))
      whole.merge(parts[at].count, parts[at].mean, parts[at].square);
    mean[c] = whole.mean;
    variance[c] = whole.variance();
  }
}

// --- result --------------------------------------------------------------------------------------

// What becomes of the elements of each channel; of all of them so many times.
template <class C>
struct Affine {
  explicit Affine(const BatchNormResult& result, int64_t times = 1) {
    const BatchNormCall& call = result.call;
    for (std::vector<C>* each : {&shifts, &scales, &offsets})
      each->reserve(static_cast<std::size_t>(times * call.channels.length));
    for (int64_t i = 0; i < times * call.channels.length; ++i) {
      const int64_t c = i % call.channels.length;
      shifts.push_back(static_cast<C>(result.mean[c]));
      scales.push_back(static_cast<C>(call.gamma_of(result.gamma, c) /
                                      std::sqrt(result.variance[c] + call.eps)));
      offsets.push_back(static_cast<C>(read_element(result.beta, c)));
    }
  }
  std::vector<C> shifts, scales, offsets;
};

// Elements that are brought to C together, whatever channels they are of; of longer runs each by
// itself.
constexpr int64_t kTogether = 2048, kLongRun = 1024;
// Channels that are columns are repeated where they are fewer: their rows are short.
constexpr int64_t kShortColumns = 32, kWideColumns = 64;

// The length of runs that lie one after the other: of a channel, or rows of all.
int64_t run_in_order(const BatchNormCall& call) {
  return as_columns(call.channels) ? call.channels.length : call.channels.inner;
}
// Runs of halves are taken where they lie, but for short ones, which end with many numbers that
// fill no vector.
constexpr int64_t kRunOfHalves = 32;
bool takes_halves(const BatchNormResult& result) {
  return norm_loops<float>().affine_halves != nullptr && result.in.dtype == DType::kFloat16 &&
         result.out.dtype == DType::kFloat16 && result.mask == nullptr &&
         !as_columns(result.call.channels) && run_in_order(result.call) >= kRunOfHalves;
}
// use(at, channel) for each run of a channel's elements, in the order of memory.
template <class F>
void for_runs(const RowLayout& channels, int64_t first, int64_t last, const F& use) {
  for (int64_t run = first, channel = first % channels.length; run < last; ++run) {
    use(run * channels.inner, static_cast<std::size_t>(channel));
    channel = channel + 1 == channels.length ? 0 : channel + 1;
  }
}

void normalize_halves(const BatchNormResult& result) {
  const NormLoops<float>& loops = norm_loops<float>();
  const RowLayout& channels = result.call.channels;
  const Affine<float> affine(result);
  parallel_for(
      channels.outer * channels.length, kNormCost * static_cast<double>(channels.inner),
      [&](int64_t first, int64_t last) {
        for_runs(channels, first, last, [&](int64_t at, std::size_t c) {
          loops.affine_halves(result.in.as<float16>() + at, result.out.as<float16>() + at,
                              channels.inner, affine.shifts[c], affine.scales[c],
                              affine.offsets[c]);
        });
      },
      1);
}

template <class C>
void normalize_channels(const BatchNormResult& result) {
  const NormLoops<C>& loops = norm_loops<C>();
  const RowLayout& channels = result.call.channels;
  const Affine<C> affine(result);
  parallel_for(
      channels.outer * channels.length, kNormCost * static_cast<double>(channels.inner),
      [&](int64_t first, int64_t last) {
        ChannelRuns<C> runs(channels, std::min(channels.inner, kSumBlock));
        for_runs(channels, first, last, [&](int64_t begin, std::size_t c) {
          const C shift = affine.shifts[c], scale = affine.scales[c], offset = affine.offsets[c];
          for (int64_t i = 0; i < channels.inner; i += kSumBlock) {
            const int64_t at = begin + i, n = std::min(kSumBlock, channels.inner - i);
            C* const y = runs.place(result.out, at, 1);
            const C* const x = runs.read(result.in, at, n, 0);
            if (result.mask != nullptr) {
              loops.affine_relu(x, y, result.mask->as<uint8_t>() + at, n, shift, scale, offset);
            } else {
              loops.affine(x, y, n, shift, scale, offset);
            }
            write_elements(result.out, at, n, 1, y);
          }
        });
      },
      1);
}

template <class C>
bool is_in_order(const BatchNormResult& result) {
  const int64_t run = run_in_order(result.call);
  if (result.mask != nullptr || run > kLongRun) return false;
  return (as_columns(result.call.channels) && run < kShortColumns) ||
         !(lies_ready<C>(result.in, 1) && lies_ready<C>(result.out, 1));
}
template <class C>
void normalize_in_order(const BatchNormResult& result) {
  const RowLayout& channels = result.call.channels;
  const bool columns = as_columns(channels);
  const NormLoops<C>& loops = norm_loops<C>();
  const int64_t run = run_in_order(result.call);
  const int64_t times = columns && run < kShortColumns ? kWideColumns / run : 1;
  const int64_t n = times * run, size = channels.outer * channels.length * channels.inner;
  const int64_t at_once = std::max<int64_t>(kTogether / n, 1) * n;
  const Affine<C> affine(result, columns ? times : 1);
  const auto columns_of = [&](const C* x, C* y, int64_t width, int64_t rows) {
    loops.affine_columns(x, y, width, rows, n, affine.shifts.data(), affine.scales.data(),
                         affine.offsets.data());
  };
  parallel_for(
      (size + n - 1) / n, kNormCost * static_cast<double>(n),
      [&](int64_t first, int64_t last) {
        const int64_t end = std::min(last * n, size);
        std::vector<C> buffer(static_cast<std::size_t>(std::min(at_once, end - first * n)));
        for (int64_t at = first * n; at < end; at += at_once) {
          const int64_t count = std::min(at_once, end - at), rows = count / n;
          const C* x = read_elements(result.in, at, count, 1, buffer.data());
          C* y = place_elements(result.out, at, 1, buffer.data());
          if (columns) {
            columns_of(x, y, n, rows);
            columns_of(x + rows * n, y + rows * n, count % n, 1);
          } else {
            for (int64_t i = 0; i < rows; ++i) {
              const auto c = static_cast<std::size_t>((at / n + i) % channels.length);
              loops.affine(x + i * n, y + i * n, n, affine.shifts[c], affine.scales[c],
                           affine.offsets[c]);
            }
          }
          write_elements(result.out, at, count, 1, y);
        }
      },
      1);
}

template <class C>
void normalize_columns(const BatchNormResult& result) {
  const BatchNormCall& call = result.call;
  const NormLoops<C>& loops = norm_loops<C>();
  const int64_t step = call.channels.length, at_once = rows_at_once<C>({&result.in, &result.out});
  const Affine<C> affine(result);
  const auto rows_of = [&](const C* x, C* y, int64_t at, int64_t width, int64_t rows,
                           std::size_t channel) {
    const C *const shift = &affine.shifts[channel], *const scale = &affine.scales[channel],
                   *const offset = &affine.offsets[channel];
    if (result.mask != nullptr) {
      loops.affine_relu_columns(x, y, result.mask->as<uint8_t>() + at, width, rows, step, shift,
                                scale, offset);
    } else {
      loops.affine_columns(x, y, width, rows, step, shift, scale, offset);
    }
  };
  // In the order of memory, where that is work for all threads.
  if (at_once > 1 && call.channels.outer >= ChannelBox::kExamples) {
    parallel_for(
        call.channels.outer, kNormCost * static_cast<double>(step),
        [&](int64_t first, int64_t last) {
          rows_of(result.in.as<const C>() + first * step, result.out.as<C>() + first * step,
                  first * step, step, last - first, 0);
        },
        1);
    return;
  }
  for_boxes<C>(call.channels, kNormCost, [&](const ChannelBox& box, ChannelRuns<C>& runs) {
    for (int64_t n = box.begin; n < box.end; n += at_once) {
      const int64_t at = runs.at(n, box.channel), rows = std::min(at_once, box.end - n);
      const C* const x = runs.read(result.in, at, box.width, 0);
      C* const y = runs.place(result.out, at, 1);
      rows_of(x, y, at, box.width, rows, static_cast<std::size_t>(box.channel));
      write_elements(result.out, at, box.width, 1, y);
    }
  });
}

}  // namespace

BatchNormCall batch_norm_call(const Shape& data, int axis, double eps, bool fix_gamma) {
  BatchNormCall call;
  call.channels = rows_along(data, axis < 0 ? axis + data.ndim() : axis);
  call.eps = eps;
  call.fix_gamma = fix_gamma;
  return call;
}

void batch_statistics(const BatchNormCall& call, const Tensor& in, double* mean, double* variance) {
  with_row_type(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    (as_columns(call.channels) ? column_statistics<C> : channel_statistics<C>)(call, in, mean,
                                                                               variance);
  });
}

void batch_normalize(const BatchNormResult& result) {
  if (result.in.size() == 0) return;  // runs may have no length, by which loops divide
  if (takes_halves(result)) return normalize_halves(result);
  with_row_type(result.in.dtype, [&](auto zero) {
    using C = decltype(zero);
    if (is_in_order<C>(result)) return normalize_in_order<C>(result);
    (as_columns(result.call.channels) ? normalize_columns<C> : normalize_channels<C>)(result);
  });
}

}  // namespace mxnet
