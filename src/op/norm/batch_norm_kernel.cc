// SPDX-License-Identifier: Apache-2.0
// Batch normalisation on the CPU.
#include "op/norm/batch_norm_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "op/norm/norm_loops.h"
#include "op/norm/row_sums.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr double kCost = 4.0;  // elementary operations an element and pass
// Channels at once where they are columns, and examples whose short sums are then taken together.
constexpr int64_t kColumns = 128, kExamples = 64;
// Elements of a channel up to which both passes for its moments go over all of it: what fits half a
// second-level cache. Longer ones are taken block by block.
constexpr int64_t kCached = 65536;

// Where runs of elements begin, and buffers to bring them to C. For one thread.
template <class C>
class Runs {
 public:
  Runs(const RowLayout& channels, int64_t longest)
      : channels_(channels), buffers_(static_cast<std::size_t>(4 * longest)), longest_(longest) {}
  // Element `i` of the run of channel c in example n.
  int64_t at(int64_t n, int64_t c, int64_t i = 0) const {
    return (n * channels_.length + c) * channels_.inner + i;
  }
  C* buffer(int which) { return buffers_.data() + which * longest_; }
  const C* read(const Tensor& tensor, int64_t at, int64_t n, int which) {
    return read_elements(tensor, at, n, 1, buffer(which));
  }
  C* place(const Tensor& tensor, int64_t at, int which) {
    return place_elements(tensor, at, 1, buffer(which));
  }
  // Gradients of a result that was cut off at zero.
  const C* read_masked(const Tensor& dy, const Tensor* mask, int64_t at, int64_t n, int which) {
    const C* values = read(dy, at, n, which);
    if (mask == nullptr) return values;
    norm_loops<C>().masked(values, mask->as<uint8_t>() + at, buffer(which), n);
    return buffer(which);
  }

 private:
  const RowLayout& channels_;
  std::vector<C> buffers_;
  const int64_t longest_;
};

bool as_columns(const RowLayout& channels) { return channels.inner == 1; }

// run(c, runs) for every channel.
template <class C, class F>
void for_channels(const RowLayout& channels, double cost, const F& run) {
  parallel_for(
      channels.length, cost * static_cast<double>(channels.outer * channels.inner),
      [&](int64_t first, int64_t last) {
        Runs<C> runs(channels, std::min(channels.inner, kSumBlock));
        for (int64_t c = first; c < last; ++c) run(c, runs);
      },
      1);
}

// run(first channel, channels, runs) for blocks of channels.
template <class C, class F>
void for_column_blocks(const RowLayout& channels, double cost, const F& run) {
  const int64_t blocks = (channels.length + kColumns - 1) / kColumns;
  parallel_for(
      blocks, cost * static_cast<double>(channels.outer * std::min(channels.length, kColumns)),
      [&](int64_t first, int64_t last) {
        Runs<C> runs(channels, kColumns);
        for (int64_t b = first; b < last; ++b)
          run(b * kColumns, std::min(kColumns, channels.length - b * kColumns), runs);
      },
      1);
}

// Rows of columns that a loop can take at once: one where they go through a buffer.
template <class C>
int64_t rows_at_once(std::initializer_list<const Tensor*> tensors, bool masked = false) {
  bool ready = !masked;
  for (const Tensor* tensor : tensors) ready &= lies_ready<C>(*tensor, 1);
  return ready ? kExamples : 1;
}

// fn(position of the first element, elements) for the parts of a channel's runs.
template <class C, class F>
void for_parts(const RowLayout& channels, int64_t c, const Runs<C>& runs, const F& fn) {
  for (int64_t n = 0; n < channels.outer; ++n)
    for (int64_t i = 0; i < channels.inner; i += kSumBlock)
      fn(runs.at(n, c, i), std::min(kSumBlock, channels.inner - i));
}

double gamma_of(const BatchNormCall& call, const Tensor& gamma, int64_t c) {
  return call.fix_gamma ? 1.0 : read_element(gamma, c);
}

// --- statistics --------------------------------------------------------------------------------

