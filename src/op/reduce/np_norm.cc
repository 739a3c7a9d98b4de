// SPDX-License-Identifier: Apache-2.0
// _npi_norm: norms of vectors (along any axes) and of matrices (along two).
#include "op/reduce/np_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "op/loops/as_type.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/reduce/gradients.h"
#include "op/reduce/jacobi_svd.h"
#include "op/reducing/evaluate.h"
#include "op/reducing/reduce_blocks.h"
#include "op/reducing/reduce_engine.h"
#include "op/reducing/scaled_roots.h"
#include "op/rows/unary_loops.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr char kTag[] = "_npi_norm";
constexpr DTypeSet kInputs = kNumeric | DTypeSet::of(DType::kBool);

void write(const Tensor& out, int64_t at, double value) {
  dispatch_dtype<kFloating>(out.dtype, kTag,
                            [&]<class T>(TypeTag<T>) { out.as<T>()[at] = convert<T>(value); });
}

void vector_norm(double p, const Tensor& in, AxisSet axes, const Tensor& out,
                 KernelContext& context) {
  const ReducePlan plan(in.shape(), axes);
  if (plan.extent() == 1 && (p == 1.0 || p == 2.0) && take_magnitudes(in, out)) return;
  const auto store = [&](auto finish) {
    return [&out, finish](int64_t first, const double* sums, int64_t n) {
      for (int64_t i = 0; i < n; ++i) write(out, first + i, finish(sums[i]));
    };
  };
  const auto same = [](double value) { return value; };
  if (p == 0.0) return reduce<double>(Reduction::count_nonzero, in, plan, store(same));
  if (p == 1.0) return reduce<double>(Reduction::sum_abs, in, plan, store(same));
  if (p == 2.0) {
    return reduce<double>(
        Reduction::sum_squares, in, plan, [&](int64_t first, const double* sums, int64_t n) {
          std::array<double, reduce_units::kMostValues> roots;
          unary_loop<double>(UnaryRow::sqrt).value(sums, roots.data(), n);
          scale_roots(in, plan, first, sums, n, roots.data());
          dispatch_dtype<kFloating>(out.dtype, kTag, [&]<class T>(TypeTag<T>) {
            for (int64_t i = 0; i < n; ++i)
              out.as<T>()[first + i] = convert<T>(roots[static_cast<std::size_t>(i)]);
          });
        });
  }
  double* powers = context.workspace_of<double>(std::max<int64_t>(in.size(), 1));
  const Tensor powered_in{powers, in.shape_ptr, DType::kFloat64};
  convert_tensor(in, powered_in, context);
  parallel_for(in.size(), std::isinf(p) ? 1.0 : 40.0, [&](int64_t first, int64_t last) {
    if (std::isinf(p)) {
      for (int64_t i = first; i < last; ++i) powers[i] = std::abs(powers[i]);
    } else {
      for (int64_t i = first; i < last; ++i) powers[i] = std::pow(std::abs(powers[i]), p);
    }
  });
  if (std::isinf(p)) {
    return reduce<double>(p > 0 ? Reduction::max : Reduction::min, powered_in, plan, store(same));
  }
  reduce<double>(Reduction::sum, powered_in, plan,
                 store([p](double value) { return std::pow(value, 1.0 / p); }));
}

// The matrices along two axes, one for each output.
class Matrices {
 public:
  Matrices(const NumpyNormParams& params, const Shape& shape) {
    int axes[2];
    for (int i = 0; i < 2; ++i) axes[i] = normalize_axis((*params.axis)[i], shape.ndim(), kTag);
    for (int i = 0; i < shape.ndim(); ++i) {
      const ReduceDim dim{shape[i], shape.size(i + 1, shape.ndim())};
      if (i == axes[0]) {
        row_ = dim;
      } else if (i == axes[1]) {
        column_ = dim;
      } else {
        outer_.add(dim);
      }
    }
  }
  int64_t count() const { return outer_.positions(); }
  int64_t rows() const { return row_.size; }
  int64_t columns() const { return column_.size; }
  // Where element (i, j) of matrix m is.
  int64_t at(int64_t m, int64_t i, int64_t j) const {
    return outer_.offset(m) + i * row_.stride + j * column_.stride;
  }
  template <class T>
  std::vector<double> load(const T* x, int64_t m) const {
    std::vector<double> a(static_cast<std::size_t>(rows() * columns()));
    std::size_t k = 0;
    for (int64_t i = 0; i < rows(); ++i) {
      for (int64_t j = 0; j < columns(); ++j) a[k++] = static_cast<double>(x[at(m, i, j)]);
    }
    return a;
  }

 private:
  ReduceDim row_, column_;
  ReduceWalk outer_;
};

