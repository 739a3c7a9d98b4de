// SPDX-License-Identifier: Apache-2.0
// CTCLoss: the negative logarithm of the probability that scores over time spell a sequence of
// labels (Graves et al. 2006), over all ways of repeating labels and of placing blanks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "op/loops/row_io.h"
#include "op/norm/ctc_loss.h"
#include "op/norm/norm_loops.h"
#include "op/norm/row_sums.h"
#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

std::vector<std::string> input_names(const CtcParams& params) {
  std::vector<std::string> names{"data", "label"};
  if (params.use_data_lengths) names.emplace_back("data_lengths");
  if (params.use_label_lengths) names.emplace_back("label_lengths");
  return names;
}

int64_t checked_length(const Tensor& lengths, int64_t example, int64_t most, const char* what) {
  const double length = read_element(lengths, example);
  if (length >= 0 && length <= static_cast<double>(most)) return static_cast<int64_t>(length);
  throw Error(ErrorCode::kValue, fmt::format("given {} {} in example {}, expected at most {}", what,
                                             length, example, most));
}

// The labels of one example as classes. Without lengths they end at padding: 0 where the blank is
// the first class, else -1.
std::vector<int64_t> labels_of(const CtcParams& params, const CtcSizes& sizes, const Tensor& label,
                               const Tensor* lengths, int64_t example) {
  const int64_t blank = params.blank(sizes.classes);
  const int64_t padding = params.padding();
  const int64_t count = lengths == nullptr
                            ? sizes.longest
                            : checked_length(*lengths, example, sizes.longest, "label length");
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < count; ++i) {
    const double given = read_element(label, example * sizes.longest + i);
    if (lengths == nullptr && given == static_cast<double>(padding)) break;
    const double nearest = std::floor(given + 0.5);
    if (!(nearest >= 0 && nearest < static_cast<double>(sizes.classes)) ||
        nearest == static_cast<double>(blank)) {
      throw Error(ErrorCode::kValue,
                  fmt::format("given label {} in example {}, expected one of {} classes, not the "
                              "blank {}",
                              given, example, sizes.classes, blank));
    }
    labels.push_back(static_cast<int64_t>(nearest));
  }
  return labels;
}

// What is said at each step: probabilities of classes and their logarithms.
struct Spoken {
  std::vector<double> p, log_p;
};

// One example: what is said over time, and the labels with blanks around them. Probabilities of
// paths are added up as they are, at each step as parts of their sum, which takes a tenth of the
// time of adding logarithms. A part that is lost because it is too small for a double matters only
// if it may come to more than the rest does: no part of a step, whatever follows, comes to more
// than itself, and the rest comes to no less than the probability of all paths. Where that is
// small and a part was lost, logarithms are added.
class Lattice {
 public:
  Lattice(int64_t time, int64_t classes, Spoken spoken, const std::vector<int64_t>& labels,
          int64_t blank)
      : time_(time), classes_(classes), p_(std::move(spoken.p)), log_p_(std::move(spoken.log_p)) {
    for (int64_t label : labels) {
      states_.push_back(blank);
      states_.push_back(label);
    }
    states_.push_back(blank);
    width_ = static_cast<int64_t>(states_.size());
    blank_ = blank;
    has_path_ = least_steps(states_.data(), width_) <= time_;
    skips_.assign(states_.size() + 2, 0.0);
    for (int64_t s = 0; s < width_; ++s) skips_[static_cast<std::size_t>(s)] = may_skip(s) ? 1 : 0;
  }

  // Minus log of the probability of the labels; 0 where there are too few steps.
  double loss() {
    if (time_ == 0 || !has_path_) return 0.0;
    if (const double loss = forward_by_parts(); loss >= 0) return loss;
    by_parts_ = false;
    forward();
    const double* last = alpha_.data() + (time_ - 1) * width_;
    return -add_logs(last[width_ - 1], width_ > 1 ? last[width_ - 2] : kCtcNever);
  }

