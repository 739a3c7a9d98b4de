// SPDX-License-Identifier: Apache-2.0
// L2Normalization: length 1, of examples, of positions across channels, or of channels.
#include <algorithm>
#include <array>
#include <cmath>

#include "op/loops/row_io.h"
#include "op/norm/norm_loops.h"
#include "op/norm/row_sums.h"
#include "op/op_builder.h"
#include "op/reducing/evaluate.h"
#include "op/reducing/reduce_engine.h"
#include "op/rows/binary_loops.h"
#include "op/rows/unary_loops.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

enum class Mode : uint8_t { kChannel, kInstance, kSpatial };

struct L2Params {
  float eps;
  Mode mode;
};

RowLayout rows_of(const L2Params& params, const Shape& shape) {
  switch (params.mode) {
    case Mode::kChannel:
      return rows_along(shape, 1);
    case Mode::kInstance:
      return rows_behind(shape, 1);
    case Mode::kSpatial:
      return rows_behind(shape, 2);
  }
  return {};
}

// One norm a row: (batch) for examples, (batch, channels) for channels, the data's shape with one
// channel for positions.
void infer_norm(const L2Params& params, InferArg data, InferArg norm) {
  norm.same_dtype(data);
  if (!data.rank_known()) return;
  const int least = params.mode == Mode::kInstance ? 1 : 3;
  if (data.ndim() < least) data.fail("rank " + std::to_string(least) + " or more");
  Shape shape = data.shape();
  if (params.mode == Mode::kChannel) shape[1] = 1;
  if (params.mode == Mode::kInstance) shape = {data.dim(0)};
  if (params.mode == Mode::kSpatial) shape = {data.dim(0), data.dim(1)};
  norm.set_shape(shape);
}

// What both passes do on a GPU, by primitives, in the type of the sums: `wide` arrays of the data's
// shape and of one number a row.
class OnGpu {
 public:
  OnGpu(const GpuTable& gpu, const L2Params& params, const Shape& shape, DType dtype,
        KernelContext& context)
      : gpu_(gpu),
        context_(context),
        wide_(dtype == DType::kFloat64 ? dtype : DType::kFloat32),
        shape_(shape),
        rows_(shape) {
    for (int i = 0; i < shape.ndim(); ++i) {
      const bool kept =
          i == 0 ||
          (params.mode == Mode::kChannel ? i != 1 : params.mode == Mode::kSpatial && i == 1);
      if (kept) continue;
      rows_[i] = 1;
      axes_ |= AxisSet{1} << i;
    }
  }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;

  Tensor array() const { return scratch(shape_); }
  Tensor numbers() const { return scratch(rows_); }
  Tensor widened(const Tensor& x, const Tensor& to) const {
    gpu_.convert(stream(), x, to);
    return to;
  }
  void binary(BinaryRow row, const Tensor& a, const Tensor& b, const Tensor& to) const {
    gpu_.binary(stream(), static_cast<int>(row), a, b, to);
  }
  void sum(Reduction reduction, const Tensor& x, const Tensor& to) const {
    reduce_to({.reduction = reduction}, x, axes_, to, context_);
  }
  NativeStream* stream() const { return context_.stream()->native(); }

 private:
  Tensor scratch(const Shape& shape) const {
    const auto count = static_cast<std::size_t>(std::max<int64_t>(shape.size(), 1));
    return {context_.workspace(count * dtype_size(wide_)), &shape, wide_};
  }
  const GpuTable& gpu_;
  KernelContext& context_;
  const DType wide_;
  const Shape shape_;
  Shape rows_;
  AxisSet axes_ = 0;
};

void forward_on_gpu(const GpuTable& gpu, const L2Params& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0), &norm = context.out(1);
  const OnGpu on(gpu, params, in.shape(), in.dtype, context);
  const Tensor x = on.widened(in, on.array()), length = on.numbers();
  on.sum(Reduction::sum_squares, x, length);
  gpu.binary_scalar(on.stream(), static_cast<int>(BinaryRow::add), length, params.eps, false,
                    length);
  gpu.unary(on.stream(), static_cast<int>(UnaryRow::sqrt), length, length);
  gpu.convert(on.stream(), length, norm);
  on.binary(BinaryRow::divide, x, length, x);
  gpu.convert(on.stream(), x, out);
}

