// SPDX-License-Identifier: Apache-2.0
// Loops over the spread array in its own order, into sums wider than its type.
#include "op/shape/sum_strided.h"

#include <algorithm>

#include "op/loops/convert.h"
#include "op/run/dispatch.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

using Dim = StridedPlan::Dim;

// Loops sorted by the step in the spread array, so that it is read in order.
struct Loops {
  std::array<Dim, StridedPlan::kMaxDims + 1> at;
  std::size_t n = 0;

  explicit Loops(const StridedPlan& plan) {
    for (const Dim& dim : plan.dims()) {
      if (dim.size != 1) at[n++] = dim;
    }
    if (n == 0) at[n++] = {1, 0, 1};
    std::stable_sort(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(n),
                     [](const Dim& a, const Dim& b) { return a.out_step > b.out_step; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < n; ++i) {
      const Dim inner = at[i];
      Dim& outer = at[kept];
      if (outer.in_step == inner.in_step * inner.size &&
          outer.out_step == inner.out_step * inner.size) {
        outer = {outer.size * inner.size, inner.in_step, inner.out_step};
      } else {
        at[++kept] = inner;
      }
    }
    n = kept + 1;
  }
};

template <class T, class Sum>
void sum_row(const T* spread, Sum* sums, const Dim& row) {
  if (row.in_step == 0) {
    Sum sum{0};
    for (int64_t i = 0; i < row.size; ++i) sum += convert<Sum>(spread[i * row.out_step]);
    *sums += sum;
  } else if (row.in_step == 1 && row.out_step == 1) {
    for (int64_t i = 0; i < row.size; ++i) sums[i] += convert<Sum>(spread[i]);
  } else {
    for (int64_t i = 0; i < row.size; ++i)
      sums[i * row.in_step] += convert<Sum>(spread[i * row.out_step]);
  }
}

template <class T, class Sum>
void sum_loops(const T* spread, Sum* sums, const Dim* loop, std::size_t n) {
  if (n == 1) return sum_row(spread, sums, *loop);
  for (int64_t i = 0; i < loop->size; ++i)
    sum_loops(spread + i * loop->out_step, sums + i * loop->in_step, loop + 1, n - 1);
}

}  // namespace

void sum_strided(const StridedPlan& plan, const Tensor& spread, const Tensor& sums,
                 KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->sum_strided(context.stream()->native(), plan, spread, sums);
  dispatch_dtype<kNumeric>(spread.dtype, "gradient", [&]<class T>(TypeTag<T>) {
    using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    const int64_t n = sums.size();
    Sum* totals = context.workspace_of<Sum>(std::max<int64_t>(n, 1));
    std::fill_n(totals, n, Sum{0});
    if (spread.size() > 0) {
      Loops loops(plan);
      // Threads share no sum where the loop that is split moves on in both arrays.
      std::size_t split = 0;
      while (split < loops.n && loops.at[split].in_step == 0) ++split;
      const auto run = [&](int64_t first, int64_t last, std::size_t over) {
        Loops part = loops;
        part.at[over].size = last - first;
        sum_loops(spread.as<T>() + plan.out_offset + first * part.at[over].out_step,
                  totals + plan.in_offset + first * part.at[over].in_step, part.at.data(), part.n);
      };
      if (split == loops.n) {
        run(0, loops.at[0].size, 0);
      } else {
        const int64_t each = spread.size() / loops.at[split].size;
        const auto cost = static_cast<double>(each);
        parallel_for(
            loops.at[split].size, cost,
            [&](int64_t first, int64_t last) { run(first, last, split); }, 1);
      }
    }
    for (int64_t i = 0; i < n; ++i) sums.as<T>()[i] = convert<T>(totals[i]);
  });
}

}  // namespace mxnet