  // d loss / d scores at each step, after loss(): softmax minus the share of paths through a class.
  // Zero where there is no path, or none that is possible.
  template <class C>
  void gradient(double loss, C* out) {
    if (!has_path_ || !(loss < -kCtcNever)) {
      std::fill_n(out, time_ * classes_, C(0));
      return;
    }
    if (by_parts_) {
      if (gradient_by_parts(loss, out)) return;
      forward();
    }
    std::vector<double> share(static_cast<std::size_t>(classes_)), beta(states_.size(), kCtcNever);
    for (int64_t t = time_; t-- > 0;) {
      step_back(t, &beta);
      std::fill(share.begin(), share.end(), kCtcNever);
      for (int64_t s = 0; s < width_; ++s) {
        double& of_class = share[static_cast<std::size_t>(state(s))];
        of_class = add_logs(of_class, alpha_[at(t, s)] + beta[static_cast<std::size_t>(s)]);
      }
      for (int64_t k = 0; k < classes_; ++k) {
        const double p = std::exp(log_p(t, k));
        out[t * classes_ + k] =
            static_cast<C>(p - std::exp(share[static_cast<std::size_t>(k)] + loss));
      }
    }
  }

 private:
  int64_t state(int64_t s) const { return states_[static_cast<std::size_t>(s)]; }
  std::size_t at(int64_t t, int64_t s) const { return static_cast<std::size_t>(t * width_ + s); }
  double log_p(int64_t t, int64_t k) const {
    return log_p_[static_cast<std::size_t>(t * classes_ + k)];
  }
  // Whether a path may go from s - 2 to s: not past a blank that keeps equal labels apart.
  bool may_skip(int64_t s) const { return s > 1 && state(s) != blank_ && state(s) != state(s - 2); }

  // alpha(t, s): log probability of reaching state s with what is said at step t.
  void forward() {
    alpha_.assign(static_cast<std::size_t>(time_ * width_), kCtcNever);
    for (int64_t t = 0; t < time_; ++t) {
      for (int64_t s = 0; s < width_; ++s) {
        double reach = kCtcNever;
        if (t == 0) {
          reach = s < 2 ? 0.0 : kCtcNever;
        } else {
          reach = alpha_[at(t - 1, s)];
          if (s > 0) reach = add_logs(reach, alpha_[at(t - 1, s - 1)]);
          if (may_skip(s)) reach = add_logs(reach, alpha_[at(t - 1, s - 2)]);
        }
        alpha_[at(t, s)] = reach + log_p(t, state(s));
      }
    }
  }

  // beta(s): log probability of the rest after step t, from that after step t + 1.
  void step_back(int64_t t, std::vector<double>* beta) const {
    const auto value = [&](int64_t s) -> double& { return (*beta)[static_cast<std::size_t>(s)]; };
    if (t == time_ - 1) {
      value(width_ - 1) = 0.0;
      if (width_ > 1) value(width_ - 2) = 0.0;
      return;
    }
    for (int64_t s = 0; s < width_; ++s) {  // upwards: what is read has not been replaced yet
      double rest = value(s) + log_p(t + 1, state(s));
      if (s + 1 < width_) rest = add_logs(rest, value(s + 1) + log_p(t + 1, state(s + 1)));
      if (s + 2 < width_ && may_skip(s + 2))
        rest = add_logs(rest, value(s + 2) + log_p(t + 1, state(s + 2)));
      value(s) = rest;
    }
  }

  static constexpr double kLeast = 1e-290;   // below it a part may be lost
  static constexpr double kLargeLoss = 600;  // up to it what is lost is less than 1e-25 of all

  // The loss; less than zero where logarithms are needed. alpha(t, s): the part
  // of paths that are in state s after step t, behind two numbers that stay zero.
  double forward_by_parts() {
    const int64_t row = width_ + 2;
    alpha_.assign(static_cast<std::size_t>((time_ + 1) * row), 0.0);
    double* now = alpha_.data() + 2;
    bool lost = false;
    double loss = 0;
    for (int64_t t = 0; t < time_; ++t, now += row) {
      const double *const before = now - row, *const p = p_.data() + t * classes_;
      double sum = 0;
      for (int64_t s = 0; s < width_; ++s) {
        const double reach = t == 0 ? (s < 2 ? 1.0 : 0.0)
                                    : before[s] + before[s - 1] +
                                          skips_[static_cast<std::size_t>(s)] * before[s - 2];
        now[s] = reach * p[state(s)];
        lost |= reach > 0 && now[s] < kLeast;
        sum += now[s];
      }
      if (!(sum > kLeast)) return -1;
      for (int64_t s = 0; s < width_; ++s) now[s] /= sum;
      loss -= std::log(sum);
    }
    const double* const last = now - row;
    const double end = last[width_ - 1] + (width_ > 1 ? last[width_ - 2] : 0.0);
    if (!(end > kLeast)) return -1;
    loss = std::max(loss - std::log(end), 0.0);
    return lost && loss > kLargeLoss ? -1 : loss;
  }