void backward_on_gpu(const GpuTable& gpu, const L2Params& params, KernelContext& context) {
  const Tensor& out = context.in(1);
  const OnGpu on(gpu, params, out.shape(), out.dtype, context);
  const Tensor dy = on.widened(context.in(0), on.array()), y = on.widened(out, on.array());
  const Tensor length = on.widened(context.in(2), on.numbers());
  const Tensor product = on.array(), sums = on.numbers();
  on.binary(BinaryRow::multiply, dy, y, product);
  on.sum(Reduction::sum, product, sums);
  on.binary(BinaryRow::multiply, y, sums, y);
  on.binary(BinaryRow::subtract, dy, y, dy);
  on.binary(BinaryRow::divide, dy, length, dy);
  gpu.convert(on.stream(), dy, context.out(0));
}

// Norms of positions across channels: columns of a matrix, so many side by side, whose sums stay in
// the first-level cache.
constexpr int64_t kColumns = 256;

// fn(matrix, first column, how many), in threads.
template <class F>
void for_columns(const RowLayout& rows, double cost, const F& fn) {
  const int64_t blocks = (rows.inner + kColumns - 1) / kColumns;
  parallel_for(
      rows.outer * blocks, cost * static_cast<double>(rows.length * kColumns),
      [&](int64_t first, int64_t last) {
        for (int64_t unit = first; unit < last; ++unit) {
          const int64_t column = unit % blocks * kColumns;
          fn(unit / blocks, column, std::min(kColumns, rows.inner - column));
        }
      },
      1);
}

// sums[j] = sum over i of a[i * step + j] * b[i * step + j].
template <class C>
void add_products(const C* a, const C* b, int64_t length, int64_t step, int64_t columns,
                  std::array<double, kColumns>* sums) {
  double* const to = sums->data();
  std::fill_n(to, columns, 0.0);
  for (int64_t i = 0; i < length; ++i, a += step, b += step)
    for (int64_t j = 0; j < columns; ++j)
      to[j] += static_cast<double>(a[j]) * static_cast<double>(b[j]);
}

template <class C>
void forward_columns(const RowLayout& rows, float eps, const C* x, C* y, C* norm) {
  for_columns(rows, 2.0, [&](int64_t matrix, int64_t column, int64_t columns) {
    const int64_t start = matrix * rows.length * rows.inner + column;
    std::array<double, kColumns> squares;
    std::array<C, kColumns> factors;
    add_products(x + start, x + start, rows.length, rows.inner, columns, &squares);
    for (int64_t j = 0; j < columns; ++j) {
      const double length = std::sqrt(squares[static_cast<std::size_t>(j)] + eps);
      norm[matrix * rows.inner + column + j] = static_cast<C>(length);
      factors[static_cast<std::size_t>(j)] = static_cast<C>(1.0 / length);
    }
    const C *from = x + start, *factor = factors.data();
    C* to = y + start;
    for (int64_t i = 0; i < rows.length; ++i, from += rows.inner, to += rows.inner)
      for (int64_t j = 0; j < columns; ++j) to[j] = from[j] * factor[j];
  });
}

template <class C>
void backward_columns(const RowLayout& rows, const C* dy, const C* y, const C* norm, C* dx) {
  for_columns(rows, 4.0, [&](int64_t matrix, int64_t column, int64_t columns) {
    const int64_t start = matrix * rows.length * rows.inner + column;
    std::array<double, kColumns> products;
    std::array<C, kColumns> factors, shares;
    add_products(dy + start, y + start, rows.length, rows.inner, columns, &products);
    for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j) {
      const double scale =
          1.0 / static_cast<double>(norm[matrix * rows.inner + column + static_cast<int64_t>(j)]);
      factors[j] = static_cast<C>(scale);
      shares[j] = static_cast<C>(products[j] * scale);
    }
    const C *g = dy + start, *value = y + start;
    C* to = dx + start;
    for (int64_t i = 0; i < rows.length; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const auto k = static_cast<std::size_t>(j);
        to[j] = g[j] * factors[k] - value[j] * shares[k];
      }
      g += rows.inner;
      value += rows.inner;
      to += rows.inner;
    }
  });
}

// Calls fn and returns true where columns of `dtype` can be used as they lie, and sums are double.
template <class C, class F>
bool by_columns(const RowLayout& rows, DType dtype, const F& fn) {
  constexpr int64_t kFewColumns = 8;
  const bool ready = dtype == (sizeof(C) == 8 ? DType::kFloat64 : DType::kFloat32);
  if (!ready || rows.inner < kFewColumns || !accumulate_wide()) return false;
  fn();
  return true;
}

