// SPDX-License-Identifier: Apache-2.0
// Greedy matching: rows with columns (op/detect/bipartite_matching.cc), and anchors with true boxes
// (op/detect/multibox_target.cc). The best pair decides first, so it takes a round for each.
#include "op/detect/matching.h"
#include "op/detect/multibox.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/rounds.cuh"
#include "plugin/cuda/sorted_lines.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace detect;  // NOLINT(google-build-using-namespace): whose kernels these are

// --- rows and columns ----------------------------------------------------------------------------

// One matrix by one thread: each pair needs to know about all before.
template <class T>
struct MatchPairs {
  MatchingParams params;
  const T* scores;
  const int64_t* places;  // in order of score
  T *row, *column;
  int64_t rows, columns;

  MX_DEVICE void operator()(int64_t i) const {
    T *of_row = row + i * rows, *of_column = column + i * columns;
    for (int64_t r = 0; r < rows; ++r) of_row[r] = T(-1);
    for (int64_t c = 0; c < columns; ++c) of_column[c] = T(-1);
    const int64_t area = rows * columns;
    const T threshold = static_cast<T>(params.threshold);
    int64_t found = 0;
    for (int64_t k = 0; k < area; ++k) {
      const int64_t at = places[i * area + k], r = at / columns, c = at - r * columns;
      if (of_row[r] != T(-1) || of_column[c] != T(-1)) continue;
      const T score = scores[i * area + at];
      if (!(params.is_ascend ? score < threshold : score > threshold)) return;
      of_row[r] = static_cast<T>(c);
      of_column[c] = static_cast<T>(r);
      // Existing programs get one more than they ask for.
      if (params.topk > 0 && ++found > params.topk) return;
    }
  }
};
void match_pairs(const MatchingParams& params, KernelContext& context) {
  const Shape& shape = context.in(0).shape();
  const int64_t rows = shape[shape.ndim() - 2], columns = shape.back();
  const int64_t matrices = shape.size(0, shape.ndim() - 2);
  if (context.in(0).size() == 0) {
    for (int o = 0; o < 2; ++o) fill(context.stream()->native(), context.out(o), -1);
    return;
  }
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const T* scores = arrays.in(0);
    const int64_t* places =
        sorted_places(context, scores, matrices, rows * columns, rows * columns, params.is_ascend);
    T *const row = arrays.out(0), *const column = arrays.out(1);
    for_each(arrays.stream(), "bipartite_matching", matrices,
             MatchPairs<T>{params, scores, places, row, column, rows, columns});
  });
}

// --- anchors and true boxes ----------------------------------------------------------------------

constexpr int64_t kNobody = -1;

// What is known of an anchor.
template <class T>
struct Anchor {
  T overlap;      // with its best true box
  int64_t truth;  // of which this is the number, or kNobody
  int32_t positive;
};
template <class T>
struct Pair {
  T overlap;
  int64_t anchor, truth;
};

// A sample in a block of threads. Every true box gets an anchor of its own, the best overlaps
// first; then anchors that overlap enough join.
template <class T>
struct MatchBoxes {
  static constexpr int kLanes = kThreads;  // the most
  const T *boxes, *labels;                 // boxes of anchors
  Anchor<T>* anchors;
  int32_t* done;    // whether a true box has its anchor
  int64_t* truths;  // how many there are in each sample
  Pair<T>* best;    // of each lane
  int64_t count, rows, width;
  T threshold;

