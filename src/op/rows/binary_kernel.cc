// SPDX-License-Identifier: Apache-2.0
// From tensors to loops: types, rows of a broadcast, threads.
#include "op/rows/binary_kernel.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "base/error.h"
#include "op/loops/as_type.h"
#include "op/loops/blockwise.h"
#include "op/loops/broadcast_plan.h"
#include "op/moving/past_caches.h"
#include "op/rows/byte_table.h"
#include "op/rows/column_loops.h"
#include "op/rows/half_loops.h"
#include "op/rows/short_rows.h"
#include "op/run/copy_whole.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

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

// bool is stored as 0 or 1: comparisons read it as uint8. Half types are computed in float.
template <class T>
using LoopType = std::conditional_t<std::is_same_v<T, bool>, uint8_t, ComputeType<T>>;

// n results by a loop of another type, whose a or b is a single element as `inner` says.
template <class Number, class T, class Out, class LoopOut>
void converted(BroadcastPlan::Inner inner,
               void (*loop)(const Number*, const Number*, LoopOut*, int64_t), const T* a,
               const T* b, Out* y, int64_t n) {
  if (inner == BroadcastPlan::Inner::kRightScalar) {
    const auto scalar = convert<Number>(*b);
    through<Number>([&](const Number* x, Number* out, int64_t m) { loop(x, &scalar, out, m); }, y,
                    n, a);
  } else if (inner == BroadcastPlan::Inner::kLeftScalar) {
    const auto scalar = convert<Number>(*a);
    through<Number>([&](const Number* x, Number* out, int64_t m) { loop(&scalar, x, out, m); }, y,
                    n, b);
  } else {
    through<Number>(loop, y, n, a, b);
  }
}

// The loop of a row for one kind of arguments, looked up once for all rows of a broadcast.
template <class T, class Out>
class RowLoop {
 public:
  // one: b where it is the same single element for all of the call, else null.
  RowLoop(BinaryRow row, BroadcastPlan::Inner inner, const T* one = nullptr)
      : inner_(inner), loop_(pick(binary_loop<LoopType<T>, LoopOut>(row), inner)) {
    if constexpr (kMayBeDirect) {
      direct_ = pick(half_loop<T>(row), inner);
      if (row == BinaryRow::power && one != nullptr) direct_ = half_powers<T>(*one);
    }
    if constexpr (kMayBeWide) {
      if (has_no_byte_loop(row)) wide_ = pick(binary_loop<int32_t, int32_t>(row), inner);
    }
  }

  // Whether elements go through another type.
  bool converts() const {
    if constexpr (kMayBeDirect) return direct_ == nullptr;
    if constexpr (kMayBeWide) return wide_ != nullptr;
    return kIsHalf<T>;
  }

  // n results; a or b is a single element as `inner` says.
  void operator()(const T* a, const T* b, Out* y, int64_t n) const {
    if constexpr (kMayBeDirect) {
      if (direct_ != nullptr) return direct_(a, b, y, n);
    }
    if constexpr (kMayBeWide) {
      if (wide_ != nullptr) return converted(inner_, wide_, a, b, y, n);
    }
    if constexpr (kIsHalf<T>) {
      converted(inner_, loop_, a, b, y, n);
    } else {
      loop_(reinterpret_cast<const LoopType<T>*>(a), reinterpret_cast<const LoopType<T>*>(b), y, n);
    }
  }

 private:
  using LoopOut = std::conditional_t<kIsHalf<Out>, float, Out>;
  static constexpr bool kMayBeDirect = kIsHalf<T> && std::is_same_v<T, Out>;
  static constexpr bool kMayBeWide =
      kIsByte<T> && std::is_same_v<T, Out> && !std::is_same_v<T, bool>;
  BroadcastPlan::Inner inner_;
  void (*loop_)(const LoopType<T>*, const LoopType<T>*, LoopOut*, int64_t);
  void (*direct_)(const T*, const T*, T*, int64_t) = nullptr;  // without the way through float
  void (*wide_)(const int32_t*, const int32_t*, int32_t*, int64_t) = nullptr;
};

// As many elements are nothing to divide or to keep from the caches, whatever a row takes: to ask
// would cost more than the loop.
constexpr int64_t kOneLoop = 256;

