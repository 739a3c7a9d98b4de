// SPDX-License-Identifier: Apache-2.0
// Running sums along an axis, and their reverse for the gradient.
#include <algorithm>
#include <array>
#include <type_traits>

#include "op/loops/as_type.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/reduce/running_sums.h"
#include "op/reducing/reduce_engine.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr int64_t kTile = 256;

// What leaves every number as it is, -0 too.
template <class A>
constexpr A kNothing = static_cast<A>(-0.0);

struct View {
  int64_t outer = 1, n = 1, inner = 1;
};

// `n` elements of a row; `step` is 1, or -1 to sum from the end. Four elements at a time: only one
// addition in four waits for the one before. What is left is no loop: the compiler would make one
// of vectors of it, which takes longer to set up than a short row. Returns the sum with `carry`.
template <class A, int64_t step, class T>
[[gnu::always_inline]] inline A sum_row(const T* x, T* y, int64_t n, A carry) {
  // Of integers each addition takes one cycle, which is no less than four of them take by pairs.
  if constexpr (std::is_integral_v<A>) {
    for (int64_t i = 0; i != n * step; i += step) y[i] = convert<T>(carry += convert<A>(x[i]));
    return carry;
  }
  for (; n >= 4; n -= 4, x += 4 * step, y += 4 * step) {
    const A x0 = convert<A>(x[0]), x1 = convert<A>(x[step]), x2 = convert<A>(x[2 * step]),
            x3 = convert<A>(x[3 * step]);
    const A x01 = x0 + x1, x012 = x01 + x2, x0123 = x01 + (x2 + x3);
    y[0] = convert<T>(carry + x0);
    y[step] = convert<T>(carry + x01);
    y[2 * step] = convert<T>(carry + x012);
    carry += x0123;
    y[3 * step] = convert<T>(carry);
  }
  if (n > 0) y[0] = convert<T>(carry += convert<A>(x[0]));
  if (n > 1) y[step] = convert<T>(carry += convert<A>(x[step]));
  if (n > 2) y[2 * step] = convert<T>(carry += convert<A>(x[2 * step]));
  return carry;
}

// `count` rows, `n` elements each.
template <class A, class T>
void sum_rows(const T* x, T* y, int64_t count, int64_t n, bool reverse) {
  if constexpr (std::is_same_v<A, double>) {
    if (const auto loop = running_sums<T>(reverse)) return loop(x, y, count, n);
  }
  const auto all = [&](auto step) {
    const int64_t start = step < 0 ? n - 1 : 0;
    for (int64_t at = start; at < count * n; at += n)
      sum_row<A, decltype(step)::value>(x + at, y + at, n, kNothing<A>);
  };
  reverse ? all(std::integral_constant<int64_t, -1>()) : all(std::integral_constant<int64_t, 1>());
}

// `width` neighbouring columns; `stride` is negative to sum from the end.
template <class A, class T>
void sum_columns(const T* x, T* y, int64_t n, int64_t stride, int64_t width, A* __restrict carry) {
  for (int64_t r = 0; r < n; ++r, x += stride, y += stride) {
    for (int64_t j = 0; j < width; ++j) {
      carry[j] += convert<A>(x[j]);
      y[j] = convert<T>(carry[j]);
    }
  }
}

// The same for a few, of rows that stay in the first-level cache: their sums stay in
// registers.
template <class A, int kWidth, class T>
void sum_few(const T* x, T* y, int64_t n, int64_t stride) {
  std::array<A, kWidth> carry;
  carry.fill(kNothing<A>);
  for (int64_t r = 0; r < n; ++r, x += stride, y += stride) {
    for (std::size_t j = 0; j < kWidth; ++j) {
      carry[j] += convert<A>(x[j]);
      y[j] = convert<T>(carry[j]);
    }
  }
}

// Columns whose sums begin here. Of a few short ones the loops of `sum_columns` would be set
// up for as long as they run.
template <class A, class T>
void sum_from_nothing(const T* x, T* y, int64_t n, int64_t stride, int64_t width, A* carry) {
  constexpr int64_t kNarrow = 16, kNear = 2048;
  if (width > 4 && (width > kNarrow || n * width > kNear)) {
    std::fill_n(carry, width, kNothing<A>);
    return sum_columns(x, y, n, stride, width, carry);
  }
  for (; width >= 4; width -= 4, x += 4, y += 4) sum_few<A, 4>(x, y, n, stride);
  if (width == 3) sum_few<A, 3>(x, y, n, stride);
  if (width == 2) sum_few<A, 2>(x, y, n, stride);
  if (width == 1) sum_few<A, 1>(x, y, n, stride);
}

