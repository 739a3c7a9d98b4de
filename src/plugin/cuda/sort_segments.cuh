// SPDX-License-Identifier: Apache-2.0
// Sorting many lines of keys at once, with the places that they come from: CUB's radix sorts, or,
// compiled for the host, the standard library's. Equal keys keep their order.
#pragma once
#include <cstdint>

#include "op/kernel.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/launch.cuh"

#ifdef MX_CUDA_EMULATED
#include <algorithm>
#include <numeric>
#else
#define CCCL_DISABLE_NVTX  // its header reads the environment
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#endif

namespace mxnet {
namespace cuda {

// `segments` lines of `length` keys; K is uint32_t or uint64_t, of which the lowest `bits` count.
template <class K>
struct SegmentSort {
  const K* keys;
  const uint32_t* places;
  K* sorted_keys;
  uint32_t* sorted_places;
  int64_t segments, length;
  int bits;
};

#ifdef MX_CUDA_EMULATED

template <class K>
void sort_segments(NativeStream* stream, const SegmentSort<K>& sort, KernelContext&) {
  const LaunchScope scope(stream);
  for (int64_t first = 0; first < sort.segments * sort.length; first += sort.length) {
    uint32_t* const order = sort.sorted_places + first;
    std::iota(order, order + sort.length, 0u);
    const K* const keys = sort.keys + first;
    std::stable_sort(order, order + sort.length,
                     [keys](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
    for (int64_t i = 0; i < sort.length; ++i) {
      sort.sorted_keys[first + i] = keys[order[i]];
      order[i] = sort.places[first + order[i]];
    }
  }
}

#else

struct TimesLength {
  int64_t length;
  MX_DEVICE int64_t operator()(int64_t segment) const { return segment * length; }
};

template <class K>
void sort_segments(NativeStream* stream, const SegmentSort<K>& sort, KernelContext& context) {
  const LaunchScope scope(stream);
  const auto begins = thrust::make_transform_iterator(thrust::make_counting_iterator(int64_t{0}),
                                                      TimesLength{sort.length});
  // First asks how much scratch memory it needs, then sorts.
  const auto run = [&](void* scratch, std::size_t* bytes) {
    // A segment is one block's; a line alone gets the whole device.
    if (sort.segments == 1) {
      return cub::DeviceRadixSort::SortPairs(scratch, *bytes, sort.keys, sort.sorted_keys,
                                             sort.places, sort.sorted_places, sort.length, 0,
                                             sort.bits, scope.stream());
    }
    return cub::DeviceSegmentedRadixSort::SortPairs(
        scratch, *bytes, sort.keys, sort.sorted_keys, sort.places, sort.sorted_places,
        sort.segments * sort.length, sort.segments, begins, begins + 1, 0, sort.bits,
        scope.stream());
  };
  std::size_t bytes = 0;
  check(run(nullptr, &bytes), "sort");
  check(run(context.workspace(bytes), &bytes), "sort");
  scope.check("sort");
}

#endif

}  // namespace cuda
}  // namespace mxnet
