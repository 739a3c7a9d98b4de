// SPDX-License-Identifier: Apache-2.0
// The elements of lines in order (sort, argsort, topk): keys of the elements' order
// (op/sorting/sort_key.h) are sorted with their places, and what was asked for is read off the
// places.
#include "op/run/element_size.h"
#include "op/sorting/sort_key.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/sort_segments.cuh"

namespace mxnet {
namespace cuda {
namespace {

// Keys of small types are sorted as 32 bits, of which the upper ones do not count.
template <class T>
using WideKey = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;

// Lines one behind the other, wherever their elements lie.
template <class T>
struct MakeKeys {
  const T* x;
  WideKey<T>* keys;
  uint32_t* places;
  Lines lines;
  SortKey<T> flip;
  bool zeros_meet;  // else -0 comes before 0
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t line = i / lines.length, k = i - line * lines.length;
    const T value = x[lines.first(line) + k * lines.inner];
    keys[i] = zeros_meet ? to_key(value, flip) : to_key<T, false>(value, flip);
    places[i] = static_cast<uint32_t>(k);
  }
};

// The first k places of each line.
struct Places {
  const uint32_t* sorted;
  Lines all, taken;  // lines of n and of k elements
  // Element i of what is taken: where it lies in an array of these, and in one of all.
  MX_DEVICE void of(int64_t i, int64_t* in_taken, int64_t* in_all, uint32_t* place) const {
    const int64_t line = i / taken.length, k = i - line * taken.length;
    *place = sorted[line * all.length + k];
    *in_taken = taken.first(line) + k * taken.inner;
    *in_all = all.first(line) + *place * all.inner;
  }
};

// E has the size of an element. Copies from what is taken to all, or back.
template <class E, bool kScatter>
struct MovePlaces {
  Places places;
  const E* from;
  E* to;
  MX_DEVICE void operator()(int64_t i) const {
    int64_t in_taken, in_all;
    uint32_t place;
    places.of(i, &in_taken, &in_all, &place);
    if constexpr (kScatter)
      to[in_all] = from[in_taken];
    else
      to[in_taken] = from[in_all];
  }
};

// The place itself, or 1 at it (`marks`).
template <class T>
struct WritePlaces {
  Places places;
  T* to;
  bool marks;
  MX_DEVICE void operator()(int64_t i) const {
    int64_t in_taken, in_all;
    uint32_t place;
    places.of(i, &in_taken, &in_all, &place);
    if (marks)
      to[in_all] = narrow<T>(1.0f);
    else
      to[in_taken] = narrow<T>(static_cast<int64_t>(place));
  }
};

void write_places(NativeStream* stream, const Places& places, int64_t count, bool marks,
                  const Tensor& to) {
  for_dtype<kNumeric.bits_>(to.dtype, "topk", [&](auto type) {
    using T = decltype(type);
    for_each(stream, "topk", count, WritePlaces<T>{places, to.as<T>(), marks});
  });
}

template <bool kScatter>
void move_places(NativeStream* stream, const Places& places, int64_t count, const Tensor& from,
                 const Tensor& to) {
  dispatch_size(to.dtype, [&](auto unit) {
    using E = decltype(unit);
    for_each(stream, "topk", count, MovePlaces<E, kScatter>{places, from.as<E>(), to.as<E>()});
  });
}

// The places of each line's elements in order.
const uint32_t* sorted_places(NativeStream* stream, const GpuOrder& call, KernelContext& context) {
  const int64_t size = call.in.size();
  // As on the CPU, where all values are asked for and no places.
  const bool values_alone = call.positions == nullptr && call.mask == nullptr &&
                            call.from == &call.in && call.k == call.n;
  auto* const places = context.workspace_of<uint32_t>(size);
  auto* const sorted = context.workspace_of<uint32_t>(size);
  for_dtype<kAllTypes.bits_>(call.in.dtype, "topk", [&](auto type) {
    using T = decltype(type);
    using K = WideKey<T>;
    K* const keys = context.workspace_of<K>(size);
    K* const sorted_keys = context.workspace_of<K>(size);
    const auto flip = static_cast<SortKey<T>>(call.ascending ? 0 : ~SortKey<T>{0});
    for_each(stream, "topk", size,
             MakeKeys<T>{call.in.as<T>(), keys, places, {call.n, call.inner}, flip, !values_alone});
    sort_segments<K>(
        stream,
        {keys, places, sorted_keys, sorted, size / call.n, call.n, static_cast<int>(8 * sizeof(T))},
        context);
  });
  return sorted;
}

}  // namespace

void order(NativeStream* stream, const GpuOrder& call, KernelContext& context) {
  if (call.in.size() == 0) return;
  if (call.n > UINT32_MAX)
    throw Error(ErrorCode::kValue, "sort",
                "given lines of " + std::to_string(call.n) +
                    " elements, expected at most 4294967295 on a GPU, whose places have 32 bits");
  const Places places{
      sorted_places(stream, call, context), {call.n, call.inner}, {call.k, call.inner}};
  const int64_t count = call.in.size() / call.n * call.k;
  if (call.positions != nullptr) write_places(stream, places, count, false, *call.positions);
  if (call.mask != nullptr) write_places(stream, places, count, true, *call.mask);
  if (call.taken != nullptr) move_places<false>(stream, places, count, *call.from, *call.taken);
  if (call.scattered != nullptr)
    move_places<true>(stream, places, count, *call.given, *call.scattered);
}

}  // namespace cuda
}  // namespace mxnet
