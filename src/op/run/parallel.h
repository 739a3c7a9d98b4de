// SPDX-License-Identifier: Apache-2.0
// Splitting of loops over OpenMP threads, with one static cost model for all kernels: nothing is
// ever timed.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/dtype.h"

namespace mxnet {

// Threads that are worth their while for `count` items of about `cost` elementary operations each,
// out of `threads`; one below `parallel_size` operations.
int threads_worth(int64_t count, double cost, int64_t parallel_size, int threads);

// The same with the configured size (MXNET_CPU_PARALLEL_SIZE) and cores
// (MXNET_USE_NUM_CORES_OPERATOR_TUNING); 1 inside a parallel region.
int threads_for(int64_t count, double cost = 1.0);

// The cost that an elementwise operator states for an element of `dtype`: `cost`, or 1 for types
// that MXNET_USE_OPERATOR_TUNING leaves out; of those the number of elements alone decides.
double tuned_cost(DType dtype, double cost);
// The types that a value of that row, "0", "1" or some types' names, takes in.
DTypeSet tuned_types(std::string_view setting);

// A loop's body without its type: run(body, first, last).
struct RangeBody {
  const void* body;
  void (*run)(const void* body, int64_t first, int64_t last);
};

// body over [0, count), in at most threads_for() contiguous parts whose bounds are multiples of
// `align`. A body may throw: once all parts have ended, the exception of the first that did goes
// on.
void run_parts(int64_t count, double cost, int64_t align, RangeBody body);

// The same for any fn(first, last). The loop is compiled once, for one thread and for many: the
// library holds thousands of them.
template <class F>
void parallel_for(int64_t count, double cost, const F& fn, int64_t align = 16) {
  run_parts(count, cost, align, {&fn, [](const void* body, int64_t first, int64_t last) {
                                   (*static_cast<const F*>(body))(first, last);
                                 }});
}

// The same where body writes `count` elements of `element` bytes from `out` on, and can be called
// for a few at a time as well: lines are asked for before where that is faster
// (base/owned_lines.h).
void run_writes(const void* out, int64_t element, int64_t count, double cost, RangeBody body);

template <class Out, class F>
void parallel_writes(const Out* out, int64_t count, double cost, const F& fn) {
  run_writes(out, sizeof(Out), count, cost,
             {&fn, [](const void* body, int64_t first, int64_t last) {
                (*static_cast<const F*>(body))(first, last);
              }});
}

}  // namespace mxnet
