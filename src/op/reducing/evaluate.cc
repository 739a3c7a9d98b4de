// SPDX-License-Identifier: Apache-2.0
// Choice of the accumulator; conversion of finished values.
#include "op/reducing/evaluate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "op/loops/convert.h"
#include "op/reducing/axes.h"
#include "op/reducing/reduce_blocks.h"
#include "op/reducing/scaled_roots.h"
#include "op/rows/unary_loops.h"
#include "op/run/copy_whole.h"
#include "op/run/dispatch.h"
#include "op/run/element_size.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

template <class A>
A finished(const ReduceCall& call, A value, int64_t count) {
  // Existing programs get 0 for a product of nothing (docs/deviations/reduce.md).
  if (call.reduction == Reduction::prod && count == 0 && !call.initial) return A(0);
  switch (call.finish) {
    case Finish::kMean:
      if constexpr (std::is_integral_v<A>)
        return count == 0 ? A(0) : value / static_cast<A>(count);
      else
        return value / static_cast<A>(count);
    case Finish::kRoot:
      return static_cast<A>(std::sqrt(value));
    case Finish::kValue:
      break;
  }
  return value;
}

// values / count; a product with the inverse of a power of two is the same number in less time.
template <class A, class Out>
[[gnu::noinline]] void divide(const A* values, int64_t n, int64_t count, Out* quotients) {
  const A divisor = static_cast<A>(count), factor = A(1) / divisor;
  if (std::has_single_bit(static_cast<uint64_t>(count))) {
    for (int64_t i = 0; i < n; ++i) quotients[i] = static_cast<Out>(values[i] * factor);
  } else {
    for (int64_t i = 0; i < n; ++i) quotients[i] = static_cast<Out>(values[i] / divisor);
  }
}

template <class L, class A>
void run(const ReduceCall& call, const Tensor& in, AxisSet axes, const Tensor& out) {
  const ReducePlan plan(in.shape(), axes);
  const int64_t count = std::max<int64_t>(plan.extent() - call.ddof, 0);
  const auto merge = reduce_loops<L, A>(call.reduction).merge;
  const bool as_they_are = call.finish == Finish::kValue && !call.initial && count > 0;
  const bool divided = call.finish == Finish::kMean && !call.initial;
  const bool rooted = call.finish == Finish::kRoot && !call.initial;
  if constexpr (std::is_same_v<A, int64_t>) {
    if (as_they_are && compare_into(call.reduction, in, plan, out)) return;
  }
  dispatch_dtype(out.dtype, "reduce", [&]<class Out>(TypeTag<Out>) {
    reduce<A>(call.reduction, in, plan, [&](int64_t first, const A* values, int64_t n) {
      Out* to = out.as<Out>() + first;
      // (From double an array of halves would be rounded twice.)
      if constexpr (!kIsHalf<Out> || std::is_same_v<A, float>) {
        if (as_they_are) return convert_array(values, to, n);
      }
      if constexpr (kIsHalf<Out> && std::is_same_v<A, float>) {
        if (divided) {
          std::array<A, reduce_units::kMostValues> quotients;
          divide(values, n, count, quotients.data());
          return convert_array(quotients.data(), to, n);
        }
      }
      if constexpr (std::is_floating_point_v<A> &&
                    (std::is_same_v<Out, A> || std::is_same_v<Out, float>)) {
        if (divided) return divide(values, n, count, to);
        if (rooted) {
          std::array<A, reduce_units::kMostValues> roots;
          unary_loop<A>(UnaryRow::sqrt).value(values, roots.data(), n);
          if constexpr (std::is_same_v<A, double>)
            scale_roots(in, plan, first, values, n, roots.data());
          return convert_array(roots.data(), to, n);
        }
      }
      for (int64_t i = 0; i < n; ++i) {
        A value = values[i];
        if (call.initial) {
          const A initial = convert<A>(*call.initial);
          merge(&value, &initial, 1);
        }
        // A bool can only say whether there was anything.
        to[i] = convert<Out>(std::is_same_v<Out, bool> && call.finish == Finish::kMean
                                 ? value
                                 : finished(call, value, count));
      }
    });
  });
}

// Whether there is one element for each result, which is the result: of bools whether it is not 0,
// whatever byte says so. (The sum of -0 is 0.)
bool is_itself(const ReduceCall& call, const Tensor& in, const Tensor& out) {
  if (in.size() != out.size() || in.dtype != out.dtype) return false;
  if (call.finish != Finish::kValue || call.initial) return false;
  switch (call.reduction) {
    case Reduction::sum:
      return !is_floating(in.dtype);
    case Reduction::any:
    case Reduction::all:
      return in.dtype == DType::kBool;
    case Reduction::max:
    case Reduction::min:
    case Reduction::prod:
      return true;
    default:
      return false;
  }
}