// The largest (ord > 0) or smallest sum of absolute values of a column (ord +-1) or row (inf).
double column_norm(const std::vector<double>& a, int64_t rows, int64_t columns, double ord) {
  const bool along_rows = std::abs(ord) == 1.0;
  std::vector<double> sums(static_cast<std::size_t>(along_rows ? columns : rows));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j)
      sums[static_cast<std::size_t>(along_rows ? j : i)] +=
          std::abs(a[static_cast<std::size_t>(i * columns + j)]);
  }
  return ord > 0 ? *std::max_element(sums.begin(), sums.end())
                 : *std::min_element(sums.begin(), sums.end());
}

double matrix_norm(NormKind kind, const std::vector<double>& a, const Matrices& matrices,
                   double ord) {
  if (kind == NormKind::kColumns) return column_norm(a, matrices.rows(), matrices.columns(), ord);
  const std::vector<double> s = jacobi_svd(a, matrices.rows(), matrices.columns()).s;
  if (kind == NormKind::kSpectral)
    return ord > 0 ? *std::max_element(s.begin(), s.end()) : *std::min_element(s.begin(), s.end());
  double sum = 0.0;
  for (const double value : s) sum += value;
  return sum;
}

// d norm / d a: U V^T for the nuclear norm, of which the spectral norms keep one triple; for column
// norms the signs of the columns that are extreme.
std::vector<double> matrix_slope(NormKind kind, const std::vector<double>& a,
                                 const Matrices& matrices, double ord) {
  const int64_t rows = matrices.rows(), columns = matrices.columns();
  std::vector<double> slope(a.size());
  if (kind == NormKind::kColumns) {
    const double norm = column_norm(a, rows, columns, ord);
    const bool along_rows = std::abs(ord) == 1.0;
    const int64_t sums = along_rows ? columns : rows, length = along_rows ? rows : columns;
    for (int64_t o = 0; o < sums; ++o) {
      const auto at = [&](int64_t i) {
        return static_cast<std::size_t>(along_rows ? i * columns + o : o * columns + i);
      };
      double sum = 0.0;
      for (int64_t i = 0; i < length; ++i) sum += std::abs(a[at(i)]);
      if (sum != norm) continue;
      for (int64_t i = 0; i < length; ++i)
        slope[at(i)] = a[at(i)] > 0 ? 1.0 : a[at(i)] < 0 ? -1.0 : 0.0;
    }
    return slope;
  }
  const Svd svd = jacobi_svd(a, rows, columns);
  const auto extreme = ord > 0 ? std::max_element(svd.s.begin(), svd.s.end())
                               : std::min_element(svd.s.begin(), svd.s.end());
  for (std::size_t k = 0; k < svd.s.size(); ++k) {
    if (kind == NormKind::kSpectral && k != static_cast<std::size_t>(extreme - svd.s.begin()))
      continue;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        slope[static_cast<std::size_t>(i * columns + j)] +=
            svd.u[k * static_cast<std::size_t>(rows) + static_cast<std::size_t>(i)] *
            svd.v[k * static_cast<std::size_t>(columns) + static_cast<std::size_t>(j)];
      }
    }
  }
  return slope;
}

// Whether the norm is the smallest of numbers of which there are none. The largest is 0, as a sum.
bool needs_element(const NumpyNormParams& params, const Shape& shape) {
  const NormKind kind = kind_of(params);
  if (kind == NormKind::kVector)
    return std::isinf(vector_order(params)) && vector_order(params) < 0;
  if (kind == NormKind::kNuclear || params.ord > 0) return false;
  const Matrices matrices(params, shape);
  const bool of_rows = kind == NormKind::kSpectral || std::isinf(params.ord);
  const bool of_columns = kind == NormKind::kSpectral || !std::isinf(params.ord);
  return (of_rows && matrices.rows() == 0) || (of_columns && matrices.columns() == 0);
}

void norm_cpu(const NumpyNormParams& params, KernelContext& context) {
  // Integers as doubles, so that there is one set of loops.
  const Tensor &given = context.in(0), &out = context.out(0);
  const Tensor in = is_floating(given.dtype) ? given : as_type(given, DType::kFloat64, context);
  const NormKind kind = kind_of(params);
  const bool picks = kind != NormKind::kVector || std::isinf(vector_order(params));
  if (in.size() == 0 && picks) {
    for (int64_t i = 0; i < out.size(); ++i) write(out, i, 0);
    return;
  }
  if (kind == NormKind::kVector) {
    return vector_norm(vector_order(params), in, params.choice().axes(in.ndim(), kTag), out,
                       context);
  }
  const Matrices matrices(params, in.shape());
  dispatch_dtype<kFloating>(in.dtype, kTag, [&]<class T>(TypeTag<T>) {
    for (int64_t m = 0; m < matrices.count(); ++m)
      write(out, m, matrix_norm(kind, matrices.load(in.as<T>(), m), matrices, params.ord));
  });
}