  // False where logarithms are needed.
  template <class C>
  bool gradient_by_parts(double loss, C* out) const {
    const int64_t row = width_ + 2;
    std::vector<double> share(static_cast<std::size_t>(classes_));
    // What follows from each state, and the same times what is said in it; two zeros behind.
    std::vector<double> rest(static_cast<std::size_t>(row)), said(rest.size());
    rest[static_cast<std::size_t>(width_ - 1)] = 1;
    if (width_ > 1) rest[static_cast<std::size_t>(width_ - 2)] = 1;
    bool lost = false;
    for (int64_t t = time_; t-- > 0;) {
      const double *const alpha = alpha_.data() + 2 + t * row, *const p = p_.data() + t * classes_;
      std::fill(share.begin(), share.end(), 0.0);
      double all = 0, sum = 0;
      for (int64_t s = 0; s < width_; ++s) {
        const double through = alpha[s] * rest[static_cast<std::size_t>(s)];
        share[static_cast<std::size_t>(state(s))] += through;
        all += through;
        const double follows = rest[static_cast<std::size_t>(s)], both = follows * p[state(s)];
        said[static_cast<std::size_t>(s)] = both;
        lost |= follows > 0 && both < kLeast;
      }
      if (!(all > kLeast) || (lost && loss > kLargeLoss)) return false;
      for (int64_t k = 0; k < classes_; ++k)
        out[t * classes_ + k] = static_cast<C>(p[k] - share[static_cast<std::size_t>(k)] / all);
      for (std::size_t s = 0; s + 2 < rest.size(); ++s) {
        rest[s] = said[s] + said[s + 1] + skips_[s + 2] * said[s + 2];
        sum += rest[s];
      }
      for (std::size_t s = 0; s + 2 < rest.size(); ++s) rest[s] /= sum;
    }
    return true;
  }

  const int64_t time_, classes_;
  const std::vector<double> p_, log_p_;
  bool by_parts_ = true;
  std::vector<double> skips_;  // 1 for states that may be reached from the one before the last
  std::vector<int64_t> states_;
  int64_t width_ = 0, blank_ = 0;
  bool has_path_ = false;
  std::vector<double> alpha_;
};

// Softmax of one example's scores.
Spoken probabilities(const Tensor& data, const CtcSizes& sizes, int64_t time, int64_t example) {
  const NormLoops<double>& loops = norm_loops<double>();
  Spoken said{std::vector<double>(static_cast<std::size_t>(time * sizes.classes)), {}};
  said.log_p.resize(said.p.size());
  std::vector<double> buffer(static_cast<std::size_t>(sizes.classes));
  for (int64_t t = 0; t < time; ++t) {
    const double* x = read_elements(data, (t * sizes.batch + example) * sizes.classes,
                                    sizes.classes, 1, buffer.data());
    double* const p = said.p.data() + t * sizes.classes;
    const double shift = loops.max(x, sizes.classes);
    const double sum = loops.exp_sum(x, p, sizes.classes, shift, 1.0);
    for (int64_t k = 0; k < sizes.classes; ++k) p[k] /= sum;
    loops.affine(x, said.log_p.data() + t * sizes.classes, sizes.classes, shift, 1.0,
                 -std::log(sum));
  }
  return said;
}

