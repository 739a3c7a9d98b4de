// SPDX-License-Identifier: Apache-2.0
// Diagonals and triangles of matrices as vectors, and back; the sum of logarithms of a diagonal.
// Each pair of operators is each other's gradient.
#include <cmath>

#include "op/matrix/la_op.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

struct OffsetParams {
  int32_t offset;
};
struct TrianParams {
  int32_t offset;
  bool lower;
};

// The positions of a part in an n x n matrix: fn(first position, step, count), in the order of the
// vector.
template <class F>
void each_run(const OffsetParams& p, int64_t n, const F& fn) {
  const int64_t first = p.offset < 0 ? -p.offset * n : int64_t{p.offset};
  fn(first, n + 1, n - std::abs(int64_t{p.offset}));
}
// A positive offset means the upper triangle, a negative one the lower, whatever `lower` says. A
// lower one goes row by row, an upper one as its mirror image: column by column.
template <class F>
void each_run(const TrianParams& p, int64_t n, const F& fn) {
  if (p.offset < 0 || (p.offset == 0 && p.lower)) {
    for (int64_t i = -p.offset; i < n; ++i) fn(i * n, 1, i + p.offset + 1);
  } else {
    for (int64_t j = p.offset; j < n; ++j) fn(j, n, j - p.offset + 1);
  }
}

int64_t vector_size(const OffsetParams& p, int64_t n) { return n - std::abs(int64_t{p.offset}); }
int64_t vector_size(const TrianParams& p, int64_t n) {
  const int64_t side = n - std::abs(int64_t{p.offset});
  return side * (side + 1) / 2;
}
// The side of the matrix whose part has `size` elements; negative where there is none.
int64_t matrix_side(const OffsetParams& p, int64_t size) {
  return size + std::abs(int64_t{p.offset});
}
int64_t matrix_side(const TrianParams& p, int64_t size) {
  auto side = static_cast<int64_t>((std::sqrt(8.0 * static_cast<double>(size) + 1.0) - 1.0) / 2.0);
  while (side * (side + 1) / 2 < size) ++side;
  return side * (side + 1) / 2 == size ? side + std::abs(int64_t{p.offset}) : -1;
}

// `empty`: parts without elements, too.
template <class P, bool empty>
void infer_extract(const P& params, Infer& infer) {
  infer.one_dtype();
  if (!infer_matrix(infer, 0, true)) return;
  const int64_t n = infer.in(0).shape().back();
  if (n >= 0 && params.offset != 0 && std::abs(int64_t{params.offset}) >= n + int64_t{empty})
    infer.in(0).fail(fmt::format("matrices of more than {} rows for this offset",
                                 std::abs(int64_t{params.offset})));
  Shape shape = batch_shape(infer.in(0).shape());
  shape.push_back(n < 0 ? n : vector_size(params, n));
  infer.out(0).set_shape(shape);
}

template <class P>
void infer_make(const P& params, Infer& infer) {
  infer.one_dtype();
  if (!infer.in(0).rank_known()) return;
  if (infer.in(0).ndim() < 1) infer.in(0).fail("one or more dimensions");
  const int64_t size = infer.in(0).shape().back(), n = size < 0 ? size : matrix_side(params, size);
  if (n < 0 && size >= 0)
    infer.in(0).fail("as many elements in the last dimension as a triangle has");
  Shape shape = batch_shape(infer.in(0).shape(), 1);
  shape.push_back(n);
  shape.push_back(n);
  infer.out(0).set_shape(shape);
}

// By a copy for each run of all matrices: one for a diagonal, as many as rows for a triangle.
template <class P, bool extract>
void move_on_gpu(const P& params, const Tensor& matrix, const Tensor& vector,
                 KernelContext& context) {
  const std::size_t element = dtype_size(matrix.dtype);
  if (!extract)
    clear_memory(context, matrix.data, static_cast<std::size_t>(matrix.size()) * element);
  const int64_t n = matrix_rows(matrix), size = vector.shape().back();
  int64_t done = 0;
  each_run(params, n, [&](int64_t at, int64_t step, int64_t count) {
    StridedPlan plan;
    plan.in_offset = at;
    plan.out_offset = done;
    plan.add(batch_size(matrix.shape()), n * n, size);
    plan.add(count, step, 1);
    extract ? copy_strided(context, plan, matrix.data, vector.data, element)
            : copy_strided(context, plan.reversed(), vector.data, matrix.data, element);
    done += count;
  });
}