template <class A, class T>
void run(const View& view, bool reverse, const T* x, T* y) {
  if (view.inner == 1) {
    parallel_for(
        view.outer, static_cast<double>(view.n),
        [&](int64_t first, int64_t last) {
          sum_rows<A>(x + first * view.n, y + first * view.n, last - first, view.n, reverse);
        },
        1);
    return;
  }
  const int64_t tiles = (view.inner + kTile - 1) / kTile;
  const int64_t last_row = reverse ? (view.n - 1) * view.inner : 0;
  parallel_for(
      view.outer * tiles, static_cast<double>(view.n * std::min(view.inner, kTile)),
      [&](int64_t first, int64_t last) {
        std::array<A, kTile> carry;
        for (int64_t unit = first; unit < last; ++unit) {
          // A division takes as long as a short row.
          const int64_t outer = tiles == 1 ? unit : unit / tiles;
          const int64_t column = (unit - outer * tiles) * kTile;
          const int64_t width = std::min(kTile, view.inner - column);
          const int64_t at = outer * view.n * view.inner + last_row + column;
          sum_from_nothing(x + at, y + at, view.n, reverse ? -view.inner : view.inner, width,
                           carry.data());
        }
      },
      1);
}

// Half types are converted to float and back in cache, as many as this at once.
constexpr int64_t kFloats = 1024;

// Some whole arrays of n x inner elements together.
template <class T>
void run_small_halves(const View& view, bool reverse, const T* x, T* y) {
  const int64_t n = view.n, inner = view.inner, size = n * inner, most = kFloats / size;
  parallel_for(view.outer, 2.0 * static_cast<double>(size), [&](int64_t first, int64_t last) {
    std::array<float, kFloats> floats;
    std::array<float, kTile> carry;
    for (int64_t o = first; o < last; o += most) {
      const int64_t count = std::min(most, last - o);
      convert_array(x + o * size, floats.data(), count * size);
      if (inner == 1) {
        sum_rows<float>(floats.data(), floats.data(), count, n, reverse);
      } else {
        for (int64_t tile = 0; tile < count * inner;) {
          const int64_t of = tile / inner, column = tile % inner;
          const int64_t width = std::min(kTile, inner - column);
          float* at = floats.data() + of * size + column + (reverse ? size - inner : 0);
          sum_from_nothing(at, at, n, reverse ? -inner : inner, width, carry.data());
          tile += width;
        }
      }
      convert_array(floats.data(), y + o * size, count * size);
    }
  });
}

// Some rows of one array of n x inner elements.
template <class T>
void run_large_halves(const View& view, bool reverse, const T* x, T* y) {
  const int64_t n = view.n, inner = view.inner;
  const int64_t tiles = (inner + kTile - 1) / kTile;
  const int64_t most = tiles == 1 ? kFloats / inner : 1;  // rows that lie together
  parallel_for(
      view.outer * tiles, 2.0 * static_cast<double>(n * std::min(inner, kTile)),
      [&](int64_t first, int64_t last) {
        std::array<float, kFloats> floats;
        std::array<float, kTile> carry;
        float* const block = floats.data();
        for (int64_t unit = first; unit < last; ++unit) {
          const int64_t column = unit % tiles * kTile, width = std::min(kTile, inner - column);
          std::fill_n(carry.data(), width, kNothing<float>);
          for (int64_t row = 0; row < n; row += most) {
            const int64_t rows = std::min(most, n - row), start = reverse ? n - row - rows : row;
            const int64_t at = (unit / tiles * n + start) * inner + column;
            const int64_t end = reverse ? (rows - 1) * width : 0;
            convert_array(x + at, block, rows * width);
            if (inner == 1) {
              carry[0] = reverse ? sum_row<float, -1>(block + end, block + end, rows, carry[0])
                                 : sum_row<float, 1>(block, block, rows, carry[0]);
            } else {
              sum_columns(block + end, block + end, rows, reverse ? -width : width, width,
                          carry.data());
            }
            convert_array(block, y + at, rows * width);
          }
        }
      },
      1);
}

