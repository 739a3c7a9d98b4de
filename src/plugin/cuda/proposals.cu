// SPDX-License-Identifier: Apache-2.0
// Regions that a region proposal network thinks worth looking at (op/detect/proposal.h).
#include "op/detect/proposal.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/rounds.cuh"
#include "plugin/cuda/sorted_lines.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace detect;  // NOLINT(google-build-using-namespace): whose kernels these are

template <class T>
struct WriteAnchor {
  Box<T>* anchor;
  int32_t stride;
  float ratio, scale;
  MX_DEVICE void operator()(int64_t) const { *anchor = base_anchor<T>(stride, ratio, scale); }
};

// Numbered by image, place, anchor.
template <class T>
struct FindRegions {
  const Box<T>* anchors;
  const T *scores, *offsets, *infos;
  Box<T>* boxes;
  T* keys;
  int64_t height, width, kinds;
  int32_t min_size, stride;
  bool iou_loss;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t area = height * width, k = i % kinds, place = i / kinds % area;
    const int64_t b = i / kinds / area;
    const ProposalImage<T> image(min_size, stride, iou_loss, infos + b * 3, height, width);
    const ProposedRegion<T> region =
        image.region(anchors[k], place, offsets + (b * kinds + k) * 4 * area + place,
                     scores[((2 * b + 1) * kinds + k) * area + place]);
    boxes[i] = region.box;
    keys[i] = region.score;
  }
};

// One image: the best regions, each of which takes away those that it covers. `counts` are two for
// each image, of even and of odd rounds: what a round reads, the one before has written.
template <class T>
struct KeepBest {
  const Box<T>* boxes;
  const int64_t* places;  // the candidates, the best first
  int32_t* covered;       // by a better one
  int64_t *kept, *counts;
  int64_t regions, candidates, most;
  T threshold;
  MX_DEVICE int64_t rounds(int64_t) const { return candidates + 1; }
  MX_DEVICE void round(int64_t b, int64_t round, int lane, int lanes) const {
    int32_t* mine = covered + b * candidates;
    int64_t* const count = counts + 2 * b + round % 2;
    if (round == 0) {
      for (int64_t j = lane; j < candidates; j += lanes) mine[j] = 0;
      if (lane == 0) *count = 0;
      return;
    }
    const int64_t i = round - 1, before = counts[2 * b + i % 2];
    const bool stays = mine[i] == 0 && before < most;
    if (lane == 0) *count = before + (stays ? 1 : 0);
    if (!stays) return;  // covered, or there are enough
    const int64_t place = places[b * candidates + i];
    if (lane == 0) kept[b * most + before] = place;
    for (int64_t j = i + 1 + lane; j < candidates; j += lanes) {
      const int64_t other = places[b * candidates + j];
      if (pixel_overlap(boxes[b * regions + place], boxes[b * regions + other]) > threshold)
        mine[j] = 1;
    }
  }
};

// A row of the result; too few are repeated.
template <class T>
struct WriteRegions {
  const Box<T>* boxes;
  const T* keys;
  const int64_t *kept, *counts;  // counts: two for each image, of which `last` counts
  T *out, *scores;
  int64_t regions, most, last;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t b = i / most, count = counts[2 * b + last];
    T* row = out + i * 5;
    for (int k = 0; k < 5; ++k) row[k] = T(0);
    scores[i] = T(0);
    if (count == 0) return;
    const int64_t at = b * regions + kept[b * most + (i - b * most) % count];
    row[0] = static_cast<T>(b);
    write_box(boxes[at], BoxFormat::kCorner, row + 1);
    scores[i] = keys[at];
  }
};

void proposal(const ProposalParams& params, KernelContext& context) {
  const Shape& shape = context.in(0).shape();
  const int64_t batch = shape[0], height = shape[2], width = shape[3];
  const int64_t kinds = shape[1] / 2, regions = kinds * height * width;
  const int64_t most = params.rpn_post_nms_top_n, first = params.rpn_pre_nms_top_n;
  const int64_t candidates = first > 0 && first < regions ? first : regions;
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    NativeStream* const stream = arrays.stream();
    auto* const anchors = context.workspace_of<Box<T>>(kinds);
    int64_t k = 0;
    for (const float ratio : params.ratios)
      for (const float scale : params.scales)
        for_each(stream, "Proposal", 1,
                 WriteAnchor<T>{anchors + k++, params.feature_stride, ratio, scale});
    auto* const boxes = context.workspace_of<Box<T>>(batch * regions + 1);
    T* const keys = context.workspace_of<T>(batch * regions + 1);
    const T *scores = arrays.in(0), *offsets = arrays.in(1), *infos = arrays.in(2);
    for_each(stream, "Proposal", batch * regions,
             FindRegions<T>{anchors, scores, offsets, infos, boxes, keys, height, width, kinds,
                            params.rpn_min_size, params.feature_stride, params.iou_loss});
    const int64_t* places =
        regions > 0 ? sorted_places(context, keys, batch, regions, candidates) : nullptr;
    auto* const kept = context.workspace_of<int64_t>(batch * most);
    auto* const counts = context.workspace_of<int64_t>(2 * batch + 1);
    for_each_in_rounds(
        stream, "Proposal", batch,
        KeepBest<T>{boxes, places, context.workspace_of<int32_t>(batch * candidates + 1), kept,
                    counts, regions, candidates, most, static_cast<T>(params.threshold)});
    T *const out = arrays.out(0), *const out_scores = arrays.out(1);
    for_each(
        stream, "Proposal", batch * most,
        WriteRegions<T>{boxes, keys, kept, counts, out, out_scores, regions, most, candidates % 2});
  });
}

}  // namespace

void add_proposals(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<ProposalParams, proposal>("_contrib_Proposal"));
  rows->push_back(kernel_row<ProposalParams, proposal>("_contrib_MultiProposal"));
}

}  // namespace cuda
}  // namespace mxnet
