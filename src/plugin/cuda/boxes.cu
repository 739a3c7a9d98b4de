// SPDX-License-Identifier: Apache-2.0
// Kernels of boxes and anchors (op/detect/): overlaps, codes, priors, and what is left of many
// overlapping boxes. That is greedy: the best box decides first, so it takes a round for each.
#include "op/detect/box_code.h"
#include "op/detect/box_nms.h"
#include "op/detect/multibox.h"
#include "plugin/cuda/axes.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/rounds.cuh"
#include "plugin/cuda/sorted_lines.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace detect;  // NOLINT(google-build-using-namespace): whose kernels these are

// --- overlaps and codes --------------------------------------------------------------------------

template <class T>
struct Overlap {
  const T *a, *b;
  T* out;
  BoxFormat format;
  int64_t columns;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / columns, column = i - row * columns;
    out[i] = iou(read_box(a + row * 4, format), read_box(b + column * 4, format));
  }
};
void box_iou(const BoxIouParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    for_each(arrays.stream(), "box_iou", context.out(0).size(),
             Overlap<T>{arrays.in(0), arrays.in(1), arrays.out(0), params.format,
                        context.in(1).size() / 4});
  });
}

template <class T>
struct Decode {
  BoxDecodeParams params;
  const T *data, *anchors;
  T* out;
  int64_t count;
  MX_DEVICE void operator()(int64_t i) const {
    const Box<T> anchor = read_box(anchors + i % count * 4, params.format);
    write_box(decode_box(params, anchor, data + i * 4), BoxFormat::kCorner, out + i * 4);
  }
};
void box_decode(const BoxDecodeParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    for_each(arrays.stream(), "box_decode", context.in(0).size() / 4,
             Decode<T>{params, arrays.in(0), arrays.in(1), arrays.out(0), context.in(1).dim(1)});
  });
}

// A positive sample that is matched with no box gets no offsets: NaN, since kernels cannot throw.
template <class T>
struct Encode {
  const T *samples, *matches, *anchors, *boxes, *means, *stds;
  T *targets, *masks;
  int64_t count, choices;
  MX_DEVICE void operator()(int64_t i) const {
    T* target = targets + i * 4;
    const bool positive = samples[i] > T(0.5),
               matched = matches[i] >= 0 && matches[i] < static_cast<T>(choices);
    for (int k = 0; k < 4; ++k) {
      masks[i * 4 + k] = positive ? T(1) : T(0);
      target[k] = positive ? static_cast<T>(NAN) : T(0);
    }
    if (!positive || !matched) return;
    const T* box = boxes + (i / count * choices + static_cast<int64_t>(matches[i])) * 4;
    encode_box(read_box(anchors + i * 4), read_box(box), means, stds, target);
  }
};
void box_encode(const void*, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T *const targets = arrays.out(0), *const masks = arrays.out(1);
    for_each(arrays.stream(), "box_encode", context.in(0).size(),
             Encode<T>{arrays.in(0), arrays.in(1), arrays.in(2), arrays.in(3), arrays.in(4),
                       arrays.in(5), targets, masks, context.in(0).dim(1), context.in(3).dim(1)});
  });
}

// Anchors of one size: line, column.
template <class T>
struct Prior {
  AnchorPlaces<T> rows, columns;
  T w, h;
  bool clip;
  T* out;
  int64_t width, kinds, kind;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t line = i / width;
    write_anchor(columns(i - line * width), rows(line), w, h, clip, out + (i * kinds + kind) * 4);
  }
};
void multibox_prior(const PriorParams& params, KernelContext& context) {
  const int64_t height = context.in(0).dim(2), width = context.in(0).dim(3);
  if (height == 0 || width == 0) return;
  compute(context.out(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const auto extents = half_extents(params, static_cast<T>(height) / static_cast<T>(width));
    const AnchorPlaces<T> rows(params, 0, height), columns(params, 1, width);
    T* const out = arrays.out(0);
    int64_t kind = 0;
    for (const auto& [w, h] : extents) {
      for_each(arrays.stream(), "MultiBoxPrior", height * width,
               Prior<T>{rows, columns, w, h, params.clip, out, width,
                        static_cast<int64_t>(extents.size()), kind++});
    }
  });
}

// --- suppression ---------------------------------------------------------------------------------

template <class T>
constexpr T kNone = -std::numeric_limits<T>::infinity();  // the key of what does not take part

template <class T>
struct NmsKeys {
  BoxNmsParams params;
  const T* data;
  T* keys;
  int64_t width;
  MX_DEVICE void operator()(int64_t i) const {
    const T* row = data + i * width;
    // A negative zero is no less than a zero.
    keys[i] = takes_part(params, row) ? row[params.score_index] + T(0) : kNone<T>;
  }
};

// How many of a line's places, in order of their keys, take part: rounds are for these alone.
template <class T>
MX_DEVICE int64_t taking_part(const T* keys, const int64_t* places, int64_t count) {
  int64_t first = 0, last = count;
  while (first < last) {
    const int64_t middle = (first + last) / 2;
    if (keys[places[middle]] > kNone<T>)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

// Sets of boxes in order of score; `stays` is 1 for those that do.
template <class T>
struct Suppress {
  BoxNmsParams params;
  const T *data, *keys;
  const int64_t* places;
  int64_t* all_stay;
  int64_t count, candidates, width;

  MX_DEVICE int64_t rounds(int64_t set) const {
    return 1 + taking_part(keys + set * count, places + set * candidates, candidates);
  }
  MX_DEVICE void round(int64_t set, int64_t round, int lane, int lanes) const {
    const int64_t* place = places + set * candidates;
    int64_t* stays = all_stay + set * candidates;
    if (round == 0) {
      for (int64_t j = lane; j < candidates; j += lanes)
        stays[j] = keys[set * count + place[j]] > kNone<T> ? 1 : 0;
    } else {
      const int64_t best = round - 1;
      if (stays[best] == 0) return;
      const T* chosen = data + (set * count + place[best]) * width;
      const Box<T> box = read_box(chosen + params.coord_start, params.in_format);
      for (int64_t j = best + 1 + lane; j < candidates; j += lanes) {
        const T* other = data + (set * count + place[j]) * width;
        const bool compared = params.force_suppress || params.id_index < 0 ||
                              chosen[params.id_index] == other[params.id_index];
        if (compared && iou(box, read_box(other + params.coord_start, params.in_format)) >
                            static_cast<T>(params.overlap_thresh))
          stays[j] = 0;
      }
    }
  }
};

template <class T>
struct WriteKept {
  BoxNmsParams params;
  const T* data;
  const int64_t *places, *stays, *numbers;  // numbers: of those that stay, from 1
  T *out, *sources;
  int64_t count, candidates, width;
  MX_DEVICE void operator()(int64_t i) const {
    if (stays[i] == 0) return;
    const int64_t set = i / candidates, to = set * count + numbers[i] - 1;
    const T* from = data + (set * count + places[i]) * width;
    for (int64_t k = 0; k < width; ++k) out[to * width + k] = from[k];
    write_box(read_box(from + params.coord_start, params.in_format), params.out_format,
              out + to * width + params.coord_start);
    sources[to] = static_cast<T>(places[i]);
  }
};

void box_nms(const BoxNmsParams& params, KernelContext& context) {
  const Shape& shape = context.in(0).shape();
  const int64_t width = shape.back(), count = shape[shape.ndim() - 2];
  const int64_t sets = shape.size(0, shape.ndim() - 2);
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const T* data = arrays.in(0);
    T *const out = arrays.out(0), *const sources = arrays.out(1);
    NativeStream* const stream = arrays.stream();
    fill(stream, {out, &shape, dtype_of<T>}, -1);
    fill(stream, {sources, &context.out(1).shape(), dtype_of<T>}, -1);
    if (sets * count == 0) return;
    T* const keys = context.workspace_of<T>(sets * count);
    for_each(stream, "box_nms", sets * count, NmsKeys<T>{params, data, keys, width});
    const int64_t candidates = params.topk > 0 && params.topk < count ? params.topk : count;
    const int64_t* places = sorted_places(context, keys, sets, count, candidates);
    const Shape lines{sets, candidates};
    const Tensor stays{context.workspace_of<int64_t>(lines.size()), &lines, DType::kInt64},
        numbers{context.workspace_of<int64_t>(lines.size()), &lines, DType::kInt64};
    for_each_in_rounds(
        stream, "box_nms", sets,
        Suppress<T>{params, data, keys, places, stays.as<int64_t>(), count, candidates, width});
    running_sum(stream, stays, candidates, 1, false, false, numbers, context);
    for_each(stream, "box_nms", lines.size(),
             WriteKept<T>{params, data, places, stays.as<int64_t>(), numbers.as<int64_t>(), out,
                          sources, count, candidates, width});
  });
}

// Inputs: gradient of the output, and where its rows came from. No row came twice.
template <class T>
struct NmsSlope {
  BoxNmsParams params;
  const T *dout, *sources;
  T* dx;
  int64_t count, width;
  MX_DEVICE void operator()(int64_t i) const {
    if (sources[i] < 0) return;
    const T* from = dout + i * width;
    T* to = dx + (i / count * count + static_cast<int64_t>(sources[i])) * width;
    for (int64_t k = 0; k < width; ++k) to[k] = from[k];
    turn_gradient(params, from + params.coord_start, to + params.coord_start);
  }
};
void box_nms_slope(const BoxNmsParams& params, KernelContext& context) {
  const Shape& shape = context.in(0).shape();
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T* const dx = arrays.zeroed_out(0);
    for_each(
        arrays.stream(), "box_nms", context.in(1).size(),
        NmsSlope<T>{params, arrays.in(0), arrays.in(1), dx, shape[shape.ndim() - 2], shape.back()});
  });
}

// --- detection -----------------------------------------------------------------------------------

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

void add_boxes(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<BoxIouParams, cuda::box_iou>("_contrib_box_iou"));
  rows->push_back(kernel_row<BoxDecodeParams, cuda::box_decode>("_contrib_box_decode"));
  rows->push_back({"_contrib_box_encode", cuda::box_encode, nullptr});
  rows->push_back(kernel_row<PriorParams, multibox_prior>("_contrib_MultiBoxPrior"));
  rows->push_back(kernel_row<BoxNmsParams, box_nms>("_contrib_box_nms"));
  rows->push_back(kernel_row<BoxNmsParams, box_nms_slope>("_backward_contrib_box_nms"));
  rows->push_back(kernel_row<DetectionParams, multibox_detection>("_contrib_MultiBoxDetection"));
}

}  // namespace cuda
}  // namespace mxnet
