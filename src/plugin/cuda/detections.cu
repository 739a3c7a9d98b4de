// SPDX-License-Identifier: Apache-2.0
// MultiBoxDetection (op/detect/multibox.h): classes and places of what anchors found.
#include "op/detect/multibox.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/greedy.cuh"
#include "plugin/cuda/rounds.cuh"
#include "plugin/cuda/sorted_lines.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace detect;  // NOLINT(google-build-using-namespace): whose kernels these are

// DetectionParams for kernels.
struct Detect {
  int64_t classes, count, background;
  float threshold, overlap;
  float variances[4];
  bool clip, force, suppresses;
};

// Keys of an image's anchors: in the order of their numbers, and in that of their scores.
template <class T>
struct DetectionKeys {
  Detect detect;
  const T* scores;
  T *by_number, *by_score;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t image = i / detect.count, anchor = i - image * detect.count;
    const BestClass<T> best(scores + image * detect.classes * detect.count + anchor, detect.classes,
                            detect.count, detect.background);
    const bool found = best.index >= 0 && !(best.score < static_cast<T>(detect.threshold));
    by_number[i] = found ? T(1) : kNone<T>;
    by_score[i] = found ? best.score + T(0) : kNone<T>;
  }
};

// Rows of one image; the best come first, behind the `topk` best those of before.
template <class T>
struct Detections {
  Detect detect;
  const T *scores, *offsets, *anchors, *keys;
  const int64_t *by_number, *by_score;
  T* out;
  int64_t topk;  // no more than the anchors

  MX_DEVICE int64_t rounds(int64_t image) const {
    if (!detect.suppresses) return 1;
    return 1 + taking_part(keys + image * detect.count, by_score + image * topk, topk);
  }
  MX_DEVICE void round(int64_t image, int64_t round, int lane, int lanes) const {
    T* rows = out + image * detect.count * kDetectionRow;
    if (round == 0) {
      for (int64_t p = lane; p < detect.count; p += lanes)
        write(image, p, rows + p * kDetectionRow);
      return;
    }
    const T* best = rows + (round - 1) * kDetectionRow;
    if (best[0] < 0) return;
    const Box<T> box = read_box(best + 2);
    for (int64_t p = round + lane; p < topk; p += lanes) {
      T* other = rows + p * kDetectionRow;
      if (other[0] < 0 || (!detect.force && other[0] != best[0])) continue;
      if (iou(box, read_box(other + 2)) >= static_cast<T>(detect.overlap)) other[0] = T(-1);
    }
  }
  MX_DEVICE void write(int64_t image, int64_t p, T* row) const {
    const bool among_best = detect.suppresses && p < topk;
    const int64_t first = image * detect.count;
    const int64_t anchor = among_best ? by_score[image * topk + p] : by_number[first + p];
    if (!(keys[first + anchor] > kNone<T>)) {
      for (int64_t k = 0; k < kDetectionRow; ++k) row[k] = T(-1);
      return;
    }
    const BestClass<T> best(scores + image * detect.classes * detect.count + anchor, detect.classes,
                            detect.count, detect.background);
    row[0] = detect.suppresses && !among_best ? T(-1) : best.number(detect.background);
    row[1] = best.score;
    write_box(decode_offsets(read_box(anchors + anchor * 4), offsets + (first + anchor) * 4,
                             detect.variances, detect.clip),
              BoxFormat::kCorner, row + 2);
  }
};

void multibox_detection(const DetectionParams& params, KernelContext& context) {
  const int64_t images = context.in(0).dim(0), count = context.in(0).dim(2);
  if (images * count == 0) return;
  Detect detect{context.in(0).dim(1), count, params.background_id, params.threshold,
                params.nms_threshold, {},    params.clip,          params.force_suppress,
                params.suppresses()};
  for (std::size_t k = 0; k < 4; ++k) detect.variances[k] = params.variances[k];
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const T* scores = arrays.in(0);
    T* const by_number = context.workspace_of<T>(images * count);
    T* const by_score = context.workspace_of<T>(images * count);
    for_each(arrays.stream(), "MultiBoxDetection", images * count,
             DetectionKeys<T>{detect, scores, by_number, by_score});
    const int64_t topk = params.nms_topk > 0 && params.nms_topk < count ? params.nms_topk : count;
    const int64_t* numbered = sorted_places(context, by_number, images, count, count);
    const int64_t* best = sorted_places(context, by_score, images, count, topk);
    for_each_in_rounds(arrays.stream(), "MultiBoxDetection", images,
                       Detections<T>{detect, scores, arrays.in(1), arrays.in(2), by_score, numbered,
                                     best, arrays.out(0), topk});
  });
}

}  // namespace

void add_detections(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<DetectionParams, multibox_detection>("_contrib_MultiBoxDetection"));
}

}  // namespace cuda
}  // namespace mxnet
