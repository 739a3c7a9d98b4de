// SPDX-License-Identifier: Apache-2.0
// Sums along axes where that is what they are; else loops over the spread array in its own order,
// into sums wider than its type.
#include "op/shape/sum_strided.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "op/loops/convert.h"
#include "op/reducing/evaluate.h"
#include "op/run/dispatch.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

using Dim = StridedPlan::Dim;

constexpr std::size_t kSumBytes = 8;  // of a sum, whatever it is of

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

// The two innermost loops: short rows would feel a call for each.
template <class T, class Sum>
void sum_rows(const void* spread, void* sums, const Dim& rows, const Dim& row) {
  for (int64_t i = 0; i < rows.size; ++i) {
    sum_row(static_cast<const T*>(spread) + i * rows.out_step,
            static_cast<Sum*>(sums) + i * rows.in_step, row);
  }
}

template <class T, class Sum>
void store(const void* totals, void* sums, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<T*>(sums)[i] = convert<T>(static_cast<const Sum*>(totals)[i]);
}

// All that depends on the type of the elements.
struct Elements {
  std::size_t bytes;
  void (*sum_rows)(const void* spread, void* sums, const Dim& rows, const Dim& row);
  void (*store)(const void* totals, void* sums, int64_t n);
};

Elements elements_of(DType dtype) {
  return dispatch_dtype<kNumeric>(dtype, "gradient", []<class T>(TypeTag<T>) {
    // Integers wrap around, which only unsigned ones may.
    using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
    static_assert(sizeof(Sum) == kSumBytes);
    return Elements{sizeof(T), sum_rows<T, Sum>, store<T, Sum>};
  });
}

void sum_loops(const Elements& elements, const char* spread, char* sums, const Dim* loop,
               std::size_t n) {
  if (n == 1) return elements.sum_rows(spread, sums, {1, 0, 0}, *loop);
  if (n == 2) return elements.sum_rows(spread, sums, loop[0], loop[1]);
  for (int64_t i = 0; i < loop->size; ++i) {
    sum_loops(elements, spread + i * loop->out_step * static_cast<int64_t>(elements.bytes),
              sums + i * loop->in_step * static_cast<int64_t>(kSumBytes), loop + 1, n - 1);
  }
}

// The sums of what was repeated or tiled: along axes of the spread array, all of which is met in
// its own order, to where the others say. False where they are none of these, and where loops are
// as fast: of float32 along several axes, and of other types but halves.
bool sum_axes(const StridedPlan& plan, const Tensor& spread, const Tensor& sums,
              KernelContext& context) {
  const Loops loops(plan);
  const bool halves = spread.dtype == DType::kFloat16 || spread.dtype == DType::kBFloat16;
  if (loops.n > Shape::kMaxDims || !(halves || spread.dtype == DType::kFloat32)) return false;
  Shape shape(static_cast<int>(loops.n), 0);
  AxisSet axes = 0;
  int64_t met = 1, made = 1;
  for (std::size_t i = loops.n; i-- > 0;) {
    const Dim& dim = loops.at[i];
    if (dim.out_step != met || (dim.in_step != 0 && dim.in_step != made)) return false;
    shape[static_cast<int>(i)] = dim.size;
    met *= dim.size;
    if (dim.in_step == 0) {
      axes |= AxisSet{1} << i;
    } else {
      made *= dim.size;
    }
  }
  if (!halves && std::popcount(axes) > 1) return false;
  if (met != spread.size() || made != sums.size() || plan.in_offset != 0 || plan.out_offset != 0)
    return false;
  reduce_to({.reduction = Reduction::sum, .wide = true}, Tensor{spread.data, &shape, spread.dtype},
            axes, sums, context);
  return true;
}

}  // namespace

void sum_strided(const StridedPlan& plan, const Tensor& spread, const Tensor& sums,
                 KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->sum_strided(context.stream()->native(), plan, spread, sums);
  if (spread.size() > 0 && sum_axes(plan, spread, sums, context)) return;
  const Elements elements = elements_of(spread.dtype);
  const int64_t n = sums.size();
  char* const totals =
      reinterpret_cast<char*>(context.workspace_of<int64_t>(std::max<int64_t>(n, 1)));
  std::memset(totals, 0, static_cast<std::size_t>(n) * kSumBytes);
  if (spread.size() > 0) {
    const Loops loops(plan);
    // Threads share no sum where the loop that is split moves on in both arrays.
    std::size_t split = 0;
    while (split < loops.n && loops.at[split].in_step == 0) ++split;
    const auto run = [&](int64_t first, int64_t last, std::size_t over) {
      Loops part = loops;
      Dim& dim = part.at[over];
      dim.size = last - first;
      const int64_t out = plan.out_offset + first * dim.out_step;
      const int64_t in = plan.in_offset + first * dim.in_step;
      sum_loops(elements, spread.as<char>() + out * static_cast<int64_t>(elements.bytes),
                totals + in * static_cast<int64_t>(kSumBytes), part.at.data(), part.n);
    };
    if (split == loops.n) {
      run(0, loops.at[0].size, 0);
    } else {
      const int64_t each = spread.size() / loops.at[split].size;
      parallel_for(
          loops.at[split].size, static_cast<double>(each),
          [&](int64_t first, int64_t last) { run(first, last, split); }, 1);
    }
  }
  elements.store(totals, sums.as<char>(), n);
}

}  // namespace mxnet