// The loss of each example, and its gradient for the way back.
void forward(const CtcParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &label = context.in(1);
  const Tensor &losses = context.out(0), &grad = context.out(1);
  const CtcSizes sizes{data.dim(0), data.dim(1), data.dim(2), label.dim(1)};
  const Tensor* data_lengths = params.use_data_lengths ? &context.in(2) : nullptr;
  const Tensor* label_lengths =
      params.use_label_lengths ? &context.in(params.use_data_lengths ? 3 : 2) : nullptr;
  const int64_t blank = params.blank(sizes.classes);
  // Checked here: what is thrown may not leave a parallel loop.
  std::vector<int64_t> times;
  std::vector<std::vector<int64_t>> labels;
  for (int64_t n = 0; n < sizes.batch; ++n) {
    times.push_back(data_lengths == nullptr
                        ? sizes.time
                        : checked_length(*data_lengths, n, sizes.time, "data length"));
    labels.push_back(labels_of(params, sizes, label, label_lengths, n));
  }
  parallel_for(
      sizes.batch, 60.0 * static_cast<double>(sizes.time * (sizes.classes + 2 * sizes.longest)),
      [&](int64_t first, int64_t last) {
        std::vector<double> gradient(static_cast<std::size_t>(sizes.time * sizes.classes));
        for (int64_t n = first; n < last; ++n) {
          const std::size_t example = static_cast<std::size_t>(n);
          const int64_t time = times[example];
          Lattice lattice(time, sizes.classes, probabilities(data, sizes, time, n), labels[example],
                          blank);
          const double loss = lattice.loss();
          write_element(losses, n, loss);
          std::fill(gradient.begin(), gradient.end(), 0.0);
          lattice.gradient(loss, gradient.data());
          for (int64_t t = 0; t < sizes.time; ++t) {
            write_elements(grad, (t * sizes.batch + n) * sizes.classes, sizes.classes, 1,
                           gradient.data() + t * sizes.classes);
          }
        }
      },
      1);
}

void infer(const CtcParams& params, Infer& infer) {
  InferArg data = infer.in(0), label = infer.in(1);
  if (data.dtype() != DType::kUnknown && !kFloating.contains(data.dtype()))
    data.fail("a floating type");
  infer.out(0).same_dtype(data);
  infer.out(1).same_as(data);
  for (int i = 1; i < infer.num_in(); ++i)
    if (infer.in(i).dtype() == DType::kUnknown) infer.in(i).same_dtype(data);
  if (data.rank_known() && data.ndim() != 3) data.fail("rank 3: time, batch, classes");
  if (label.rank_known() && label.ndim() != 2) label.fail("rank 2: batch, labels");
  if (!data.rank_known()) return;
  const Shape batch{data.dim(1)};
  if (label.rank_known()) label.set_dim(0, data.dim(1));
  for (int i = 2; i < infer.num_in(); ++i) infer.in(i).set_shape(batch);
  infer.out(0).set_shape(batch);
  if (label.known() && data.known() && !params.use_label_lengths && label.dim(1) > data.dim(0))
    label.fail("no more labels than the " + std::to_string(data.dim(0)) + " steps of time");
}

MX_OP(CTCLoss, CtcParams)
.alias("_contrib_CTCLoss")
    .alias("_contrib_ctc_loss")
    .alias("ctc_loss")
    .doc("Connectionist temporal classification: the loss of each example.")
    .input("data", "Scores: time, batch, classes.")
    .input("label", "Labels: batch, positions.")
    .input("data_lengths", "Steps of time of each example.")
    .input("label_lengths", "Labels of each example.")
    .num_inputs([](const CtcParams& params) {
      return static_cast<int>(input_names(params).size());
    })
    .input_names(input_names)
    .outputs([](const CtcParams&) { return 2; })
    .visible_outputs([](const CtcParams&) { return 1; })
    .param("use_data_lengths", &CtcParams::use_data_lengths, false,
           "Whether there is an input with the steps of each example; else all count.")
    .param("use_label_lengths", &CtcParams::use_label_lengths, false,
           "Whether there is an input with the labels of each example; else padding ends them.")
    .choice("blank_label", &CtcParams::blank_label,
            {{"first", CtcBlank::kFirst}, {"last", CtcBlank::kLast}}, "first",
            "The class of blanks. Labels are padded with 0 (first) or -1 (last).")
    .dtypes(kNumeric)
    .infer(infer)
    .cpu(forward)
    .grad([](const CtcParams&, Grad& grad) {
      if (grad.has_dout(1)) {
        throw Error(ErrorCode::kValue,
                    "given a gradient of a gradient, expected a gradient of the loss only");
      }
      Value dy = apply("expand_dims", {grad.dout(0)}, {{"axis", "0"}});
      dy = apply("expand_dims", {dy}, {{"axis", "2"}});
      Gradients result(static_cast<std::size_t>(grad.num_in()));
      result[0] = apply("broadcast_mul", {dy, grad.out(1)});
      return result;
    });

}  // namespace
}  // namespace mxnet
