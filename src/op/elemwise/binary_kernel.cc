// SPDX-License-Identifier: Apache-2.0
// From tensors to loops: types, rows of a broadcast, threads.
#include "op/elemwise/binary_kernel.h"

#include <array>

#include "op/dispatch.h"
#include "op/blockwise.h"
#include "op/broadcast_plan.h"
#include "op/parallel.h"

namespace mxnet {
namespace {

template <class T>
constexpr bool kHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

template <class T, class Out>
auto pick(const BinaryLoop<T, Out>& loop, BroadcastPlan::Inner inner) {
  switch (inner) {
    case BroadcastPlan::Inner::kRightScalar:
      return loop.right_scalar;
    case BroadcastPlan::Inner::kLeftScalar:
      return loop.left_scalar;
    case BroadcastPlan::Inner::kArrays:
      break;
  }
  return loop.arrays;
}

// One row of n elements; a or b is a single element as `inner` says.
template <class T, class Out>
void run_row(BinaryRow row, BroadcastPlan::Inner inner, const T* a, const T* b, Out* y, int64_t n) {
  if constexpr (kHalf<T>) {
    const auto loop = pick(binary_loop<float, float>(row), inner);
    if (inner == BroadcastPlan::Inner::kRightScalar) {
      const float scalar = convert<float>(*b);
      through_float([&](const float* x, float* out, int64_t m) { loop(x, &scalar, out, m); }, y, n,
                    a);
    } else if (inner == BroadcastPlan::Inner::kLeftScalar) {
      const float scalar = convert<float>(*a);
      through_float([&](const float* x, float* out, int64_t m) { loop(&scalar, x, out, m); }, y, n,
                    b);
    } else {
      through_float(loop, y, n, a, b);
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    // bool is stored as 0 or 1: comparisons read it as uint8.
    pick(binary_loop<uint8_t, Out>(row), inner)(reinterpret_cast<const uint8_t*>(a),
                                                reinterpret_cast<const uint8_t*>(b), y, n);
  } else {
    pick(binary_loop<T, Out>(row), inner)(a, b, y, n);
  }
}

template <class T, class Out>
void run_typed(BinaryRow row, const Tensor& a, const Tensor& b, const Tensor& out) {
  const BroadcastPlan plan(a.shape(), b.shape(), out.shape());
  const T* pa = a.as<T>();
  const T* pb = b.as<T>();
  Out* py = out.as<Out>();
  const int64_t n = plan.row_length();
  if (plan.rows() == 1) {  // the common case: split the one row
    const bool a_moves = plan.inner() != BroadcastPlan::Inner::kLeftScalar;
    const bool b_moves = plan.inner() != BroadcastPlan::Inner::kRightScalar;
    parallel_for(n, 1.0, [&](int64_t first, int64_t last) {
      run_row(row, plan.inner(), pa + (a_moves ? first : 0), pb + (b_moves ? first : 0), py + first,
              last - first);
    });
    return;
  }
  parallel_for(
      plan.rows(), static_cast<double>(n),
      [&](int64_t first, int64_t last) {
        for (int64_t r = first; r < last; ++r) {
          int64_t at_a, at_b;
          plan.offsets(r, &at_a, &at_b);
          run_row(row, plan.inner(), pa + at_a, pb + at_b, py + r * n, n);
        }
      },
      1);
}

// fn(TypeTag<T>, TypeTag<Out>) for the type of the arguments and that of the result.
template <class F>
void dispatch(BinaryRow row, DType in, DType out, const F& fn) {
  if (is_comparison(row) && out == DType::kBool) {
    dispatch_dtype<kAllTypes>(in, "binary", [&]<class T>(TypeTag<T> tag) {
      if constexpr (kHalf<T>) {
        throw Error(ErrorCode::kInternal, "half comparisons with bool results are widened before");
      } else {
        fn(tag, TypeTag<bool>{});
      }
    });
  } else {
    dispatch_dtype<kNumeric>(in, "binary", [&]<class T>(TypeTag<T> tag) { fn(tag, tag); });
  }
}

}  // namespace

void run_binary(BinaryRow row, const Tensor& a, const Tensor& b, const Tensor& out) {
  if (out.size() == 0) return;
  dispatch(row, a.dtype, out.dtype, [&]<class T, class Out>(TypeTag<T>, TypeTag<Out>) {
    run_typed<T, Out>(row, a, b, out);
  });
}

void run_binary_scalar(BinaryRow row, const Tensor& a, double scalar, bool scalar_left,
                       const Tensor& out) {
  if (out.size() == 0) return;
  dispatch(row, a.dtype, out.dtype, [&]<class T, class Out>(TypeTag<T>, TypeTag<Out>) {
    T value = convert<T>(scalar);
    const Shape one{1};
    const Tensor b{&value, &one, a.dtype};
    scalar_left ? run_typed<T, Out>(row, b, a, out) : run_typed<T, Out>(row, a, b, out);
  });
}

void run_binary_slope(BinaryRow row, bool left, const Tensor& dy, const Tensor& a, const Tensor& b,
                      const Tensor& dx) {
  dispatch_dtype<kNumeric>(dy.dtype, "binary gradient", [&]<class T>(TypeTag<T>) {
    parallel_for(dy.size(), 2.0, [&](int64_t first, int64_t last) {
      const T *pdy = dy.as<T>() + first, *pa = a.as<T>() + first, *pb = b.as<T>() + first;
      T* pdx = dx.as<T>() + first;
      if constexpr (std::is_floating_point_v<T>) {
        binary_slope<T>(row, left)(pdy, pa, pb, pdx, last - first);
      } else {
        through_float(binary_slope<float>(row, left), pdx, last - first, pdy, pa, pb);
      }
    });
  });
}

}  // namespace mxnet
