// SPDX-License-Identifier: Apache-2.0
// Where loops write results that are too big for the caches to keep until somebody reads them.
#pragma once
#include <array>
#include <cstdint>

#include "base/owned_lines.h"
#include "op/run/sweep.h"

namespace mxnet {

// A loop without its type: run(loop, first, y, n) gives n results from position `first` on.
struct ResultLoop {
  const void* loop;
  void (*run)(const void* loop, int64_t first, void* y, int64_t n);
};

// What a loop reads beside its results, none or two arrays: `element` bytes for each result, those
// for the first one at `from`.
struct ReadAlong {
  const void* from = nullptr;
  int64_t element = 0;
};
using ReadsAlong = std::array<ReadAlong, 2>;

// The loop's results in out[0, count), elements of `element` bytes. `whole` is the size of the
// whole result, of which a thread may have a part; `read` is how many bytes are read for the whole.
// `apart`: no input is where the result will be. `light`: the loop does little but wait for memory;
// one that computes for long lets the processor have its lines in time, and loses by short calls.
// `inputs` are asked for before, too, where lines of the results are.
void write_in_blocks(void* out, int64_t element, int64_t count, int64_t whole, int64_t read,
                     bool apart, bool light, const ReadsAlong& inputs, ResultLoop results);

// The same for any compute(first, y, n), which is compiled once for all ways.
template <class Out, class F>
void write_results(Out* out, int64_t count, int64_t whole, int64_t read, bool apart, bool light,
                   const ReadsAlong& inputs, const F& compute) {
  constexpr auto run = [](const void* loop, int64_t first, void* y, int64_t n) {
    (*static_cast<const F*>(loop))(first, static_cast<Out*>(y), n);
  };
  constexpr int64_t kElement = sizeof(Out);
  if (whole * kElement < Sweep::kLeastWritten) return run(&compute, 0, out, count);
  write_in_blocks(out, kElement, count, whole, read, apart, light, inputs, {&compute, run});
}

}  // namespace mxnet
