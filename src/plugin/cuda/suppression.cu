// SPDX-License-Identifier: Apache-2.0
// box_nms (op/detect/box_nms.h): the best of the boxes that overlap.
#include "op/detect/box_nms.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/greedy.cuh"
#include "plugin/cuda/rounds.cuh"
#include "plugin/cuda/sorted_lines.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace detect;  // NOLINT(google-build-using-namespace): whose kernels these are

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

template <class T>
struct LeaveAll {
  const T* data;
  T *out, *sources;
  int64_t count, width;
  MX_DEVICE void operator()(int64_t i) const {
    for (int64_t k = i * width; k < (i + 1) * width; ++k) out[k] = data[k];
    sources[i] = T(i % count);
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
    if (leaves_all(params))
      return for_each(stream, "box_nms", sets * count,
                      LeaveAll<T>{data, out, sources, count, width});
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

}  // namespace

void add_suppression(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<BoxNmsParams, box_nms>("_contrib_box_nms"));
  rows->push_back(kernel_row<BoxNmsParams, box_nms_slope>("_backward_contrib_box_nms"));
}

}  // namespace cuda
}  // namespace mxnet