// Moves elements of any type between matrices and vectors.
template <class P, bool extract>
void move_cpu(const P& params, KernelContext& context) {
  const Tensor& matrix = extract ? context.in(0) : context.out(0);
  const Tensor& vector = extract ? context.out(0) : context.in(0);
  if (matrix.size() == 0) return;
  if (gpu_table(context) != nullptr)
    return move_on_gpu<P, extract>(params, matrix, vector, context);
  dispatch_dtype<kFloating>(matrix.dtype, "linalg", [&]<class T>(TypeTag<T>) {
    const int64_t n = matrix_rows(matrix), size = vector.shape().back();
    parallel_for(
        batch_size(matrix.shape()), static_cast<double>(n * n),
        [&](int64_t begin, int64_t end) {
          for (int64_t b = begin; b < end; ++b) {
            T* m = matrix.as<T>() + b * n * n;
            T* v = vector.as<T>() + b * size;
            if (!extract) std::fill_n(m, n * n, T{});
            each_run(params, n, [&](int64_t at, int64_t step, int64_t count) {
              for (int64_t i = 0; i < count; ++i, at += step)
                extract ? * v++ = m[at] : m[at] = *v++;
            });
          }
        },
        1);
  });
}

void declare(OpBuilder<OffsetParams>& op) {
  op.param("offset", &OffsetParams::offset, 0, "Which diagonal: positive ones lie above.");
}
void declare(OpBuilder<TrianParams>& op) {
  op.param("offset", &TrianParams::offset, 0, "Diagonal that bounds the triangle.")
      .param("lower", &TrianParams::lower, true, "Lower triangle, where the offset is 0.");
}

template <class P, bool extract>
Gradients gradient_move(const P&, Grad& grad);

template <class P, bool extract>
void define_move(const char* name, const char* alias, const char* doc) {
  OpBuilder<P> op(name);
  op.alias(alias).doc(doc).input("A", extract ? "Batch of square matrices." : "Batch of vectors.");
  declare(op);
  op.dtypes(kFloating)
      .infer(extract ? infer_extract<P, false> : infer_make<P>)
      .cpu(move_cpu<P, extract>);
  op.grad(gradient_move<P, extract>);
}

// What was made of an empty vector has a gradient, an empty one.
template <class P>
void define_backward(const char* name, const char* doc) {
  OpBuilder<P> op(name);
  op.doc(doc).input("head_grad", "Gradient of the matrices.");
  declare(op);
  op.dtypes(kFloating).infer(infer_extract<P, true>).cpu(move_cpu<P, true>);
  op.grad(gradient_move<P, true>);
}

template <class P, bool extract>
Gradients gradient_move(const P&, Grad& grad) {
  constexpr bool kDiagonal = std::is_same_v<P, OffsetParams>;
  const char* other =
      extract ? (kDiagonal ? "_linalg_makediag" : "_linalg_maketrian")
              : (kDiagonal ? "_backward_linalg_makediag" : "_backward_linalg_maketrian");
  return {apply(other, {grad.dout(0)}, grad.attrs())};
}

// ---- sumlogdiag ----

// One number per matrix; a single matrix gives shape (1,), as in the 1.x line.
void infer_sumlogdiag(const NoParams&, Infer& infer) {
  infer.one_dtype();
  if (!infer_matrix(infer, 0, true)) return;
  const Shape batch = batch_shape(infer.in(0).shape());
  infer.out(0).set_shape(batch.ndim() == 0 ? Shape{1} : batch);
}

void sumlogdiag_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  dispatch_dtype<kFloating>(in.dtype, "_linalg_sumlogdiag", [&]<class T>(TypeTag<T>) {
    const int64_t n = matrix_rows(in), batch = batch_size(in.shape());
    for (int64_t b = 0; b < batch; ++b) {
      double sum = 0.0;
      for (int64_t i = 0; i < n; ++i)
        sum += std::log(convert<double>(in.as<T>()[(b * n + i) * n + i]));
      context.out(0).as<T>()[b] = convert<T>(sum);
    }
  });
}

// `numbers` has one for each matrix of input `matrices`, in whatever shape.
void check_one_each(Infer& infer, int numbers, int matrices) {
  if (!infer_matrix(infer, matrices, false) || !infer.in(matrices).known() ||
      !infer.in(numbers).known())
    return;
  const int64_t count = batch_size(infer.in(matrices).shape());
  if (infer.in(numbers).shape().size() != count)
    infer.in(numbers).fail(fmt::format("a number for each of {} matrices", count));
}

void infer_scale(const NoParams&, Infer& infer) {
  infer.one_dtype();
  check_one_each(infer, 0, 1);
  infer.in(1).same_shape(infer.out(0));
}