// Inputs: gradient of the output, output, input.
void norm_back_cpu(const NumpyNormParams& params, KernelContext& context) {
  const Tensor &dy = context.in(0), &y = context.in(1), &x = context.in(2), &dx = context.out(0);
  const NormKind kind = kind_of(params);
  const double p = vector_order(params);
  if (x.size() == 0) return;
  dispatch_dtype<kFloating>(x.dtype, kTag, [&]<class T>(TypeTag<T>) {
    if (kind != NormKind::kVector) {
      const Matrices matrices(params, x.shape());
      for (int64_t m = 0; m < matrices.count(); ++m) {
        const std::vector<double> slope =
            matrix_slope(kind, matrices.load(x.as<T>(), m), matrices, params.ord);
        std::size_t k = 0;
        for (int64_t i = 0; i < matrices.rows(); ++i) {
          for (int64_t j = 0; j < matrices.columns(); ++j) {
            dx.as<T>()[matrices.at(m, i, j)] =
                convert<T>(static_cast<double>(dy.as<T>()[m]) * slope[k++]);
          }
        }
      }
      return;
    }
    const ReducePlan plan(x.shape(), params.choice().axes(x.ndim(), kTag));
    for (int64_t kept = 0; kept < plan.kept().positions(); ++kept) {
      for (int64_t r = 0; r < plan.reduced().positions(); ++r) {
        const int64_t base = plan.kept().offset(kept) + plan.reduced().offset(r);
        for (int64_t i = 0; i < plan.run(); ++i) {
          const int64_t o = plan.inner_reduced() ? kept : kept * plan.run() + i;
          const double value = static_cast<double>(x.as<T>()[base + i]);
          const double norm = static_cast<double>(y.as<T>()[o]);
          double slope = 0.0;
          if (std::isinf(p)) {
            slope = std::abs(value) == norm ? std::copysign(1.0, value) : 0.0;
          } else if (p != 0.0 && value != 0.0 && norm != 0.0) {
            slope = std::copysign(std::pow(std::abs(value) / norm, p - 1.0), value);
          }
          dx.as<T>()[base + i] = convert<T>(static_cast<double>(dy.as<T>()[o]) * slope);
        }
      }
    }
  });
}

// The reference describes no parameters but takes these.
OpBuilder<NumpyNormParams> declare(const char* name, const char* doc) {
  OpBuilder<NumpyNormParams> op(name);
  op.doc(doc)
      .param("ord", &NumpyNormParams::ord, 2.0, "Order of the norm.")
      .unlisted()
      .param("axis", &NumpyNormParams::axis, std::optional<Shape>(), "Axes; all, if none is given.")
      .unlisted()
      .param("keepdims", &NumpyNormParams::keepdims, false,
             "Whether reduced axes stay as dimensions of size one.")
      .unlisted()
      .param("flag", &NumpyNormParams::flag, -1,
             "-2, 1: root of the sum of squares; -1: of a vector; 0: of a matrix; 2: nuclear.")
      .unlisted();
  return op;
}

void infer_norm(const NumpyNormParams& params, Infer& infer) {
  const bool matrix = kind_of(params) != NormKind::kVector;
  if (matrix && (!params.axis || params.axis->ndim() != 2))
    infer.fail(fmt::format("given {} axes, expected two for the norm of a matrix",
                           params.axis ? params.axis->ndim() : 0));
  if (!infer.in(0).rank_known()) return;
  const Shape& shape = infer.in(0).shape();
  infer.out(0).set_shape(params.choice().shape(shape, kTag));
  const AxisSet axes = params.choice().axes(shape.ndim(), kTag);
  if (shape.known() && reduces_nothing(shape, axes) && needs_element(params, shape))
    infer.in(0).fail("at least one element");
}

[[maybe_unused]] const bool defined = [] {
  declare("_npi_norm", "Norm of vectors or matrices.")
      .input("data", "The array.")
      .output("output0")
      .dtypes(kInputs)
      .infer([](const NumpyNormParams& params, Infer& infer) {
        const DType in = infer.in(0).dtype();
        if (in == DType::kUnknown || is_floating(in)) {
          infer.one_dtype();
        } else {
          infer.out(0).set_dtype(DType::kFloat32);  // as means of integers are
        }
        infer_norm(params, infer);
      })
      .cpu(norm_cpu)
      .grad([](const NumpyNormParams& params, Grad& grad) {
        if (kind_of(params) == NormKind::kVector && vector_order(params) == 2.0)
          return root_norm_gradient(params.choice(), grad);
        if (kind_of(params) == NormKind::kVector && vector_order(params) == 1.0)
          return abs_norm_gradient(params.choice(), grad);
        return Gradients{
            apply("_backward_npi_norm", {grad.dout(0), grad.out(0), grad.in(0)}, grad.attrs())};
      });
  declare("_backward_npi_norm", "Gradient of _npi_norm.")
      .input("head_grad", "Gradient of the output.")
      .input("output", "Output of the forward call.")
      .input("data", "Input of the forward call.")
      .dtypes(kFloating)
      .infer([](const NumpyNormParams& params, Infer& infer) {
        infer.one_dtype();
        infer.follow(infer_norm, params, {infer.in(2)}, {infer.in(1)});
        infer.in(0).same_shape(infer.in(1));
        infer.out(0).same_shape(infer.in(2));
      })
      .cpu(norm_back_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet
