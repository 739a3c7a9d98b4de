// SPDX-License-Identifier: Apache-2.0
// Overlaps, codes and priors of boxes (op/detect/box_code.h, op/detect/multibox.h).
#include "op/detect/box_code.h"
#include "op/detect/multibox.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace detect;  // NOLINT(google-build-using-namespace): whose kernels these are

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
    const auto extents = half_extents(params, static_cast<T>(height), static_cast<T>(width));
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

}  // namespace

void add_boxes(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<BoxIouParams, cuda::box_iou>("_contrib_box_iou"));
  rows->push_back(kernel_row<BoxDecodeParams, cuda::box_decode>("_contrib_box_decode"));
  rows->push_back({"_contrib_box_encode", cuda::box_encode, nullptr});
  rows->push_back(kernel_row<PriorParams, multibox_prior>("_contrib_MultiBoxPrior"));
}

}  // namespace cuda
}  // namespace mxnet