// Each matrix times its number.
void scale_cpu(const NoParams&, KernelContext& context) {
  const Tensor& out = context.out(0);
  if (out.size() == 0) return;
  dispatch_dtype<kFloating>(out.dtype, "_backward_linalg_scale", [&]<class T>(TypeTag<T>) {
    const int64_t size = matrix_rows(out) * matrix_columns(out);
    parallel_for(
        batch_size(out.shape()), static_cast<double>(size),
        [&](int64_t first, int64_t last) {
          for (int64_t b = first; b < last; ++b) {
            const auto factor = convert<ComputeType<T>>(context.in(0).as<T>()[b]);
            for (int64_t i = b * size; i < (b + 1) * size; ++i)
              out.as<T>()[i] =
                  convert<T>(factor * convert<ComputeType<T>>(context.in(1).as<T>()[i]));
          }
        },
        1);
  });
}

// A number per matrix: the sum of products of two batches; the shape is that of `like`.
void infer_inner(const NoParams&, Infer& infer) {
  infer.one_dtype();
  infer.in(0).same_shape(infer.in(1));
  check_one_each(infer, 2, 0);
  infer.out(0).same_shape(infer.in(2));
}

void inner_cpu(const NoParams&, KernelContext& context) {
  const Tensor &a = context.in(0), &b = context.in(1), &out = context.out(0);
  dispatch_dtype<kFloating>(out.dtype, "_backward_linalg_inner", [&]<class T>(TypeTag<T>) {
    const int64_t size = out.size() == 0 ? 0 : a.size() / out.size();
    for (int64_t i = 0; i < out.size(); ++i) {
      double sum = 0.0;
      for (int64_t j = i * size; j < (i + 1) * size; ++j)
        sum += convert<double>(a.as<T>()[j]) * convert<double>(b.as<T>()[j]);
      out.as<T>()[i] = convert<T>(sum);
    }
  });
}

MX_OP(_backward_linalg_scale, NoParams)
.doc("Each matrix times its number.")
    .input("factor", "A number per matrix.")
    .input("A", "Batch of matrices.")
    .dtypes(kFloating)
    .inplace(1, 0)
    .infer(infer_scale)
    .cpu(scale_cpu)
    .grad([](const NoParams&, Grad& grad) {
      Gradients result(2);
      if (grad.wants(0))
        result[0] = apply("_backward_linalg_inner", {grad.dout(0), grad.in(1), grad.in(0)});
      if (grad.wants(1)) result[1] = apply("_backward_linalg_scale", {grad.in(0), grad.dout(0)});
      return result;
    });

MX_OP(_backward_linalg_inner, NoParams)
.doc("Sum of the products of elements, for each pair of matrices.")
    .input("A", "Batch of matrices.")
    .input("B", "Batch of matrices.")
    .input("like", "Its shape is that of the result.")
    .type_only(2)
    .dtypes(kFloating)
    .infer(infer_inner)
    .cpu(inner_cpu)
    .grad([](const NoParams&, Grad& grad) {
      return Gradients{apply("_backward_linalg_scale", {grad.dout(0), grad.in(1)}),
                       apply("_backward_linalg_scale", {grad.dout(0), grad.in(0)}), Value()};
    });

MX_OP(_linalg_sumlogdiag, NoParams)
.doc("Sum of the logarithms of the diagonal of each matrix.")
    .alias("linalg_sumlogdiag")
    .input("A", "Batch of square matrices.")
    .lenient()
    .dtypes(kFloating)
    .infer(infer_sumlogdiag)
    .cpu(sumlogdiag_cpu)
    .grad([](const NoParams&, Grad& grad) {
      const Value diagonal = apply("_linalg_extractdiag", {grad.in(0)});
      // As matrices of a row: what a gradient of NaN would make of zeros is none of its business.
      const Value rows = apply("expand_dims", {1.0 / diagonal}, {{"axis", "-2"}});
      const Value scaled = apply("_backward_linalg_scale", {grad.dout(0), rows});
      return Gradients{apply("_linalg_makediag", {apply("reshape_like", {scaled, diagonal})})};
    });

[[maybe_unused]] const bool defined = [] {
  define_move<OffsetParams, true>("_linalg_extractdiag", "linalg_extractdiag",
                                  "Diagonals of matrices.");
  define_move<OffsetParams, false>("_linalg_makediag", "linalg_makediag",
                                   "Matrices that are zero outside of a diagonal.");
  define_move<TrianParams, true>("_linalg_extracttrian", "linalg_extracttrian",
                                 "Triangles of matrices, row by row.");
  define_move<TrianParams, false>("_linalg_maketrian", "linalg_maketrian",
                                  "Triangular matrices from vectors.");
  define_backward<OffsetParams>("_backward_linalg_makediag", "Gradient of `_linalg_makediag`.");
  define_backward<TrianParams>("_backward_linalg_maketrian", "Gradient of `_linalg_maketrian`.");
  return mark_portable({"_linalg_extractdiag", "_linalg_makediag", "_linalg_extracttrian",
                        "_linalg_maketrian", "_backward_linalg_makediag",
                        "_backward_linalg_maketrian"});
}();

}  // namespace
}  // namespace mxnet