  MX_DEVICE int64_t count_truths(int64_t sample) const {
    // The first row without a class ends the list.
    int64_t found = 0;
    while (found < rows && labels[(sample * rows + found) * width] != T(-1)) ++found;
    return found;
  }
  MX_DEVICE T overlap(int64_t sample, int64_t anchor, int64_t truth) const {
    return iou(read_box(boxes + anchor * 4),
               read_box(labels + (sample * rows + truth) * width + 1));
  }
  MX_DEVICE int64_t rounds(int64_t) const { return 2 * rows + 2; }
  MX_DEVICE void round(int64_t sample, int64_t round, int lane, int lanes) const {
    Anchor<T>* mine = anchors + sample * count;
    if (round == 0) {
      for (int64_t i = lane; i < count; i += lanes) mine[i] = {T(-1), kNobody, 0};
      for (int64_t j = lane; j < rows; j += lanes) done[sample * rows + j] = 0;
      if (lane == 0) truths[sample] = count_truths(sample);
    } else if (round == 2 * rows + 1) {
      for (int64_t i = lane; i < count; i += lanes) join(sample, i, &mine[i]);
    } else if (round % 2 == 1) {
      best[sample * kLanes + lane] = search(sample, lane, lanes);
    } else if (lane == 0) {
      decide(sample, lanes);
    }
  }
  MX_DEVICE Pair<T> search(int64_t sample, int lane, int lanes) const {
    Pair<T> found{T(1e-6), kNobody, kNobody};
    for (int64_t i = lane; i < count; i += lanes) {
      if (anchors[sample * count + i].positive != 0) continue;
      for (int64_t j = 0; j < truths[sample]; ++j) {
        if (done[sample * rows + j] != 0) continue;
        const T value = overlap(sample, i, j);
        if (value > found.overlap) found = {value, i, j};
      }
    }
    return found;
  }
  MX_DEVICE void decide(int64_t sample, int lanes) const {
    Pair<T> winner = best[sample * kLanes];
    for (int lane = 1; lane < lanes; ++lane) {
      const Pair<T>& other = best[sample * kLanes + lane];
      if (other.anchor == kNobody) continue;
      // Of equals the first anchor.
      if (winner.anchor == kNobody || other.overlap > winner.overlap ||
          (other.overlap == winner.overlap && other.anchor < winner.anchor))
        winner = other;
    }
    if (winner.anchor == kNobody) return;
    anchors[sample * count + winner.anchor] = {winner.overlap, winner.truth, 1};
    done[sample * rows + winner.truth] = 1;
  }
  MX_DEVICE void join(int64_t sample, int64_t i, Anchor<T>* anchor) const {
    if (anchor->positive != 0) return;
    for (int64_t j = 0; j < truths[sample]; ++j) {
      const T value = overlap(sample, i, j);
      if (value > anchor->overlap) *anchor = {value, j, 0};
    }
    if (threshold > T(0) && anchor->overlap > threshold) anchor->positive = 1;
  }
};

// The harder an anchor is, the less the background is believed in; what is no candidate comes last.
template <class T>
struct Hardness {
  const Anchor<T>* anchors;
  const T* scores;
  T* keys;
  int64_t count, classes;
  T threshold;
  MX_DEVICE bool is_candidate(int64_t i) const {
    return anchors[i].positive == 0 && anchors[i].overlap < threshold;
  }
  MX_DEVICE void operator()(int64_t i) const {
    const T* score = scores + i / count * classes * count + i % count;
    T largest = score[0], sum(0);
    for (int64_t c = 1; c < classes; ++c)
      largest = score[c * count] > largest ? score[c * count] : largest;
    for (int64_t c = 0; c < classes; ++c) sum += row_words::exp(score[c * count] - largest);
    keys[i] = is_candidate(i) ? row_words::exp(score[0] - largest) / sum : T(2);
  }
};
// How many of the hardest are negative samples.
template <class T>
struct CountWanted {
  Hardness<T> hardness;
  int64_t* wanted;
  float ratio;
  int64_t least;
  struct Counts {
    int64_t positives, candidates;
  };
  MX_DEVICE Counts part(int64_t sample, int lane, int lanes) const {
    Counts counts{0, 0};
    for (int64_t i = lane; i < hardness.count; i += lanes) {
      const int64_t at = sample * hardness.count + i;
      counts.positives += hardness.anchors[at].positive;
      counts.candidates += hardness.is_candidate(at) ? 1 : 0;
    }
    return counts;
  }
  MX_DEVICE Counts merge(const Counts& a, const Counts& b) const {
    return {a.positives + b.positives, a.candidates + b.candidates};
  }
  MX_DEVICE void finish(int64_t sample, const Counts& counts) const {
    auto number = static_cast<int64_t>(static_cast<float>(counts.positives) * ratio);
    number = number > least ? number : least;
    const int64_t others = hardness.count - counts.positives;
    number = number < others ? number : others;
    wanted[sample] = number < counts.candidates ? number : counts.candidates;
  }
};