template <class C>
void channel_statistics(const BatchNormCall& call, const Tensor& in, double* mean,
                        double* variance) {
  const NormLoops<C>& loops = norm_loops<C>();
  for_channels<C>(call.channels, kCost, [&](int64_t c, Runs<C>& runs) {
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
        loops.deviations(runs.read(in, at, n, 0), n, about, sums);
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
  for_column_blocks<C>(call.channels, kCost, [&](int64_t first, int64_t width, Runs<C>& runs) {
    std::array<Moments, kColumns> moments;
    std::array<C, kColumns> about, sum, square;
    for (int64_t begin = 0; begin < call.channels.outer; begin += kExamples) {
      const int64_t end = std::min(begin + kExamples, call.channels.outer);
      const double count = static_cast<double>(end - begin);
      sum.fill(C(0));
      for (int64_t n = begin; n < end; n += at_once) {
        loops.add_columns(runs.read(in, runs.at(n, first), width, 0), width,
                          std::min(at_once, end - n), step, sum.data());
      }
      for (std::size_t j = 0; j < about.size(); ++j) about[j] = static_cast<C>(sum[j] / count);
      sum.fill(C(0));
      square.fill(C(0));
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
    for (int64_t j = 0; j < width; ++j) {
      mean[first + j] = moments[static_cast<std::size_t>(j)].mean;
      variance[first + j] = moments[static_cast<std::size_t>(j)].variance();
    }
  });
}

// --- result --------------------------------------------------------------------------------------

template <class C>
void normalize_channels(const BatchNormCall& call, const Tensor& in, const double* mean,
                        const double* variance, const Tensor& gamma, const Tensor& beta,
                        const Tensor& out, const Tensor* mask) {
  const NormLoops<C>& loops = norm_loops<C>();
  for_channels<C>(call.channels, kCost, [&](int64_t c, Runs<C>& runs) {
    const C shift = static_cast<C>(mean[c]);
    const C scale = static_cast<C>(gamma_of(call, gamma, c) / std::sqrt(variance[c] + call.eps));
    const C offset = static_cast<C>(read_element(beta, c));
    for_parts(call.channels, c, runs, [&](int64_t at, int64_t n) {
      C* y = runs.place(out, at, 1);
      const C* x = runs.read(in, at, n, 0);
      if (mask != nullptr) {
        loops.affine_relu(x, y, mask->as<uint8_t>() + at, n, shift, scale, offset);
      } else {
        loops.affine(x, y, n, shift, scale, offset);
      }
      write_elements(out, at, n, 1, y);
    });
  });
}

template <class C>
void normalize_columns(const BatchNormCall& call, const Tensor& in, const double* mean,
                       const double* variance, const Tensor& gamma, const Tensor& beta,
                       const Tensor& out, const Tensor* mask) {
  const NormLoops<C>& loops = norm_loops<C>();
  const int64_t step = call.channels.length, at_once = rows_at_once<C>({&in, &out});
  for_column_blocks<C>(call.channels, kCost, [&](int64_t first, int64_t width, Runs<C>& runs) {
    std::array<C, kColumns> shift, scale, offset;
    for (int64_t j = 0; j < width; ++j) {
      const std::size_t k = static_cast<std::size_t>(j);
      const int64_t c = first + j;
      shift[k] = static_cast<C>(mean[c]);
      scale[k] = static_cast<C>(gamma_of(call, gamma, c) / std::sqrt(variance[c] + call.eps));
      offset[k] = static_cast<C>(read_element(beta, c));
    }
    for (int64_t n = 0; n < call.channels.outer; n += at_once) {
      const int64_t at = runs.at(n, first), rows = std::min(at_once, call.channels.outer - n);
      const C* x = runs.read(in, at, width, 0);
      C* y = runs.place(out, at, 1);
      if (mask != nullptr) {
        loops.affine_relu_columns(x, y, mask->as<uint8_t>() + at, width, rows, step, shift.data(),
                                  scale.data(), offset.data());
      } else {
        loops.affine_columns(x, y, width, rows, step, shift.data(), scale.data(), offset.data());
      }
      write_elements(out, at, width, 1, y);
    }
  });
}

// --- gradients -----------------------------------------------------------------------------------

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

struct GradientCall {
  const BatchNormCall& norm;
  const bool of_batch;
  const Tensor &dy, &in;
  const double *mean, *inverse_std;
  const Tensor& gamma;
  const Tensor* mask;
  const Tensor &dx, &dgamma, &dbeta;

  Slope finish(int64_t c, double sum_dy, double sum_dyx) const {
    write_element(dbeta, c, sum_dy);
    write_element(dgamma, c, norm.fix_gamma ? 0.0 : sum_dyx * inverse_std[c]);
    return slope_of(of_batch, gamma_of(norm, gamma, c), inverse_std[c],
                    static_cast<double>(norm.positions()), sum_dy, sum_dyx);
  }
};

template <class C>
void channel_gradients(const GradientCall& call) {
  const NormLoops<C>& loops = norm_loops<C>();
  const RowLayout& channels = call.norm.channels;
  for_channels<C>(channels, 2 * kCost, [&](int64_t c, Runs<C>& runs) {
    const C mean = static_cast<C>(call.mean[c]);
    double sum_dy = 0, sum_dyx = 0;
    for_parts(channels, c, runs, [&](int64_t at, int64_t n) {
      C sums[2];
      loops.grad_sums(runs.read_masked(call.dy, call.mask, at, n, 0), runs.read(call.in, at, n, 1),
                      n, mean, sums);
      sum_dy += sums[0];
      sum_dyx += sums[1];
    });
    const Slope slope = call.finish(c, sum_dy, sum_dyx);
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

template <class C>
void column_gradients(const GradientCall& call) {
  const NormLoops<C>& loops = norm_loops<C>();
  const RowLayout& channels = call.norm.channels;
  const int64_t step = channels.length;
  const int64_t at_once = rows_at_once<C>({&call.dy, &call.in, &call.dx}, call.mask != nullptr);
  for_column_blocks<C>(channels, 2 * kCost, [&](int64_t first, int64_t width, Runs<C>& runs) {
    std::array<C, kColumns> mean{}, sum_dy, sum_dyx, a, b, c;
    std::array<double, kColumns> total_dy{}, total_dyx{};
    for (int64_t j = 0; j < width; ++j)
      mean[static_cast<std::size_t>(j)] = static_cast<C>(call.mean[first + j]);
    for (int64_t begin = 0; begin < channels.outer; begin += kExamples) {
      sum_dy.fill(C(0));
      sum_dyx.fill(C(0));
      const int64_t end = std::min(begin + kExamples, channels.outer);
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
    for (int64_t j = 0; j < width; ++j) {
      const std::size_t k = static_cast<std::size_t>(j);
      const Slope slope = call.finish(first + j, total_dy[k], total_dyx[k]);
      a[k] = static_cast<C>(slope.a);
      b[k] = static_cast<C>(slope.b);
      c[k] = static_cast<C>(slope.c);
    }
    for (int64_t n = 0; n < channels.outer; n += at_once) {
      const int64_t at = runs.at(n, first);
      C* dx = runs.place(call.dx, at, 2);
      const C* dy = runs.read_masked(call.dy, call.mask, at, width, 0);
      const int64_t rows = std::min(at_once, channels.outer - n);
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

void batch_normalize(const BatchNormCall& call, const Tensor& in, const double* mean,
                     const double* variance, const Tensor& gamma, const Tensor& beta,
                     const Tensor& out, const Tensor* mask) {
  with_row_type(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    (as_columns(call.channels) ? normalize_columns<C> : normalize_channels<C>)(call, in, mean,
                                                                               variance, gamma,
                                                                               beta, out, mask);
  });
}

void batch_norm_gradient(const BatchNormCall& call, bool of_batch, const Tensor& dy,
                         const Tensor& in, const double* mean, const double* inverse_std,
                         const Tensor& gamma, const Tensor* mask, const Tensor& dx,
                         const Tensor& dgamma, const Tensor& dbeta) {
  const GradientCall gradient{call,  of_batch, dy, in,     mean, inverse_std,
                              gamma, mask,     dx, dgamma, dbeta};
  with_row_type(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    (as_columns(call.channels) ? column_gradients<C> : channel_gradients<C>)(gradient);
  });
}

}  // namespace mxnet