// Elements take the type of the result before they are summed.
void cumsum(std::optional<int32_t> axis, bool reverse, KernelContext& context) {
  Tensor in = context.in(0);
  const Tensor& out = context.out(0);
  if (out.size() == 0) return;
  View view{1, in.size(), 1};
  if (axis) {
    const Shape& shape = out.shape();
    const int at = normalize_axis(*axis, shape.ndim(), "_np_cumsum");
    view = {shape.size(0, at), shape[at], shape.size(at + 1, shape.ndim())};
  }
  if (in.dtype != out.dtype) {
    void* memory = context.workspace(static_cast<std::size_t>(in.size()) * dtype_size(out.dtype));
    const Tensor converted{memory, in.shape_ptr, out.dtype};
    convert_tensor(in, converted, context);
    in = converted;
  }
  if (const GpuTable* gpu = gpu_table(context)) {
    return gpu->running_sum(context.stream()->native(), in, view.n, view.inner, reverse,
                            accumulate_wide(), out, context);
  }
  dispatch_dtype<kNumeric>(out.dtype, "_np_cumsum", [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) {
      // Unsigned: sums that do not fit wrap.
      run<uint64_t>(view, reverse, in.as<T>(), out.as<T>());
    } else if constexpr (std::is_same_v<T, float>) {
      accumulate_wide() ? run<double>(view, reverse, in.as<T>(), out.as<T>())
                        : run<float>(view, reverse, in.as<T>(), out.as<T>());
    } else if constexpr (kIsHalf<T>) {
      const bool small = view.n * view.inner <= kFloats;
      small ? run_small_halves(view, reverse, in.as<T>(), out.as<T>())
            : run_large_halves(view, reverse, in.as<T>(), out.as<T>());
    } else {
      run<T>(view, reverse, in.as<T>(), out.as<T>());
    }
  });
}

struct CumsumParams {
  std::optional<int32_t> axis;
  DType dtype = DType::kUnknown;
};

Attrs axis_attrs(const CumsumParams& params) {
  return {{"axis", ParamText<std::optional<int32_t>>::print(params.axis)}};
}

void infer_cumsum(const CumsumParams& params, Infer& infer) {
  if (params.dtype == DType::kUnknown && infer.in(0).dtype() == DType::kUnknown)
    infer.in(0).set_dtype(infer.out(0).dtype());
  const DType in = infer.in(0).dtype();
  infer.out(0).set_dtype(params.dtype != DType::kUnknown ? params.dtype
                         : in == DType::kBool            ? DType::kInt64
                                                         : in);
  if (params.axis) {
    infer.in(0).same_shape(infer.out(0));
    if (infer.in(0).rank_known()) infer.axis(*params.axis, infer.in(0));
  } else if (infer.in(0).known()) {
    infer.out(0).set_shape({infer.in(0).shape().size()});
  }
}

MX_OP(_np_cumsum, CumsumParams)
.doc("Running sum along an axis.")
    .alias("cumsum")
    .input("a", "The array.")
    .param("axis", &CumsumParams::axis, std::optional<int32_t>(),
           "The axis; without one, the array is flattened.")
    .dtype_param("dtype", &CumsumParams::dtype,
                 DTypeSet::of(DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kInt8,
                              DType::kInt32, DType::kInt64),
                 true, "None", "Type of the result; that of the array, int64 for bool.")
    .inplace(0, 0)
    .infer(infer_cumsum)
    .cpu([](const CumsumParams& params, KernelContext& context) {
      cumsum(params.axis, false, context);
    })
    .grad([](const CumsumParams& params, Grad& grad) {
      return Gradients{
          apply("_backward_np_cumsum", {grad.dout(0), grad.in(0)}, axis_attrs(params))};
    });

MX_OP(_backward_np_cumsum, CumsumParams)
.doc("Running sum from the end, in shape and type of `like`.")
    .input("data", "The array.")
    .input("like", "The argument of the forward call.")
    .type_only(1)
    .param("axis", &CumsumParams::axis, std::optional<int32_t>(), "The axis of the forward call.")
    .infer([](const CumsumParams& params, Infer& infer) {
      infer.follow(infer_cumsum, params, {infer.in(1)}, {infer.in(0)});
      infer.out(0).same_as(infer.in(1));
    })
    .cpu([](const CumsumParams& params, KernelContext& context) {
      cumsum(params.axis, true, context);
    })
    .grad([](const CumsumParams& params, Grad& grad) {
      return Gradients{apply("_np_cumsum", {grad.dout(0)}, axis_attrs(params)), Value()};
    });

[[maybe_unused]] const bool portable = mark_portable({"_np_cumsum", "_backward_np_cumsum"});

}  // namespace
}  // namespace mxnet