// REQUIRES: `arrays` lives as long as the result.
template <class T, class Out>
ArraysLoop untyped(const RowLoop<T, Out>& arrays) {
  return {&arrays,
          [](const void* loop, const void* a, const void* b, void* y, int64_t n) {
            (*static_cast<const RowLoop<T, Out>*>(loop))(
                static_cast<const T*>(a), static_cast<const T*>(b), static_cast<Out*>(y), n);
          },
          sizeof(T), sizeof(Out)};
}

// Rows shorter than this are gathered into blocks: a call for each would cost more than its work.
constexpr int64_t kShortRow = 32;
// Those of an instruction or two.
template <class T>
constexpr int64_t kShortLightRow = sizeof(T) == 1   ? 96
                                   : sizeof(T) == 2 ? 64
                                   : sizeof(T) == 4 ? 48
                                                    : 32;
// Where each would be converted by itself, or many light ones meet the same one.
constexpr int64_t kShortGathered = 192;

constexpr int64_t kPastCaches = 4 * kOwnedFrom;

// Rows of how many elements are short. Powers to one exponent have loops that are nearer to the
// truth than those of arrays, and what does not stay in the caches is written by longer rows than
// are gathered.
template <class T>
int64_t short_row(const BroadcastPlan& plan, bool converts, bool light, int64_t result_bytes) {
  if (converts) return kShortGathered;
  if (!light || (sizeof(T) >= 4 && result_bytes >= kPastCaches)) return kShortRow;
  return repeats_rows(plan) ? kShortGathered : kShortLightRow<T>;
}

// Whether a row is a function of the maths library, or as long.
bool is_long(BinaryRow row) {
  switch (row) {
    case BinaryRow::mod:
    case BinaryRow::power:
    case BinaryRow::hypot:
    case BinaryRow::arctan2:
    case BinaryRow::ldexp:
    case BinaryRow::lcm:
      return true;
    default:
      return false;
  }
}

// Elementary operations an element, for the decision about threads.
double cost_of(BinaryRow row, DType dtype) {
  const double moving = cost_of_moving(3.0 * static_cast<double>(dtype_size(dtype)));
  return tuned_cost(dtype, is_long(row) ? 8.0 : moving);
}

// What is read beside the results from the first-th on, of inputs that go along with all of them.
[[gnu::noinline]] ReadsAlong reads_along(const Tensor& a, const Tensor& b, const Tensor& out,
                                         int64_t first) {
  const auto along = [&](const Tensor& input) {
    const auto element = static_cast<int64_t>(dtype_size(input.dtype));
    if (input.size() != out.size()) return ReadAlong{};
    return ReadAlong{static_cast<const char*>(input.data) + first * element, element};
  };
  return {along(a), along(b)};
}

// A matrix and a column where that has loops of its own: whether the call was one. Neighbouring
// rows whose numbers lie evenly are computed by one call.
template <class T>
[[gnu::noinline]] bool run_column(BinaryRow row, const BroadcastPlan& plan, const T* a, const T* b,
                                  T* y, double cost) {
  const int64_t n = plan.row_length(), bytes = plan.rows() * n * static_cast<int64_t>(sizeof(T));
  if (plan.inner() == BroadcastPlan::Inner::kArrays || n > longest_column_row<T>(bytes) ||
      (n >= kShortRow && bytes >= kPastCaches))
    return false;
  const bool left = plan.inner() == BroadcastPlan::Inner::kLeftScalar;
  const auto loop = column_loop<T>(row, left, n);
  if (loop == nullptr) return false;
  const BroadcastPlan::Dim& along = plan.along_rows();
  const int64_t step = left ? along.step_b : along.step_a, one = left ? along.step_a : along.step_b;
  parallel_for(
      plan.rows(), static_cast<double>(n) * cost,
      [&](int64_t first, int64_t last) {
        while (first < last) {
          const BroadcastPlan::Walk walk(plan, first);
          const int64_t count = std::min(last - first, along.size - first % along.size);
          loop(left ? b + walk.b : a + walk.a, step, left ? a + walk.a : b + walk.b, one,
               y + first * n, count, n);
          first += count;
        }
      },
      1);
  return true;
}

