// SPDX-License-Identifier: Apache-2.0
// The elements of channels as loops take them: runs of one channel after the other, or boxes of
// channels and examples where channels are columns. For the passes of batch normalisation.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "op/loops/row_io.h"
#include "op/norm/norm_loops.h"
#include "op/norm/row_sums.h"
#include "op/run/parallel.h"

namespace mxnet {

inline constexpr double kNormCost = 4.0;  // elementary operations an element and pass

// Where runs of elements begin, and buffers to bring them to C. For one thread.
template <class C>
class ChannelRuns {
 public:
  ChannelRuns(const RowLayout& channels, int64_t longest)
      : channels_(channels), buffers_(static_cast<std::size_t>(4 * longest)), longest_(longest) {}
  // Element `i` of the run of channel c in example n.
  int64_t at(int64_t n, int64_t c, int64_t i = 0) const {
    return (n * channels_.length + c) * channels_.inner + i;
  }
  C* buffer(int which) { return buffers_.data() + which * longest_; }
  const C* read(const Tensor& tensor, int64_t at, int64_t n, int which) {
    return read_elements(tensor, at, n, 1, buffer(which));
  }
  C* place(const Tensor& tensor, int64_t at, int which) {
    return place_elements(tensor, at, 1, buffer(which));
  }
  // Gradients of a result that was cut off at zero.
  const C* read_masked(const Tensor& dy, const Tensor* mask, int64_t at, int64_t n, int which) {
    const C* values = read(dy, at, n, which);
    if (mask == nullptr) return values;
    norm_loops<C>().masked(values, mask->as<uint8_t>() + at, buffer(which), n);
    return buffer(which);
  }

 private:
  const RowLayout& channels_;
  std::vector<C> buffers_;
  const int64_t longest_;
};

inline bool as_columns(const RowLayout& channels) { return channels.inner == 1; }

// run(c, runs) for every channel.
template <class C, class F>
void for_channels(const RowLayout& channels, double cost, const F& run) {
  parallel_for(
      channels.length, cost * static_cast<double>(channels.outer * channels.inner),
      [&](int64_t first, int64_t last) {
        ChannelRuns<C> runs(channels, std::min(channels.inner, kSumBlock));
        for (int64_t c = first; c < last; ++c) run(c, runs);
      },
      1);
}

// Channels and examples of which a thread takes sums at a time. What is added up follows from the
// shape alone, not from the number of threads.
struct ChannelBox {
  // Channels at the most, whose elements of an example are memory that is read ahead, and what they
  // are cut to where there are threads for more boxes.
  static constexpr int64_t kColumns = 512, kFewColumns = 128;
  // Examples whose short sums are taken together, and those that are one thread's at the most.
  static constexpr int64_t kExamples = 64, kBoxed = 16 * kExamples;

  int64_t channel, width, begin, end;
  int64_t part() const { return begin / kBoxed; }
};
inline int64_t parts_of(const RowLayout& channels) {
  return (channels.outer + ChannelBox::kBoxed - 1) / ChannelBox::kBoxed;
}

// run(box, runs) for all boxes.
template <class C, class F>
void for_boxes(const RowLayout& channels, double cost, const F& run) {
  constexpr int64_t kVector = 16;
  const int64_t parts = parts_of(channels), examples = std::min(channels.outer, ChannelBox::kBoxed);
  int64_t columns = ChannelBox::kColumns;
  const auto blocks_of = [&] { return (channels.length + columns - 1) / columns; };
  const auto cost_of = [&] {
    return cost * static_cast<double>(std::min(channels.length, columns) * examples);
  };
  while (columns > ChannelBox::kFewColumns &&
         blocks_of() * parts < threads_for(channels.length * parts, cost_of())) {
    columns /= 2;
  }
  const int64_t blocks = blocks_of();
  if (blocks == 0) return;
  // As wide as each other: a few channels at the end would be lines of which little is used.
  columns = ((channels.length + blocks - 1) / blocks + kVector - 1) / kVector * kVector;
  parallel_for(
      blocks * parts, cost_of(),
      [&](int64_t first, int64_t last) {
        ChannelRuns<C> runs(channels, ChannelBox::kColumns);
        for (int64_t i = first; i < last; ++i) {
          const int64_t channel = i % blocks * columns, begin = i / blocks * ChannelBox::kBoxed;
          run(ChannelBox{channel, std::min(columns, channels.length - channel), begin,
                         std::min(begin + ChannelBox::kBoxed, channels.outer)},
              runs);
        }
      },
      1);
}

// Rows of columns that a loop can take at once: one where they go through a buffer.
template <class C>
int64_t rows_at_once(std::initializer_list<const Tensor*> tensors, bool masked = false) {
  bool ready = !masked;
  for (const Tensor* tensor : tensors) ready &= lies_ready<C>(*tensor, 1);
  return ready ? ChannelBox::kExamples : 1;
}

// fn(position of the first element, elements) for the parts of a channel's runs.
template <class C, class F>
void for_parts(const RowLayout& channels, int64_t c, const ChannelRuns<C>& runs, const F& fn) {
  for (int64_t n = 0; n < channels.outer; ++n)
    for (int64_t i = 0; i < channels.inner; i += kSumBlock)
      fn(runs.at(n, c, i), std::min(kSumBlock, channels.inner - i));
}

}  // namespace mxnet
