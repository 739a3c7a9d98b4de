// SPDX-License-Identifier: Apache-2.0
// CTCLoss (op/norm/ctc_loss.h): a block for each example goes forward and back through time, its
// threads share the states. In double, as on the CPU. Labels and lengths out of range make a loss
// that is NaN, since kernels cannot throw.
#include "op/norm/ctc_loss.h"

#include "op/norm/softmax_kernel.h"
#include "plugin/cuda/axes.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/rounds.cuh"

namespace mxnet {
namespace cuda {
namespace {

// Labels with blanks around them are states: blank, label, blank, ..., blank.
struct Lattice {
  CtcSizes sizes;
  int64_t blank, padding, most;                         // most: states of the longest labels
  Numbers<double> labels, data_lengths, label_lengths;  // null where there are none
  const double* log_p;                                  // (time, batch, classes)
  int64_t* states;                                      // (batch, most)
  int64_t* widths;       // states of an example; 0: no path, -1: wrong labels
  double *alpha, *beta;  // (batch, time, most)
  double* losses;

  MX_DEVICE int64_t time(int64_t n) const {
    return data_lengths.data == nullptr ? sizes.time : static_cast<int64_t>(data_lengths(n));
  }
  MX_DEVICE bool is_wrong(double length, int64_t longest) const {
    return !(length >= 0 && length <= static_cast<double>(longest));
  }
  MX_DEVICE int64_t state(int64_t n, int64_t s) const { return states[n * most + s]; }
  MX_DEVICE double score(int64_t n, int64_t t, int64_t s) const {
    return log_p[(t * sizes.batch + n) * sizes.classes + state(n, s)];
  }
  MX_DEVICE int64_t at(int64_t n, int64_t t) const { return (n * sizes.time + t) * most; }
  // Whether a path may go from s - 2 to s: not past a blank that keeps equal labels apart.
  MX_DEVICE bool may_skip(int64_t n, int64_t s) const {
    return s > 1 && state(n, s) != blank && state(n, s) != state(n, s - 2);
  }

  // Round 0 reads the labels, one each goes a step forward, one tells the loss, one each goes a
  // step back.
  MX_DEVICE int64_t rounds(int64_t) const { return 2 * sizes.time + 2; }
  MX_DEVICE void round(int64_t n, int64_t round, int lane, int lanes) const {
    if (round == 0) {
      if (lane == 0) widths[n] = read_labels(n);
      return;
    }
    const int64_t width = widths[n];
    if (width < 0) {
      if (lane == 0) losses[n] = static_cast<double>(NAN);
      return;
    }
    const int64_t steps = time(n);
    if (round <= sizes.time) {
      const int64_t t = round - 1;
      for (int64_t s = lane; s < width && t < steps; s += lanes)
        alpha[at(n, t) + s] = forward(n, t, s);
    } else if (round == sizes.time + 1) {
      if (lane == 0) losses[n] = loss(n, steps, width);
    } else {
      const int64_t t = 2 * sizes.time + 1 - round;
      for (int64_t s = lane; s < width && t < steps; s += lanes)
        beta[at(n, t) + s] = back(n, t, s, steps, width);
    }
  }