// by_scalar: b is one, which of two arrays of one element the plan does not see; the loop of its
// own that it may have gives the digits that it gives among many elements.
template <class T, class Out>
void run_typed(BinaryRow row, const Tensor& a, const Tensor& b, const Tensor& out,
               bool by_scalar = false) {
  const BroadcastPlan plan(a.shape(), b.shape(), out.shape());
  const auto inner = by_scalar ? BroadcastPlan::Inner::kRightScalar : plan.inner();
  const T *pa = a.as<T>(), *pb = b.as<T>();
  const bool to_one = plan.rows() == 1 && inner == BroadcastPlan::Inner::kRightScalar;
  const RowLoop<T, Out> loop(row, inner, to_one ? pb : nullptr);
  Out* py = out.as<Out>();
  const int64_t n = plan.row_length();
  if constexpr (!kIsHalf<T>) {  // whose way through float is long to have twice
    if (plan.rows() == 1 && n <= kOneLoop) return loop(pa, pb, py, n);
  }
  const double cost = cost_of(row, a.dtype);
  // Powers to one number are mostly a few products, too, but of halves; larger results are not
  // written sooner past the caches.
  constexpr int64_t kMostToOne = int64_t{32} << 20;
  const bool light = !is_long(row) || (row == BinaryRow::power && to_one && sizeof(Out) >= 4 &&
                                       n * static_cast<int64_t>(sizeof(Out)) <= kMostToOne);
  const bool a_moves = inner != BroadcastPlan::Inner::kLeftScalar;
  const bool b_moves = inner != BroadcastPlan::Inner::kRightScalar;
  const bool apart = static_cast<const void*>(pa) != py && static_cast<const void*>(pb) != py;
  const int64_t read = (a.size() + b.size()) * static_cast<int64_t>(sizeof(T));
  if (plan.rows() == 1) {  // the common case: split the one row
    parallel_for(n, cost, [&](int64_t first, int64_t last) {
      const T *from_a = pa + (a_moves ? first : 0), *from_b = pb + (b_moves ? first : 0);
      write_results(py + first, last - first, n, read, apart, light, reads_along(a, b, out, first),
                    [&](int64_t at, Out* y, int64_t count) {
                      loop(from_a + (a_moves ? at : 0), from_b + (b_moves ? at : 0), y, count);
                    });
    });
    return;
  }
  if constexpr (std::is_same_v<T, Out> && !std::is_same_v<T, bool>) {
    if (run_column(row, plan, pa, pb, py, cost)) return;
  }
  const int64_t bytes = out.size() * static_cast<int64_t>(sizeof(Out));
  if (n < short_row<T>(plan, loop.converts(), light, bytes)) {
    const RowLoop<T, Out> arrays(row, BroadcastPlan::Inner::kArrays);
    share_short_rows({plan, untyped(arrays), reinterpret_cast<const char*>(pa),
                      reinterpret_cast<const char*>(pb), reinterpret_cast<char*>(py),
                      a.size() == out.size(), b.size() == out.size()},
                     static_cast<double>(n) * (cost + 1));
    return;
  }
  parallel_for(
      plan.rows(), static_cast<double>(n) * cost,
      [&](int64_t first, int64_t last) {
        write_results(py + first * n, (last - first) * n, out.size(), read, apart, light,
                      reads_along(a, b, out, first * n), [&](int64_t at, Out* y, int64_t count) {
                        int64_t within = at % n;
                        BroadcastPlan::Walk walk(plan, first + at / n);
                        for (int64_t left = count; left > 0;) {
                          const int64_t taken = std::min(n - within, left);
                          loop(pa + walk.a + (a_moves ? within : 0),
                               pb + walk.b + (b_moves ? within : 0), y, taken);
                          left -= taken;
                          y += taken;
                          within = 0;
                          walk.next();
                        }
                      });
      },
      1);
}

