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

// How many of `segments` lines of `length` elements are sorted by one call of CUB's segmented sort,
// which counts elements in an int, and gives each line one block. 1: each line alone gets the whole
// device. So do few long lines, of which the blocks would leave most of it idle; from how many on
// is an estimate that no GPU has measured.
constexpr int64_t lines_at_once(int64_t length, int64_t segments) {
  constexpr int64_t kLong = int64_t{1} << 16, kFew = 16;
  if (length >= INT32_MAX || (length >= kLong && segments <= kFew)) return 1;
  return length > 0 ? INT32_MAX / length : 1;
}
static_assert(lines_at_once(1, 100) == INT32_MAX && lines_at_once(1000, 100) * 1000 <= INT32_MAX &&
              lines_at_once(int64_t{1} << 31, 100) == 1);
static_assert(lines_at_once(1 << 16, 16) == 1 && lines_at_once(1 << 16, 17) > 1 &&
              lines_at_once((1 << 16) - 1, 2) > 1);

#ifdef MX_CUDA_EMULATED

template <class K>
void sort_segments(NativeStream* stream, const SegmentSort<K>& sort, KernelContext&) {
  const LaunchScope scope(stream);
  for (int64_t first = 0; first < sort.segments * sort.length; first += sort.length) {
    uint32_t* const order = sort.sorted_places + first;
    std::iota(order, order + sort.length, 0u);
    const K* const keys = sort.keys + first;
    const int unread = 8 * static_cast<int>(sizeof(K)) - sort.bits;
    const K counting = sort.bits == 0 ? K{0} : static_cast<K>(~K{0} >> unread);
    std::stable_sort(order, order + sort.length, [keys, counting](uint32_t a, uint32_t b) {
      return (keys[a] & counting) < (keys[b] & counting);
    });
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

// Asks how much scratch memory `run` needs, then runs it.
template <class Run>
void with_scratch(KernelContext& context, const Run& run) {
  std::size_t bytes = 0;
  check(run(nullptr, &bytes), "sort");
  check(run(context.workspace(bytes), &bytes), "sort");
}

// A line alone gets the whole device.
template <class K>
void sort_line(cudaStream_t stream, const SegmentSort<K>& sort, int64_t first,
               KernelContext& context) {
  with_scratch(context, [&](void* scratch, std::size_t* bytes) {
    return cub::DeviceRadixSort::SortPairs(
        scratch, *bytes, sort.keys + first, sort.sorted_keys + first, sort.places + first,
        sort.sorted_places + first, sort.length, 0, sort.bits, stream);
  });
}

// A block each for `count` lines. REQUIRES: their elements are counted by an int.
template <class K>
void sort_lines(cudaStream_t stream, const SegmentSort<K>& sort, int64_t first, int64_t count,
                KernelContext& context) {
  const auto begins = thrust::make_transform_iterator(thrust::make_counting_iterator(int64_t{0}),
                                                      TimesLength{sort.length});
  with_scratch(context, [&](void* scratch, std::size_t* bytes) {
    return cub::DeviceSegmentedRadixSort::SortPairs(
        scratch, *bytes, sort.keys + first, sort.sorted_keys + first, sort.places + first,
        sort.sorted_places + first, static_cast<int>(count * sort.length), static_cast<int>(count),
        begins, begins + 1, 0, sort.bits, stream);
  });
}

template <class K>
void sort_segments(NativeStream* stream, const SegmentSort<K>& sort, KernelContext& context) {
  const LaunchScope scope(stream);
  const int64_t at_once = lines_at_once(sort.length, sort.segments);
  for (int64_t line = 0; line < sort.segments; line += at_once) {
    const int64_t rest = sort.segments - line, count = rest < at_once ? rest : at_once;
    if (count == 1)
      sort_line(scope.stream(), sort, line * sort.length, context);
    else
      sort_lines(scope.stream(), sort, line * sort.length, count, context);
  }
  scope.check("sort");
}

#endif

}  // namespace cuda
}  // namespace mxnet
