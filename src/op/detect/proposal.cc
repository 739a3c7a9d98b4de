// SPDX-License-Identifier: Apache-2.0
// Regions that a region proposal network thinks worth looking at: its anchors, moved, filtered and
// suppressed. Coordinates are pixels; both ends of a box belong to it.
#include "op/detect/proposal.h"

#include <algorithm>

#include "base/stable_order.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet::detect {
namespace {

template <bool multi>
void infer_proposal(const ProposalParams& params, Infer& infer) {
  infer.one_dtype();
  const auto kinds = static_cast<int64_t>(params.scales.size() * params.ratios.size());
  if (kinds == 0) infer.fail("given no scales or no ratios, expected one or more of each");
  if (params.rpn_post_nms_top_n <= 0)
    infer.fail("given rpn_post_nms_top_n " + std::to_string(params.rpn_post_nms_top_n) +
               ", expected a positive number");
  infer.in(0).set_shape(Shape{multi ? -1 : 1, 2 * kinds, -1, -1});
  const Shape& scores = infer.in(0).shape();
  infer.in(1).set_shape(Shape{scores[0], 4 * kinds, scores[2], scores[3]});
  infer.in(2).set_shape(Shape{scores[0], 3});
  if (scores[0] < 0) return;
  const int64_t rows = scores[0] * params.rpn_post_nms_top_n;
  infer.out(0).set_shape(Shape{rows, 5});
  infer.out(1).set_shape(Shape{rows, 1});
}

// All regions of one image.
template <class T>
std::vector<ProposedRegion<T>> regions(const ProposalParams& params, const T* scores,
                                       const T* offsets, const T* info, int64_t height,
                                       int64_t width) {
  std::vector<Box<T>> anchors;
  for (const float ratio : params.ratios) {
    for (const float scale : params.scales)
      anchors.push_back(base_anchor<T>(params.feature_stride, ratio, scale));
  }
  const auto kinds = static_cast<int64_t>(anchors.size());
  const ProposalImage<T> image(params, info, height, width);
  std::vector<ProposedRegion<T>> result;
  result.reserve(static_cast<std::size_t>(height * width * kinds));
  for (int64_t place = 0; place < height * width; ++place) {
    for (int64_t k = 0; k < kinds; ++k)
      result.push_back(image.region(anchors[static_cast<std::size_t>(k)], place,
                                    offsets + k * 4 * height * width + place,
                                    scores[(kinds + k) * height * width + place]));
  }
  return result;
}

// The `most` with the best scores, all if it is not positive.
template <class T>
std::vector<ProposedRegion<T>> best_first(const std::vector<ProposedRegion<T>>& regions,
                                          int32_t most) {
  std::vector<double> scores;
  scores.reserve(regions.size());
  for (const ProposedRegion<T>& region : regions) scores.push_back(region.score);
  std::vector<std::size_t> order = places_by_descending(scores);
  if (most > 0) order.resize(std::min(order.size(), static_cast<std::size_t>(most)));
  std::vector<ProposedRegion<T>> sorted;
  sorted.reserve(order.size());
  for (const std::size_t place : order) sorted.push_back(regions[place]);
  return sorted;
}

template <class T>
std::vector<std::size_t> suppress(const std::vector<ProposedRegion<T>>& sorted, T threshold,
                                  std::size_t most) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < sorted.size() && kept.size() < most; ++i) {
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](std::size_t j) {
      return pixel_overlap(sorted[j].box, sorted[i].box) > threshold;
    });
    if (!covered) kept.push_back(i);
  }
  return kept;
}

void proposal_cpu(const ProposalParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *scores = arrays.in(0), *offsets = arrays.in(1), *infos = arrays.in(2);
    T *out = arrays.out(0), *out_scores = arrays.out(1);
    const Shape& shape = context.in(0).shape();
    const int64_t height = shape[2], width = shape[3], area = height * width;
    const int64_t score_size = shape[1] * area, offset_size = context.in(1).dim(1) * area;
    const int64_t rows = params.rpn_post_nms_top_n;
    std::fill_n(out, context.out(0).size(), T{0});
    std::fill_n(out_scores, context.out(1).size(), T{0});
    parallel_for(
        shape[0], 64.0 * static_cast<double>(score_size),
        [&](int64_t first, int64_t last) {
          for (int64_t b = first; b < last; ++b) {
            const auto sorted =
                best_first(regions(params, scores + b * score_size, offsets + b * offset_size,
                                   infos + b * 3, height, width),
                           params.rpn_pre_nms_top_n);
            const auto kept = suppress(sorted, T(params.threshold), static_cast<std::size_t>(rows));
            if (kept.empty()) continue;
            for (int64_t r = 0; r < rows; ++r) {  // too few are repeated
              const auto& region = sorted[kept[static_cast<std::size_t>(r) % kept.size()]];
              T* row = out + (b * rows + r) * 5;
              row[0] = static_cast<T>(b);
              write_box(region.box, BoxFormat::kCorner, row + 1);
              out_scores[b * rows + r] = region.score;
            }
          }
        },
        1);
  });
}

template <bool multi>
OpBuilder<ProposalParams> define(const char* name, const char* doc) {
  OpBuilder<ProposalParams> op(name);
  op.doc(doc)
      .input("cls_prob", "Scores of background and object, (batch, 2 * anchors, height, width).")
      .input("bbox_pred", "Offsets of anchors, (batch, 4 * anchors, height, width).")
      .input("im_info", "Height, width and scale of each image, (batch, 3).")
      .param("rpn_pre_nms_top_n", &ProposalParams::rpn_pre_nms_top_n, 6000,
             "Regions that take part in suppression, the best ones; all if not positive.")
      .param("rpn_post_nms_top_n", &ProposalParams::rpn_post_nms_top_n, 300,
             "Regions of each image in the result.")
      .param("threshold", &ProposalParams::threshold, 0.7f,
             "Regions that overlap a better one by more are suppressed.")
      .param("rpn_min_size", &ProposalParams::rpn_min_size, 16,
             "Least height and width, times the scale of the image.")
      .param("scales", &ProposalParams::scales, std::vector<float>{4, 8, 16, 32},
             "Scales of anchors.")
      .param("ratios", &ProposalParams::ratios, std::vector<float>{0.5f, 1, 2},
             "Ratios of their height by their width.")
      .param("feature_stride", &ProposalParams::feature_stride, 16,
             "Pixels of the image by places of the feature map.")
      .param("output_score", &ProposalParams::output_score, false,
             "Whether scores are an output too.")
      .param("iou_loss", &ProposalParams::iou_loss, false, "Whether offsets are those of corners.")
      .outputs([](const ProposalParams&) { return 2; })
      .visible_outputs([](const ProposalParams& params) { return params.output_score ? 2 : 1; })
      .output("output")
      .output("score")
      .dtypes(kFloating)
      .infer(infer_proposal<multi>)
      .cpu(proposal_cpu)
      .zero_grad();
  return op;
}

[[maybe_unused]] const OpBuilder<ProposalParams> single =
    define<false>("_contrib_Proposal", "Regions of one image (image, corners), the best first.");
[[maybe_unused]] const OpBuilder<ProposalParams> multi = define<true>(
    "_contrib_MultiProposal", "Regions of each image (image, corners), the best first.");

}  // namespace
}  // namespace mxnet::detect
