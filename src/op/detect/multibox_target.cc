// SPDX-License-Identifier: Apache-2.0
// What a single-shot detector should predict at each anchor: matches the anchors with the true
// boxes and picks negative samples.
#include <fmt/format.h>

#include "base/stable_order.h"
#include "op/detect/matching.h"
#include "op/detect/multibox.h"
#include "op/detect/variances.h"
#include "op/length.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet::detect {
namespace {

void infer_target(const TargetParams& params, Infer& infer) {
  infer.one_dtype();
  check_variances(params.variances, infer);
  if (params.negative_mining_ratio > 0 && !(params.negative_mining_thresh > 0)) {
    infer.fail(fmt::format("given negative_mining_thresh {}, expected a number above 0",
                           params.negative_mining_thresh));
  }
  infer.in(0).set_shape(Shape{1, -1, 4});
  infer.in(1).set_shape(Shape{-1, -1, -1});
  infer.in(2).set_shape(Shape{infer.in(1).dim(0), -1, infer.in(0).dim(1)});
  if (infer.in(1).dim(2) >= 0 && infer.in(1).dim(2) < 5)
    infer.in(1).fail("rows of class, left, top, right, bottom");
  if (infer.in(2).dim(1) == 0) infer.in(2).fail("one class or more");
  const int64_t count = infer.in(0).dim(1), batch = infer.in(1).dim(0);
  const int64_t flat = length::times(count, 4);
  infer.out(0).set_shape(Shape{batch, flat});
  infer.out(1).set_shape(Shape{batch, flat});
  infer.out(2).set_shape(Shape{batch, count});
}

enum class State : uint8_t { kIgnored, kNegative, kPositive };

// One sample of the batch.
template <class T>
class Matcher {
 public:
  Matcher(const TargetParams& params, const T* anchors, int64_t count)
      : params_(params),
        anchors_(anchors),
        count_(count),
        state_(static_cast<std::size_t>(count), State::kIgnored),
        best_(static_cast<std::size_t>(count), {T{-1}, int64_t{-1}}) {}

  // Rows of `width` numbers; the first without a class ends the list. False if there is none.
  bool read_labels(const T* labels, int64_t rows, int64_t width) {
    for (int64_t r = 0; r < rows && labels[r * width] != T{-1}; ++r) {
      truths_.push_back(read_box(labels + r * width + 1));
      classes_.push_back(labels[r * width]);
    }
    return !truths_.empty();
  }

  void match() {
    const auto truths = static_cast<int64_t>(truths_.size());
    std::vector<T> overlaps(static_cast<std::size_t>(count_ * truths));
    for (int64_t i = 0; i < count_; ++i) {
      for (int64_t j = 0; j < truths; ++j)
        overlaps[at(i * truths + j)] = iou(read_box(anchors_ + i * 4), truths_[at(j)]);
    }
    match_each_truth(overlaps);
    for (int64_t i = 0; i < count_; ++i) {
      if (state_[at(i)] == State::kPositive) continue;
      for (int64_t j = 0; j < truths; ++j) {
        if (overlaps[at(i * truths + j)] > best_[at(i)].first)
          best_[at(i)] = {overlaps[at(i * truths + j)], j};
      }
      if (params_.overlap_threshold > 0 && best_[at(i)].first > T(params_.overlap_threshold))
        state_[at(i)] = State::kPositive;
    }
  }

  // Scores: (classes, anchors), the first class is the background.
  void choose_negatives(const T* scores, int64_t classes) {
    if (params_.negative_mining_ratio <= 0) {
      for (State& state : state_) {
        if (state != State::kPositive) state = State::kNegative;
      }
      return;
    }
    const auto positives = std::count(state_.begin(), state_.end(), State::kPositive);
    auto wanted =
        static_cast<int64_t>(static_cast<float>(positives) * params_.negative_mining_ratio);
    wanted = std::max<int64_t>(wanted, params_.minimum_negative_samples);
    wanted = std::min<int64_t>(wanted, count_ - positives);
    // The harder the less the background is believed in.
    std::vector<std::size_t> candidates;
    std::vector<double> hardness;
    for (int64_t i = 0; i < count_; ++i) {
      if (state_[at(i)] == State::kPositive ||
          !(best_[at(i)].first < T(params_.negative_mining_thresh)))
        continue;
      candidates.push_back(at(i));
      hardness.push_back(-background(scores + i, classes));
    }
    const std::vector<std::size_t> order = places_by_descending(hardness);
    wanted = std::min<int64_t>(wanted, static_cast<int64_t>(candidates.size()));
    for (int64_t i = 0; i < wanted; ++i) state_[candidates[order[at(i)]]] = State::kNegative;
  }