// REQUIRES: is_itself().
void keep(const Tensor& in, const Tensor& out) {
  if (in.dtype != DType::kBool) return copy_whole(in, out);
  const auto* const bytes = in.as<uint8_t>();
  auto* const truths = out.as<bool>();
  parallel_writes(truths, out.size(), 1.0, [=](int64_t first, int64_t last) {
    convert_array(bytes + first, truths + first, last - first);
  });
}

template <class T>
void magnitudes(const Tensor& in, const Tensor& out) {
  const auto loop = unary_loop<T>(UnaryRow::abs).value;
  parallel_for(in.size(), 1.0, [&](int64_t first, int64_t last) {
    loop(in.as<T>() + first, out.as<T>() + first, last - first);
  });
}

// What becomes of one number by itself, by its bits.
enum class OfOne : uint8_t { kSum, kMagnitude, kTruth };

template <OfOne kind, class Bits, class Out>
void of_ones(const Tensor& in, const Tensor& out) {
  const auto sign = static_cast<Bits>(
      is_floating(in.dtype) ? Bits{1} << (std::numeric_limits<Bits>::digits - 1) : Bits{0});
  const auto* const from = static_cast<const Bits*>(in.data);
  auto* const to = static_cast<Out*>(out.data);
  parallel_for(in.size(), 1.0, [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const Bits x = from[i], size = static_cast<Bits>(x & static_cast<Bits>(~sign));
      if constexpr (kind == OfOne::kSum)
        to[i] = size == 0 ? Bits{0} : x;  // 0 + -0
      else if constexpr (kind == OfOne::kMagnitude)
        to[i] = size;
      else
        to[i] = size != 0;
    }
  });
}
// Whether there is one element for each result, which is a sum or an answer.
bool take_ones(const ReduceCall& call, const Tensor& in, const Tensor& out) {
  if (in.size() != out.size() || call.initial || call.ddof != 0) return false;
  const bool added = call.reduction == Reduction::sum && call.finish != Finish::kRoot;
  if (added && is_floating(in.dtype) && in.dtype == out.dtype) {
    dispatch_size(in.dtype, [&]<class Bits>(Bits) {
      if constexpr (sizeof(Bits) > 1) of_ones<OfOne::kSum, Bits, Bits>(in, out);
    });
    return true;
  }
  const bool asked = call.reduction == Reduction::any || call.reduction == Reduction::all;
  if (!asked || call.finish != Finish::kValue || out.dtype != DType::kBool) return false;
  dispatch_size(in.dtype, [&]<class Bits>(Bits) { of_ones<OfOne::kTruth, Bits, bool>(in, out); });
  return true;
}

// Whether it asks for norms, each of one number.
bool is_magnitude(const ReduceCall& call, const Tensor& in, const Tensor& out) {
  return in.size() == out.size() && !call.initial &&
         (call.finish == Finish::kRoot ? call.reduction == Reduction::sum_squares
                                       : call.reduction == Reduction::sum_abs);
}

// Whether it adds two floats for each result, of many that lie together. Rounding their sum in
// double once more changes nothing: a double has more than twice the digits.
bool adds_two_columns(const ReduceCall& call, const Tensor& in, AxisSet axes, const Tensor& out) {
  constexpr int64_t kLeastRun = 256;
  if (call.reduction != Reduction::sum || call.finish != Finish::kValue || call.initial ||
      in.dtype != DType::kFloat32 || out.dtype != in.dtype || in.size() != 2 * out.size())
    return false;
  const ReducePlan plan(in.shape(), axes);
  return !plan.inner_reduced() && plan.run() >= kLeastRun;
}

}  // namespace

bool take_magnitudes(const Tensor& in, const Tensor& out) {
  if (in.dtype != out.dtype || !is_floating(in.dtype)) return false;
  if (in.dtype == DType::kFloat32) {
    magnitudes<float>(in, out);
  } else if (in.dtype == DType::kFloat64) {
    magnitudes<double>(in, out);
  } else {
    of_ones<OfOne::kMagnitude, uint16_t, uint16_t>(in, out);
  }
  return true;
}

void reduce_to(const ReduceCall& call, const Tensor& in, AxisSet axes, const Tensor& out,
               KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->reduce(context.stream()->native(), call, in, axes, out, context);
  if (is_itself(call, in, out)) return keep(in, out);
  if (is_magnitude(call, in, out) && take_magnitudes(in, out)) return;
  if (take_ones(call, in, out)) return;
  if (!is_floating(in.dtype) && !is_floating(out.dtype)) {
    run<int64_t, int64_t>(call, in, axes, out);
  } else if (in.dtype == DType::kFloat64 || !is_floating(in.dtype) ||
             out.dtype == DType::kFloat64) {
    run<double, double>(call, in, axes, out);
  } else if (in.dtype != DType::kFloat16 && !selects(call.reduction) &&
             (call.finish == Finish::kRoot || (in.dtype == DType::kFloat32 && call.wide)) &&
             !adds_two_columns(call, in, axes, out)) {
    run<float, double>(call, in, axes, out);  // squares need twice the range of their root
  } else {
    run<float, float>(call, in, axes, out);
  }
}

}  // namespace mxnet
