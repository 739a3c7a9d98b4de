// SPDX-License-Identifier: Apache-2.0
// How batch normalisation (op/norm/batch_norm_kernel.h) is spread over a GPU, for both passes.
// Channels are few and long: each is cut into slices whose sums are merged in a fixed order. Where
// a channel's elements lie together, a block sums up a slice; where channels come last, a thread
// does, of as many channels as it loads at once, so that neighbours load what lies together.
#pragma once
#include <initializer_list>
#include <type_traits>

#include "op/norm/batch_norm_kernel.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace normal {

// Slices of all channels, and the positions that one has at least. Estimates for threads: no GPU
// has measured them.
struct Cut {
  int64_t slices, least;
};
constexpr Cut kBlocks{2048, 4096};  // some blocks for each multiprocessor
constexpr Cut kThreadsOfPacks{1 << 16, 32};

// Element p of channel c lies at (p / inner * length + c) * inner + p % inner.
struct Channels {
  int64_t length, positions, slices, slice;
  Divider inner;
  int pack;  // channels of a thread; 0: a block has one

  // `loads`: elements that a thread loads at once where it can.
  Channels(const BatchNormCall& call, int loads)
      : length(call.channels.length), positions(call.positions()), inner(call.channels.inner) {
    const bool last = inner.by() == 1 && length > 1;
    pack = !last ? 0 : length % loads == 0 ? loads : 1;
    const Cut& cut = last ? kThreadsOfPacks : kBlocks;
    const int64_t across = last ? length / pack : length;
    const int64_t wanted = across == 0 ? 1 : (cut.slices + across - 1) / across;
    const int64_t most = (positions + cut.least - 1) / cut.least;
    slices = wanted < most ? wanted : most < 1 ? 1 : most;
    slice = (positions + slices - 1) / slices;
  }
  // Of slice i / length of channel i % length: where it begins; it ends before the next one.
  MX_DEVICE int64_t first_of(int64_t i) const { return i / length * slice; }
  MX_DEVICE int64_t at(int64_t c, int64_t p) const {
    const int64_t outer = inner.quotient(p);
    return (outer * length + c) * inner.by() + p - outer * inner.by();
  }
};

// Packs of elements that are of one channel, or of as many that follow each other.
struct Packs {
  Divider inner, length;
  int step;       // from the channel of an element of a pack to that of the next
  bool possible;  // else elements are taken one by one

  Packs(const Channels& channels, int loads)
      : inner(channels.inner),
        length(channels.length),
        step(channels.inner.by() == 1 ? 1 : 0),
        possible((step == 1 ? channels.length : channels.inner.by()) % loads == 0) {}
  MX_DEVICE int64_t channel(int64_t i) const {
    const int64_t row = inner.quotient(i);
    return row - length.quotient(row) * length.by();
  }
};

// fn(T, P): the types of data and of parameters.
template <class F>
void for_types(const GpuBatchNorm& call, const F& fn) {
  for_dtype<kFloating.bits_>(call.data.dtype, "BatchNorm", [&](auto element) {
    using T = decltype(element);
    fn(element, Compute<T>{});
  });
}

// A block for a channel where it has many slices.
inline bool is_wide(const Channels& channels) { return channels.slices > kWarp; }

// make(std::integral_constant): a function object for packs of so many elements.
template <int kLoads, class Make>
void for_each_pack(NativeStream* stream, const char* name, int64_t n, bool possible,
                   const Make& make) {
  if (possible)
    for_each(stream, name, n / kLoads, make(std::integral_constant<int, kLoads>{}));
  else
    for_each(stream, name, n, make(std::integral_constant<int, 1>{}));
}

// One launch that takes the slices, by threads with packs or by blocks.
template <int kLoads, class Make, class Blocks>
void take_slices(NativeStream* stream, const char* name, const Channels& channels, const Make& make,
                 const Blocks& blocks) {
  const int64_t n = channels.length * channels.slices;
  if (channels.pack == 0)
    for_each_group(stream, name, n, true, blocks());
  else
    for_each_pack<kLoads>(stream, name, n, channels.pack == kLoads, make);
}

// Elements that all of the arrays let a thread load at once.
template <class T>
int loads_of(std::initializer_list<const Tensor*> arrays) {
  for (const Tensor* array : arrays)
    if (!is_aligned(array->data)) return 1;
  return kPackSize<T>;
}

}  // namespace normal
}  // namespace cuda
}  // namespace mxnet