  void write(T* offsets, T* mask, T* cls) const {
    for (int64_t i = 0; i < count_; ++i) {
      if (state_[at(i)] == State::kNegative) cls[i] = T{0};
      if (state_[at(i)] != State::kPositive) continue;
      const int64_t truth = best_[at(i)].second;
      cls[i] = classes_[at(truth)] + 1;
      std::fill_n(mask + i * 4, 4, T{1});
      encode_offsets(read_box(anchors_ + i * 4), truths_[at(truth)], params_.variances.data(),
                     offsets + i * 4);
    }
  }

 private:
  static std::size_t at(int64_t i) { return static_cast<std::size_t>(i); }

  // Every true box gets an anchor of its own, the best overlaps first.
  void match_each_truth(const std::vector<T>& overlaps) {
    constexpr T kLeast = T(1e-6);
    const auto truths = static_cast<int64_t>(truths_.size());
    std::vector<bool> done(at(truths));
    for (int64_t n = 0; n < truths; ++n) {
      T best = kLeast;
      int64_t anchor = -1, truth = -1;
      for (int64_t i = 0; i < count_; ++i) {
        if (state_[at(i)] == State::kPositive) continue;
        for (int64_t j = 0; j < truths; ++j) {
          if (done[at(j)] || !(overlaps[at(i * truths + j)] > best)) continue;
          best = overlaps[at(i * truths + j)];
          anchor = i;
          truth = j;
        }
      }
      if (anchor < 0) return;
      state_[at(anchor)] = State::kPositive;
      best_[at(anchor)] = {best, truth};
      done[at(truth)] = true;
    }
  }

  // Softmax of the first class; `scores` are count_ apart.
  T background(const T* scores, int64_t classes) const {
    T largest = scores[0];
    for (int64_t c = 1; c < classes; ++c) largest = std::max(largest, scores[c * count_]);
    T sum{0};
    for (int64_t c = 0; c < classes; ++c) sum += std::exp(scores[c * count_] - largest);
    return std::exp(scores[0] - largest) / sum;
  }

  const TargetParams& params_;
  const T* anchors_;
  int64_t count_;
  std::vector<State> state_;
  std::vector<std::pair<T, int64_t>> best_;  // overlap and true box of each anchor
  std::vector<Box<T>> truths_;
  std::vector<T> classes_;
};

void target_cpu(const TargetParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *anchors = arrays.in(0), *labels = arrays.in(1), *scores = arrays.in(2);
    T *offsets = arrays.out(0), *masks = arrays.out(1), *cls = arrays.out(2);
    const int64_t count = context.in(0).dim(1), batch = context.in(1).dim(0);
    const int64_t rows = context.in(1).dim(1), width = context.in(1).dim(2);
    const int64_t classes = context.in(2).dim(1);
    std::fill_n(offsets, batch * count * 4, T{0});
    std::fill_n(masks, batch * count * 4, T{0});
    std::fill_n(cls, batch * count, T(params.ignore_label));
    parallel_for(
        batch, 16.0 * static_cast<double>(count * (rows + classes)),
        [&](int64_t first, int64_t last) {
          for (int64_t b = first; b < last; ++b) {
            Matcher<T> matcher(params, anchors, count);
            if (!matcher.read_labels(labels + b * rows * width, rows, width)) continue;
            matcher.match();
            matcher.choose_negatives(scores + b * classes * count, classes);
            matcher.write(offsets + b * count * 4, masks + b * count * 4, cls + b * count);
          }
        },
        1);
  });
}

MX_OP(_contrib_MultiBoxTarget, TargetParams)
.alias("_npx_multibox_target")
    .doc(
        "Targets of a single-shot detector: offsets of matched boxes, which of them count, "
        "classes.")
    .input("anchor", "Anchors (corners), (1, anchors, 4).")
    .input("label", "True boxes, (batch, boxes, 5): class (-1 ends them), corners.")
    .input("cls_pred", "Predicted scores of classes, (batch, classes, anchors), background first.")
    .param("overlap_threshold", &TargetParams::overlap_threshold, 0.5f,
           "Anchors that overlap a true box by more are positive.")
    .param("ignore_label", &TargetParams::ignore_label, -1.0f,
           "Class of anchors that do not count.")
    .param("negative_mining_ratio", &TargetParams::negative_mining_ratio, -1.0f,
           "Negative samples by positive ones; all others are negative if not positive.")
    .param("negative_mining_thresh", &TargetParams::negative_mining_thresh, 0.5f,
           "Anchors that overlap a true box by this much are no negative samples.")
    .param("minimum_negative_samples", &TargetParams::minimum_negative_samples, 0,
           "Least number of negative samples.")
    .param("variances", &TargetParams::variances, std::vector<float>{0.1f, 0.1f, 0.2f, 0.2f},
           "Divisors of offsets.")
    .outputs([](const TargetParams&) { return 3; })
    .output("loc_target")
    .output("loc_mask")
    .output("cls_target")
    .dtypes(kFloating)
    .infer(infer_target)
    .cpu(target_cpu)
    .zero_grad();

}  // namespace
}  // namespace mxnet::detect