  MX_DEVICE int64_t read_labels(int64_t n) const {
    if (data_lengths.data != nullptr && is_wrong(data_lengths(n), sizes.time)) return -1;
    const bool given = label_lengths.data != nullptr;
    if (given && is_wrong(label_lengths(n), sizes.longest)) return -1;
    const int64_t count = given ? static_cast<int64_t>(label_lengths(n)) : sizes.longest;
    int64_t* to = states + n * most;
    int64_t width = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double written = labels(n * sizes.longest + i);
      if (!given && written == static_cast<double>(padding)) break;
      const double label = floor(written + 0.5);  // the nearest class
      if (!(label >= 0 && label < static_cast<double>(sizes.classes))) return -1;
      if (static_cast<int64_t>(label) == blank) return -1;
      to[width++] = blank;
      to[width++] = static_cast<int64_t>(label);
    }
    to[width++] = blank;
    return least_steps(to, width) <= time(n) ? width : 0;
  }
  // Log probability of reaching state s with what is said at step t.
  MX_DEVICE double forward(int64_t n, int64_t t, int64_t s) const {
    double reach = s < 2 ? 0.0 : kCtcNever;
    if (t > 0) {
      const double* before = alpha + at(n, t - 1);
      reach = before[s];
      if (s > 0) reach = add_logs(reach, before[s - 1]);
      if (may_skip(n, s)) reach = add_logs(reach, before[s - 2]);
    }
    return reach + score(n, t, s);
  }
  MX_DEVICE double loss(int64_t n, int64_t steps, int64_t width) const {
    if (steps == 0 || width == 0) return 0.0;
    const double* last = alpha + at(n, steps - 1);
    return -add_logs(last[width - 1], width > 1 ? last[width - 2] : kCtcNever);
  }
  // Log probability of the rest after step t.
  MX_DEVICE double back(int64_t n, int64_t t, int64_t s, int64_t steps, int64_t width) const {
    if (t == steps - 1) return s + 2 >= width ? 0.0 : kCtcNever;
    const double* next = beta + at(n, t + 1);
    double rest = next[s] + score(n, t + 1, s);
    if (s + 1 < width) rest = add_logs(rest, next[s + 1] + score(n, t + 1, s + 1));
    if (s + 2 < width && may_skip(n, s + 2))
      rest = add_logs(rest, next[s + 2] + score(n, t + 1, s + 2));
    return rest;
  }
  MX_DEVICE bool has_gradient(int64_t n, int64_t t) const {
    return widths[n] > 0 && t < time(n) && losses[n] < -kCtcNever;
  }
};

// Softmax of every score that counts: step, example, class.
struct Probabilities {
  Lattice lattice;
  double* gradient;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    const bool wrong = lattice.widths[at[1]] < 0;
    gradient[i] = wrong                                ? static_cast<double>(NAN)
                  : lattice.has_gradient(at[1], at[0]) ? ::exp(lattice.log_p[i])
                                                       : 0.0;
  }
};
// Less the share of paths through a class: step, example, the first state of that class.
struct Shares {
  Lattice lattice;
  double* gradient;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    const int64_t t = at[0], n = at[1], width = lattice.widths[n];
    if (at[2] >= width || !lattice.has_gradient(n, t)) return;
    const int64_t label = lattice.state(n, at[2]);
    for (int64_t s = 0; s < at[2]; ++s)
      if (lattice.state(n, s) == label) return;
    const int64_t first = lattice.at(n, t);
    double share = kCtcNever;
    for (int64_t s = at[2]; s < width; ++s)
      if (lattice.state(n, s) == label)
        share = add_logs(share, lattice.alpha[first + s] + lattice.beta[first + s]);
    gradient[(t * lattice.sizes.batch + n) * lattice.sizes.classes + label] -=
        ::exp(share + lattice.losses[n]);
  }
};

void ctc_loss(const CtcParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &label = context.in(1);
  const CtcSizes sizes{data.dim(0), data.dim(1), data.dim(2), label.dim(1)};
  if (sizes.batch == 0) return;
  Computed<double> arrays(context);
  const auto numbers = [&](bool given, int i) {
    return given ? Numbers<double>{context.in(i).data, context.in(i).dtype}
                 : Numbers<double>{nullptr, DType::kUnknown};
  };
  double* const losses = arrays.out(0);
  double* const gradient = arrays.out(1);
  double* const log_p = context.workspace_of<double>(data.size() + 1);
  SoftmaxCall log_softmax;
  log_softmax.kind = SoftmaxKind::kLog;
  log_softmax.rows = {sizes.time * sizes.batch, sizes.classes, 1};
  const Tensor scores{const_cast<double*>(arrays.in(0)), &data.shape(), DType::kFloat64};
  if (data.size() > 0)
    softmax(arrays.stream(), log_softmax, scores, {log_p, &data.shape(), DType::kFloat64}, context);
  const int64_t most = 2 * sizes.longest + 1, places = sizes.batch * sizes.time * most + 1;
  const Lattice lattice{sizes,
                        params.blank(sizes.classes),
                        params.padding(),
                        most,
                        numbers(true, 1),
                        numbers(params.use_data_lengths, 2),
                        numbers(params.use_label_lengths, params.use_data_lengths ? 3 : 2),
                        log_p,
                        context.workspace_of<int64_t>(sizes.batch * most),
                        context.workspace_of<int64_t>(sizes.batch),
                        context.workspace_of<double>(places),
                        context.workspace_of<double>(places),
                        losses};
  for_each_in_rounds(arrays.stream(), "CTCLoss", sizes.batch, lattice);
  for_each(arrays.stream(), "CTCLoss", data.size(),
           Probabilities{lattice, gradient, Axes<3>(sizes.time, sizes.batch, sizes.classes)});
  for_each(arrays.stream(), "CTCLoss", sizes.time * sizes.batch * most,
           Shares{lattice, gradient, Axes<3>(sizes.time, sizes.batch, most)});
  arrays.write_back();
}

}  // namespace

void add_ctc(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<CtcParams, ctc_loss>("CTCLoss"));
}

}  // namespace cuda
}  // namespace mxnet