template <class T>
struct WriteTargets {
  const Anchor<T>* anchors;
  const T *boxes, *labels;
  T *offsets, *masks, *classes;
  int64_t count, rows, width;
  float variances[4];
  T ignored;
  bool all_negative;  // that are not positive
  MX_DEVICE void operator()(int64_t i) const {
    const Anchor<T>& anchor = anchors[i];
    const int64_t sample = i / count;
    for (int k = 0; k < 4; ++k) {
      masks[i * 4 + k] = static_cast<T>(anchor.positive);
      offsets[i * 4 + k] = T(0);
    }
    // Samples without true boxes do not count at all.
    const bool labelled = rows > 0 && labels[sample * rows * width] != T(-1);
    classes[i] = all_negative && labelled ? T(0) : ignored;
    if (anchor.positive == 0) return;
    const T* label = labels + (sample * rows + anchor.truth) * width;
    classes[i] = label[0] + 1;
    encode_offsets(read_box(boxes + i % count * 4), read_box(label + 1), variances,
                   offsets + i * 4);
  }
};
template <class T>
struct MarkNegatives {
  const Anchor<T>* anchors;
  const int64_t *places, *wanted;
  const T* labels;
  T* classes;
  int64_t count, rows, width;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t sample = i / count;
    if (rows == 0 || labels[sample * rows * width] == T(-1)) return;
    if (i - sample * count < wanted[sample]) classes[sample * count + places[i]] = T(0);
  }
};

void multibox_target(const TargetParams& params, KernelContext& context) {
  const int64_t count = context.in(0).dim(1), samples = context.in(1).dim(0);
  const int64_t rows = context.in(1).dim(1), width = context.in(1).dim(2);
  const int64_t classes = context.in(2).dim(1), size = samples * count;
  if (size == 0) return;
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    NativeStream* const stream = arrays.stream();
    const T *boxes = arrays.in(0), *labels = arrays.in(1), *scores = arrays.in(2);
    auto* const anchors = context.workspace_of<Anchor<T>>(size);
    for_each_in_rounds(
        stream, "MultiBoxTarget", samples,
        MatchBoxes<T>{boxes, labels, anchors, context.workspace_of<int32_t>(samples * rows + 1),
                      context.workspace_of<int64_t>(samples),
                      context.workspace_of<Pair<T>>(samples * MatchBoxes<T>::kLanes), count, rows,
                      width, static_cast<T>(params.overlap_threshold)});
    const bool mines = params.negative_mining_ratio > 0;
    T* const targets = arrays.out(0);
    T* const masks = arrays.out(1);
    T* const found = arrays.out(2);
    WriteTargets<T> write{anchors,
                          boxes,
                          labels,
                          targets,
                          masks,
                          found,
                          count,
                          rows,
                          width,
                          {},
                          static_cast<T>(params.ignore_label),
                          !mines};
    for (std::size_t k = 0; k < 4; ++k) write.variances[k] = params.variances[k];
    for_each(stream, "MultiBoxTarget", size, write);
    if (!mines) return;
    T* const keys = context.workspace_of<T>(size);
    const Hardness<T> hardness{anchors, scores,  keys,
                               count,   classes, static_cast<T>(params.negative_mining_thresh)};
    for_each(stream, "MultiBoxTarget", size, hardness);
    const int64_t* places = sorted_places(context, keys, samples, count, count, true);
    int64_t* const wanted = context.workspace_of<int64_t>(samples);
    for_each_group(stream, "MultiBoxTarget", samples, true,
                   CountWanted<T>{hardness, wanted, params.negative_mining_ratio,
                                  params.minimum_negative_samples});
    for_each(stream, "MultiBoxTarget", size,
             MarkNegatives<T>{anchors, places, wanted, labels, found, count, rows, width});
  });
}

}  // namespace

void add_matching(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<MatchingParams, match_pairs>("_contrib_bipartite_matching"));
  rows->push_back(kernel_row<TargetParams, multibox_target>("_contrib_MultiBoxTarget"));
}

}  // namespace cuda
}  // namespace mxnet
