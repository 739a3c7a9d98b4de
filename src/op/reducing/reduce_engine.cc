// SPDX-License-Identifier: Apache-2.0
// Which loops a reduction takes: types of elements, of lanes and of what they meet in.
#include "op/reducing/reduce_engine.h"

#include <algorithm>
#include <array>

#include "base/config.h"
#include "base/error.h"
#include "base/simd.h"
#include "op/reducing/reduce_units.h"
#include "op/run/dispatch.h"

namespace mxnet {
namespace {

// The type that elements of T are converted to for an accumulator A; void where they never meet.
template <class T, class A>
struct LoopType {
  static constexpr bool kHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
  static constexpr bool kReal = std::is_floating_point_v<T> || kHalf;
  using type = std::conditional_t<
      std::is_same_v<A, int64_t>,
      std::conditional_t<kReal, void,
                         std::conditional_t<std::is_same_v<T, int64_t>, int64_t, int32_t>>,
      std::conditional_t<
          std::is_same_v<T, float16> && std::is_same_v<A, float>, float16,
          std::conditional_t<kHalf || std::is_same_v<T, float>, float,
                             std::conditional_t<std::is_same_v<A, double>, double, void>>>>;
};

// Comparisons of integers N; `store(first, values, n, asked)` takes what they give, which is not 0
// where the answer to a question is yes.
template <class N, class Store>
void compare(Reduction reduction, const void* x, const ReducePlan& plan, const Store& store) {
  const bool asked = asks(reduction);
  const ReduceStore<N> taken = [&](int64_t first, const N* values, int64_t n) {
    store(first, values, n, asked);
  };
  reduce_units::Units<N, N, N>(reduction, static_cast<const N*>(x), plan, nullptr, taken).run();
}

// Whether the reduction was one that needs no lanes wider than the elements.
template <class Store>
bool compare_narrow(Reduction reduction, const Tensor& in, const ReducePlan& plan,
                    const Store& store) {
  if (plan.extent() == 0) return false;  // the value of nothing is one of int64
  const bool bytes = dtype_size(in.dtype) == 1;
  if (in.dtype == DType::kBool && selects(reduction))  // which can end at the first that decides
    reduction = reduction == Reduction::max ? Reduction::any : Reduction::all;
  if (bytes && (asks(reduction) || (selects(reduction) && in.dtype != DType::kInt8))) {
    compare<uint8_t>(reduction, in.data, plan, store);
  } else if (bytes && selects(reduction)) {
    compare<int8_t>(reduction, in.data, plan, store);
  } else if (in.dtype == DType::kInt32 && selects(reduction)) {
    compare<int32_t>(reduction, in.data, plan, store);
  } else {
    return false;
  }
  return true;
}

// The same for a store of int64.
bool compare_and_widen(Reduction reduction, const Tensor& in, const ReducePlan& plan,
                       const ReduceStore<int64_t>& store) {
  return compare_narrow(reduction, in, plan,
                        [&]<class N>(int64_t first, const N* values, int64_t n, bool asked) {
                          std::array<int64_t, reduce_units::kMostValues> wide;
                          for (int64_t i = 0; i < n; ++i) {
                            const N value = values[i];
                            wide[static_cast<std::size_t>(i)] = asked ? value != N(0) : value;
                          }
                          store(first, wide.data(), n);
                        });
}

// Whether the reduction was a sum of integers that int64 holds as exactly as double does: none of
// them is converted.
bool add_whole(Reduction reduction, const Tensor& in, const ReducePlan& plan,
               const ReduceStore<double>& store) {
  if (reduction != Reduction::sum || is_floating(in.dtype) || in.dtype == DType::kInt64)
    return false;
  const ReduceStore<int64_t> converting = [&](int64_t first, const int64_t* values, int64_t n) {
    std::array<double, reduce_units::kMostValues> real;
    std::copy_n(values, n, real.begin());
    store(first, real.data(), n);
  };
  reduce<int64_t>(reduction, in, plan, converting, nullptr);
  return true;
}

}  // namespace

bool compare_into(Reduction reduction, const Tensor& in, const ReducePlan& plan,
                  const Tensor& out) {
  if (asks(reduction) ? out.dtype != DType::kBool : out.dtype != in.dtype) return false;
  return compare_narrow(reduction, in, plan,
                        [&]<class N>(int64_t first, const N* values, int64_t n, bool asked) {
                          N* const to = static_cast<N*>(out.data) + first;
                          if (!asked) {
                            std::copy_n(values, n, to);
                          } else {
                            for (int64_t i = 0; i < n; ++i) to[i] = values[i] != N(0) ? N(1) : N(0);
                          }
                        });
}

int64_t reduce_units::fewest_in_plane(int64_t bytes, bool selects_doubles) {
  const bool streams = simd_level_for_traffic() == 1 && !selects_doubles;
  return streams || bytes > kStreamedPlanes ? kFewestOfStream : kFewestInPlane;
}

template <class A>
void reduce(Reduction reduction, const Tensor& in, const ReducePlan& plan,
            const ReduceStore<A>& store, const A* about) {
  if constexpr (std::is_same_v<A, int64_t>) {
    if (compare_and_widen(reduction, in, plan, store)) return;
  }
  if constexpr (std::is_same_v<A, double>) {
    if (add_whole(reduction, in, plan, store)) return;
  }
  dispatch_dtype(in.dtype, "reduce", [&]<class T>(TypeTag<T>) {
    using L = typename LoopType<T, A>::type;
    if constexpr (std::is_void_v<L>) {
      throw Error(ErrorCode::kInternal, "reduce", "the accumulator does not hold the elements");
    } else {
      if constexpr (std::is_same_v<T, bfloat16> && std::is_same_v<A, float>) {
        if (reduction == Reduction::sum)
          return reduce_units::Units<T, T, A>(reduction, in.as<T>(), plan, about, store).run();
      }
      reduce_units::Units<T, L, A>(reduction, in.as<T>(), plan, about, store).run();
    }
  });
}

template void reduce<float>(Reduction, const Tensor&, const ReducePlan&, const ReduceStore<float>&,
                            const float*);
template void reduce<double>(Reduction, const Tensor&, const ReducePlan&,
                             const ReduceStore<double>&, const double*);
template void reduce<int64_t>(Reduction, const Tensor&, const ReducePlan&,
                              const ReduceStore<int64_t>&, const int64_t*);

bool accumulate_wide() { return config().cpu.safe_accumulation; }

}  // namespace mxnet