void forward(const L2Params& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0), &norm = context.out(1);
  if (const GpuTable* gpu = gpu_table(context)) return forward_on_gpu(*gpu, params, context);
  const RowLayout rows = rows_of(params, in.shape());
  with_row_type(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    if (by_columns<C>(rows, in.dtype, [&] {
          forward_columns<C>(rows, params.eps, in.as<C>(), out.as<C>(), norm.as<C>());
        }))
      return;
    const NormLoops<C>& loops = norm_loops<C>();
    const bool wide = accumulate_wide();
    map_rows<C>(
        rows, 2.0, out,
        [&](int64_t r, C* y, const C* x) {
          const double square = sum_blocks<C>(rows.length, wide, [&](int64_t at, int64_t n) {
            return loops.dot(x + at, x + at, n);
          });
          const double length = std::sqrt(square + params.eps);
          loops.affine(x, y, rows.length, C(0), static_cast<C>(1.0 / length), C(0));
          write_element(norm, r, length);
        },
        in);
  });
}

// dx = (dy - y * sum(dy * y)) / norm. Inputs: gradient, result, norms.
void backward(const L2Params& params, KernelContext& context) {
  const Tensor &dy = context.in(0), &out = context.in(1), &norm = context.in(2);
  const Tensor& dx = context.out(0);
  if (const GpuTable* gpu = gpu_table(context)) return backward_on_gpu(*gpu, params, context);
  const RowLayout rows = rows_of(params, out.shape());
  with_row_type(out.dtype, [&](auto zero) {
    using C = decltype(zero);
    if (by_columns<C>(rows, out.dtype, [&] {
          backward_columns<C>(rows, dy.as<C>(), out.as<C>(), norm.as<C>(), dx.as<C>());
        }))
      return;
    const NormLoops<C>& loops = norm_loops<C>();
    const bool wide = accumulate_wide();
    map_rows<C>(
        rows, 4.0, dx,
        [&](int64_t r, C* to, const C* g, const C* y) {
          const double d = sum_blocks<C>(rows.length, wide, [&](int64_t at, int64_t n) {
            return loops.dot(g + at, y + at, n);
          });
          const double scale = 1.0 / read_element(norm, r);
          loops.affine_grad(g, y, to, rows.length, C(0), static_cast<C>(scale),
                            static_cast<C>(-d * scale), C(0));
        },
        dy, out);
  });
}

OpBuilder<L2Params>& add_params(OpBuilder<L2Params>& op) {
  return op.param("eps", &L2Params::eps, 1e-10f, "Added to the sum of squares.")
      .choice(
          "mode", &L2Params::mode,
          {{"channel", Mode::kChannel}, {"instance", Mode::kInstance}, {"spatial", Mode::kSpatial}},
          "instance",
          "What gets length 1: instance, each example; channel, each position across channels; "
          "spatial, each channel of an example.")
      .dtypes(kFloating);
}

bool define() {
  OpBuilder<L2Params> op("L2Normalization");
  op.doc("The data divided by the root of its sum of squares.").input("data", "The array.");
  add_params(op)
      .outputs([](const L2Params&) { return 2; })
      .visible_outputs([](const L2Params&) { return 1; })
      .output("output")
      .output("norm")
      .inplace(0, 0)
      .infer([](const L2Params& params, Infer& infer) {
        infer.in(0).same_as(infer.out(0));
        infer_norm(params, infer.in(0), infer.out(1));
      })
      .cpu(forward)
      .grad([](const L2Params&, Grad& grad) {
        return Gradients{apply("_backward_L2Normalization",
                               {grad.dout(0), grad.out(0), grad.out(1)}, grad.attrs())};
      });
  OpBuilder<L2Params> back("_backward_L2Normalization");
  back.doc("Gradient of L2Normalization.")
      .input("head_grad", "Gradient of the result.")
      .input("output", "Result of the forward call.")
      .input("norm", "Norms of the forward call.");
  add_params(back)
      .inplace(0, 0)
      .inplace(1, 0)
      .infer([](const L2Params& params, Infer& infer) {
        infer.in(0).same_as(infer.in(1)).same_as(infer.out(0));
        infer_norm(params, infer.in(1), infer.in(2));
      })
      .cpu(backward);
  return mark_portable({"L2Normalization", "_backward_L2Normalization"});
}

[[maybe_unused]] const bool defined = define();

}  // namespace
}  // namespace mxnet