// fn(TypeTag<T>, TypeTag<Out>) for the type of the arguments and that of the result.
template <class F>
void dispatch(BinaryRow row, DType in, DType out, const F& fn) {
  if (is_comparison(row) && out == DType::kBool) {
    dispatch_dtype<kAllTypes>(in, "binary", [&]<class T>(TypeTag<T> tag) {
      if constexpr (kIsHalf<T>) {
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

void run_binary(BinaryRow row, const Tensor& a, const Tensor& b, const Tensor& out,
                KernelContext& context) {
  if (out.size() == 0) return;
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->binary(context.stream()->native(), static_cast<int>(row), a, b, out);
  dispatch(row, a.dtype, out.dtype, [&]<class T, class Out>(TypeTag<T>, TypeTag<Out>) {
    run_typed<T, Out>(row, a, b, out);
  });
}

void run_binary_scalar(BinaryRow row, const Tensor& a, double scalar, bool scalar_left,
                       const Tensor& out, KernelContext& context) {
  if (out.size() == 0) return;
  if (const GpuTable* gpu = gpu_table(context)) {
    return gpu->binary_scalar(context.stream()->native(), static_cast<int>(row), a, scalar,
                              scalar_left, out);
  }
  if (row == BinaryRow::power && !scalar_left && scalar == 1.0 && out.dtype == a.dtype)
    return copy_whole(a, out);
  // A square is the product that the power would be rounded to. (Of bfloat16 the loop of powers
  // reads one array, that of products two.)
  if (row == BinaryRow::power && !scalar_left && scalar == 2.0 && a.dtype != DType::kBFloat16)
    return run_binary(BinaryRow::multiply, a, a, out, context);
  dispatch(row, a.dtype, out.dtype, [&]<class T, class Out>(TypeTag<T>, TypeTag<Out>) {
    T value = convert<T>(scalar);
    const Shape one{1};
    const Tensor b{&value, &one, a.dtype};
    const auto run = [&](const Tensor& from, const Tensor& to) {
      scalar_left ? run_typed<T, Out>(row, b, from, to) : run_typed<T, Out>(row, from, b, to, true);
    };
    if constexpr (kIsByte<T> && std::is_same_v<T, Out>) {
      // Remainders of bytes are computed by whole vectors.
      if (is_long(row) && row != BinaryRow::mod && a.size() >= kTableFrom) {
        const Shape all{256};
        return run_by_table<T>(a, out, [&](T* x, T* y) {
          run({x, &all, a.dtype}, {y, &all, a.dtype});
        });
      }
    }
    run(a, out);
  });
}

namespace {

// Of integers the slope is cut before it is multiplied; that of a remainder is 0.
void run_cut_slope(BinaryRow row, bool left, const Tensor& dy, const Tensor& a, const Tensor& b,
                   const Tensor& dx, KernelContext& context) {
  const std::size_t element = dtype_size(dx.dtype);
  if (row == BinaryRow::mod) {
    std::memset(dx.data, 0, static_cast<std::size_t>(dx.size()) * element);
    return;
  }
  parallel_for(dx.size(), tuned_cost(dx.dtype, 2.0) * cost_of(row, dx.dtype),
               [&](int64_t begin, int64_t end) {
                 std::array<std::array<double, kBlock>, 4> numbers;
                 auto& [ones, left_numbers, right_numbers, slopes] = numbers;
                 ones.fill(1.0);
                 alignas(64) std::array<std::byte, kBlock * sizeof(int64_t)> cut;
                 for (int64_t at = begin; at < end; at += kBlock) {
                   const Shape shape{std::min(kBlock, end - at)};
                   const auto block = [&](const Tensor& t) {
                     return Tensor{
                         static_cast<std::byte*>(t.data) + static_cast<std::size_t>(at) * element,
                         &shape, t.dtype};
                   };
                   const auto doubles = [&](std::array<double, kBlock>& place) {
                     return Tensor{place.data(), &shape, DType::kFloat64};
                   };
                   convert_tensor(block(a), doubles(left_numbers), context);
                   convert_tensor(block(b), doubles(right_numbers), context);
                   binary_slope<double>(row, left)(ones.data(), left_numbers.data(),
                                                   right_numbers.data(), slopes.data(), shape[0]);
                   const Tensor whole{cut.data(), &shape, dx.dtype};
                   convert_tensor(doubles(slopes), whole, context);
                   run_binary(BinaryRow::multiply, block(dy), whole, block(dx), context);
                 }
               });
}

}  // namespace

void run_binary_slope(BinaryRow row, bool left, const Tensor& dy, const Tensor& a, const Tensor& b,
                      const Tensor& dx, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->binary_slope(context.stream()->native(), static_cast<int>(row), left, dy, a, b, dx);
  if (is_integer(dy.dtype)) return run_cut_slope(row, left, dy, a, b, dx, context);
  dispatch_dtype<kFloating>(dy.dtype, "binary gradient", [&]<class T>(TypeTag<T>) {
    parallel_for(dy.size(), tuned_cost(dy.dtype, 2.0) * cost_of(row, dy.dtype),
                 [&](int64_t first, int64_t last) {
                   const T *pdy = dy.as<T>() + first, *pa = a.as<T>() + first,
                           *pb = b.as<T>() + first;
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
