// SPDX-License-Identifier: Apache-2.0
// Boxes out of what a single-shot detector predicted at its anchors.
#include <map>
#include <numeric>
#include <vector>

#include "base/stable_order.h"
#include "op/detect/box_columns.h"
#include "op/detect/multibox.h"
#include "op/detect/variances.h"
#include "op/length.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet::detect {
namespace {

void infer_detection(const DetectionParams& params, Infer& infer) {
  infer.one_dtype();
  check_variances(params.variances, infer);
  infer.in(0).set_shape(Shape{-1, -1, -1});
  const int64_t batch = infer.in(0).dim(0), count = infer.in(0).dim(2);
  infer.in(1).set_shape(Shape{batch, length::times(count, 4)});
  infer.in(2).set_shape(Shape{1, count, 4});
  infer.out(0).set_shape(Shape{batch, count, 6});
}

template <class T>
struct Found {
  T cls, score;
  Box<T> box;
};

template <class T>
std::vector<Found<T>> find(const DetectionParams& params, const T* scores, int64_t classes,
                           const T* offsets, const T* anchors, int64_t count) {
  std::vector<Found<T>> found;
  for (int64_t i = 0; i < count; ++i) {
    const BestClass<T> best(scores + i, classes, count, params.background_id);
    if (best.index < 0 || best.score < T(params.threshold)) continue;
    found.push_back({best.number(params.background_id), best.score,
                     decode_offsets(read_box(anchors + i * 4), offsets + i * 4,
                                    params.variances.data(), params.clip)});
  }
  return found;
}

// `members`: those that may suppress each other, the best first.
template <class T>
void suppress_among(const DetectionParams& params, const std::vector<std::size_t>& members,
                    std::vector<Found<T>>& found) {
  const BoxColumns<T> boxes(static_cast<int64_t>(members.size()), [&](int64_t i) {
    return found[members[static_cast<std::size_t>(i)]].box;
  });
  std::vector<T> overlaps(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (found[members[i]].cls < 0) continue;
    boxes.iou(found[members[i]].box, static_cast<int64_t>(i) + 1, boxes.size(), overlaps.data());
    for (std::size_t j = i + 1; j < members.size(); ++j)
      if (overlaps[j - i - 1] >= T(params.nms_threshold)) found[members[j]].cls = T{-1};
  }
}

template <class T>
void suppress(const DetectionParams& params, std::vector<Found<T>>& found) {
  if (!params.suppresses()) return;
  const std::size_t keep = params.nms_topk > 0
                               ? std::min(found.size(), static_cast<std::size_t>(params.nms_topk))
                               : found.size();
  std::vector<double> scores;
  scores.reserve(found.size());
  for (const Found<T>& f : found) scores.push_back(f.score);
  const std::vector<std::size_t> order = places_by_descending(scores);
  // Behind the best, rows are those of before, as existing programs see them.
  const std::vector<Found<T>> before = found;
  for (std::size_t i = 0; i < keep; ++i) found[i] = before[order[i]];
  for (std::size_t i = keep; i < found.size(); ++i) found[i].cls = T{-1};
  if (params.force_suppress) {
    std::vector<std::size_t> all(keep);
    std::iota(all.begin(), all.end(), std::size_t{0});
    suppress_among(params, all, found);
  } else {
    std::map<T, std::vector<std::size_t>> by_class;
    for (std::size_t i = 0; i < keep; ++i) by_class[found[i].cls].push_back(i);
    for (const auto& [cls, members] : by_class) suppress_among(params, members, found);
  }
}

void detection_cpu(const DetectionParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *scores = arrays.in(0), *offsets = arrays.in(1), *anchors = arrays.in(2);
    T* out = arrays.out(0);
    const int64_t classes = context.in(0).dim(1), count = context.in(0).dim(2);
    std::fill_n(out, context.out(0).size(), T{-1});
    parallel_for(
        context.in(0).dim(0), 16.0 * static_cast<double>(count * (classes + 8)),
        [&](int64_t first, int64_t last) {
          for (int64_t b = first; b < last; ++b) {
            auto found = find(params, scores + b * classes * count, classes,
                              offsets + b * count * 4, anchors, count);
            suppress(params, found);
            T* row = out + b * count * kDetectionRow;
            for (const Found<T>& f : found) {
              row[0] = f.cls;
              row[1] = f.score;
              write_box(f.box, BoxFormat::kCorner, row + 2);
              row += kDetectionRow;
            }
          }
        },
        1);
  });
}

MX_OP(_contrib_MultiBoxDetection, DetectionParams)
.alias("_npx_multibox_detection")
    .doc(
        "Detected boxes (class, score, corners) in order of score; class -1 for what does not "
        "count.")
    .input("cls_prob", "Probabilities, (batch, classes, anchors).")
    .input("loc_pred", "Offsets from anchors, (batch, anchors * 4).")
    .input("anchor", "Anchors (corners), (1, anchors, 4).")
    .param("clip", &DetectionParams::clip, true, "Whether boxes end with the image.")
    .param("threshold", &DetectionParams::threshold, 0.01f, "Least probability of a box.")
    .param("background_id", &DetectionParams::background_id, 0, "Class of the background.")
    .param("nms_threshold", &DetectionParams::nms_threshold, 0.5f,
           "Boxes that overlap a better one by this much are suppressed.")
    .param("force_suppress", &DetectionParams::force_suppress, false,
           "Whether boxes of other classes suppress too.")
    .param("variances", &DetectionParams::variances, std::vector<float>{0.1f, 0.1f, 0.2f, 0.2f},
           "Factors of offsets.")
    .param("nms_topk", &DetectionParams::nms_topk, -1,
           "Boxes that take part, the best ones; all if not positive.")
    .dtypes(kFloating)
    .infer(infer_detection)
    .cpu(detection_cpu)
    .zero_grad();

}  // namespace
}  // namespace mxnet::detect
