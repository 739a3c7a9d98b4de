// SPDX-License-Identifier: Apache-2.0
// Contractions as matrix products: labels fall into batch, rows, columns and summed ones; operands
// whose strides already form matrices are used in place, others are copied together first.
#include "op/matrix/contract.h"

#include <algorithm>
#include <optional>

#include "op/loops/as_type.h"
#include "op/matrix/contract_elements.h"
#include "op/matrix/contract_gpu.h"
#include "op/matrix/strided.h"
#include "op/moving/strided_kernels.h"
#include "op/products/column_dots.h"
#include "op/products/packed_bfloat16.h"
#include "op/products/products.h"
#include "op/rows/binary_kernel.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

using namespace contraction;

// The low bits of a result need no more of the operands: unsigned numbers of 32 bits serve all
// integers that are no longer.
template <class T>
constexpr bool kShortInteger = std::is_integral_v<T> && sizeof(T) <= 4 && !std::is_same_v<T, bool>;
template <class T>
using Computed = std::conditional_t<
    kShortInteger<T>, uint32_t,
    std::conditional_t<std::is_integral_v<T>, uint64_t,
                       std::conditional_t<std::is_same_v<T, double>, double, float>>>;
// Whether arrays of T are arrays of what is computed in.
template <class T>
constexpr bool kAsItIs = std::is_same_v<Computed<T>, T> ||
                         (std::is_integral_v<T> && sizeof(T) == sizeof(Computed<T>));

// The type of arrays of what is computed in: signs do not matter.
template <class C>
constexpr DType kWide = std::is_floating_point_v<C>
                            ? (sizeof(C) == 8 ? DType::kFloat64 : DType::kFloat32)
                            : (sizeof(C) == 8 ? DType::kInt64 : DType::kInt32);

// A factor, which may be negative.
template <class C>
C number(double factor) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<int64_t>(factor));
  else
    return static_cast<C>(factor);
}

// An operand in the type that is computed in.
template <class C>
struct View {
  const C* data;
  Strides strides;
};

std::vector<Walk> walk_of(Dims dims, const Strides& from, const Strides& to) {
  std::vector<Walk> walk;
  for (std::size_t l = 0; l < dims.size(); ++l) {
    if (from[l] != 0 || to[l] != 0) walk.push_back({dims[l], from[l], to[l]});
  }
  return walk;
}

// Where the matrices of a batch begin.
InlineVector<int64_t, 8> offsets(Dims dims, const Labels& batch, const Strides& strides) {
  InlineVector<int64_t, 8> at{0};
  for (std::size_t l : batch) {
    InlineVector<int64_t, 8> longer;
    longer.reserve(at.size() * static_cast<std::size_t>(dims[l]));
    for (int64_t start : at) {
      for (int64_t i = 0; i < dims[l]; ++i) longer.push_back(start + i * strides[l]);
    }
    at = std::move(longer);
  }
  return at;
}

// The last labels of a batch as one: steps of one size in each of three arrays.
struct Series {
  int64_t count = 1, a = 0, b = 0, c = 0;
};
Series take_series(Dims dims, Labels* batch, const Strides& a, const Strides& b, const Strides& c) {
  Series series;
  while (!batch->empty()) {
    const std::size_t l = batch->back();
    if (series.count == 1) {
      series = {1, a[l], b[l], c[l]};
    } else if (a[l] != series.a * series.count || b[l] != series.b * series.count ||
               c[l] != series.c * series.count) {
      break;
    }
    series.count *= dims[l];
    batch->pop_back();
  }
  return series;
}

// Sums over labels that neither the other operand nor the result has.
template <class C>
void sum_alone(Dims dims, const Strides& other, const Strides& out, View<C>* view,
               KernelContext& context) {
  Labels kept;
  bool any = false;
  for (std::size_t l = 0; l < dims.size(); ++l) {
    if (view->strides[l] == 0) continue;
    if (other[l] != 0 || out[l] != 0) {
      kept.push_back(l);
    } else {
      any = any || dims[l] != 1;
    }
  }
  if (!any) return;
  sort_by(view->strides, &kept);
  const Strides strides = packed_strides(dims, {&kept});
  const int64_t size = product(dims, kept);
  C* sums = context.workspace_of<C>(std::max<int64_t>(size, 1));
  if (const Labels labels = labels_of_dense(dims, view->strides); !labels.empty()) {
    sum_dense(dims, labels, kept, kWide<C>, view->data, sums);
  } else {
    std::fill_n(sums, size, C{0});
    add_strided(walk_of(dims, view->strides, strides), view->data, sums);
  }
  *view = {sums, strides};
}

// The operand with rows and columns in matrix form, copied if need be.
template <class C>
MatrixForm to_matrix(Dims dims, const Labels& batch, const Labels& rows, const Labels& columns,
                     View<C>* view, KernelContext& context) {
  if (const auto form = matrix_form(dims, rows, columns, view->strides)) return *form;
  const Strides strides = packed_strides(dims, {&batch, &rows, &columns});
  C* copy =
      context.workspace_of<C>(product(dims, batch) * product(dims, rows) * product(dims, columns));
  copy_labels(dims, view->strides, strides, view->data, copy, sizeof(C));
  *view = {copy, strides};
  return {false, std::max<int64_t>(product(dims, columns), 1)};
}

// c = alpha * a b + beta * c, where nothing is summed and both have all labels of `c`: element by
// element, since matrices of one would each take a call.
template <class C>
void multiply_elements(Dims dims, const Labels& labels, const View<C>& a, const View<C>& b, C* c,
                       const Strides& to, C alpha, C beta) {
  const std::size_t inner = labels.back();
  const Labels outer(labels.begin(), labels.end() - 1);
  const int64_t n = dims[inner];
  const int64_t step_a = a.strides[inner], step_b = b.strides[inner], step_c = to[inner];
  const InlineVector<int64_t, 8> at_a = offsets(dims, outer, a.strides),
                                 at_b = offsets(dims, outer, b.strides),
                                 at_c = offsets(dims, outer, to);
  for (std::size_t row = 0; row < at_c.size(); ++row) {
    const C *x = a.data + at_a[row], *y = b.data + at_b[row];
    C* z = c + at_c[row];
    for (int64_t i = 0; i < n; ++i) {
      const C value = alpha * (x[i * step_a] * y[i * step_b]);
      C& result = z[i * step_c];
      result = beta == C{0} ? value : value + beta * result;
    }
  }
}

// Labels of dense arrays as planes, rows that are summed, and columns; others are no such sum.
std::optional<Columns> as_columns(Dims dims, const Labels& labels, const Strides& to) {
  Columns columns;
  std::size_t i = labels.size();
  for (; i > 0 && to[labels[i - 1]] != 0; --i) columns.width *= dims[labels[i - 1]];
  for (; i > 0 && to[labels[i - 1]] == 0; --i) columns.rows *= dims[labels[i - 1]];
  for (; i > 0 && to[labels[i - 1]] != 0; --i) columns.planes *= dims[labels[i - 1]];
  if (i > 0) return std::nullopt;
  return columns;
}

template <class C>
void multiply_pair(Dims dims, View<C> a, View<C> b, C* c, const Strides& to, C alpha, C beta,
                   bool narrow, KernelContext& context);

// sums = sum(a b) of numbers that lie alike in a and b, innermost a label that is kept: products in
// order, which are summed as they are made, or where they have been.
template <class C>
void multiply_columns(Dims dims, const Labels& labels, const Labels& kept, const C* a, const C* b,
                      C* sums, const Strides& to, KernelContext& context) {
  const std::optional<Columns> columns = as_columns(dims, labels, to);
  if (columns && multiply(ColumnDots<C>{*columns, a, b, sums})) return;
  const Shape shape{product(dims, labels)};
  constexpr DType kType = kWide<C>;
  C* const products = context.workspace_of<C>(shape[0]);
  run_binary(BinaryRow::multiply, {const_cast<C*>(a), &shape, kType},
             {const_cast<C*>(b), &shape, kType}, {products, &shape, kType}, context);
  sum_dense(dims, labels, kept, kType, products, sums);
}

// c = sum(a b) of numbers that lie alike in a and b, in the order in which they lie: columns, or
// rows whose sums are columns. As matrices, of one row and one column each, both would be turned
// first. Whether it was made: of rows alone it is not, for they are matrices.
template <class C>
bool multiply_then_sum(Dims dims, const View<C>& a, const View<C>& b, C* c, const Strides& to,
                       KernelContext& context) {
  const Labels labels = labels_alike(dims, a.strides, b.strides);
  Labels kept, outer(labels);
  for (std::size_t l : labels)
    if (to[l] != 0) kept.push_back(l);
  while (!outer.empty() && to[outer.back()] == 0) outer.pop_back();
  if (outer.size() == kept.size()) return false;
  // Short integers are summed along rows as matrices in less time.
  if (std::is_same_v<C, uint32_t> && outer.size() < labels.size()) return false;
  const Strides packed = packed_strides(dims, {&kept});
  const bool in_order =
      std::all_of(kept.begin(), kept.end(), [&](std::size_t l) { return packed[l] == to[l]; });
  C* const sums = in_order ? c : context.workspace_of<C>(product(dims, kept));
  if (outer.size() == labels.size()) {
    multiply_columns(dims, labels, kept, a.data, b.data, sums, to, context);
  } else {
    C* const rows = context.workspace_of<C>(product(dims, outer));
    multiply_pair(dims, a, b, rows, packed_strides(dims, {&outer}), C{1}, C{0}, false, context);
    sum_dense(dims, outer, kept, kWide<C>, rows, sums);
  }
  if (!in_order) copy_labels(dims, packed, to, sums, c, sizeof(C));
  return true;
}

// The outermost label of rows joins the batch where `a` and the result form matrices without it
// only: to copy these would take longer than calls for parts of some size. (Images whose channels
// come before rows and columns.) For columns: with b in place of a and their labels in place of the
// rows'.
void leave_to_batch(Dims dims, const Strides& a, const Strides& to, const Labels& columns,
                    const Labels& summed, Labels* rows, Labels* batch) {
  constexpr int64_t kWorthACall = 4096;  // elements of a part
  const auto forms = [&](const Labels& some) { return matrix_form(dims, some, summed, a); };
  const auto result_forms = [&](const Labels& some) {
    return matrix_form(dims, some, columns, to);
  };
  if (rows->size() < 2) return;
  const Labels inner(rows->begin() + 1, rows->end());
  const int64_t part = product(dims, inner);
  const int64_t copied = (forms(*rows) ? 0 : part * product(dims, summed)) +
                         (result_forms(*rows) ? 0 : part * product(dims, columns));
  if (copied < kWorthACall || !forms(inner) || !result_forms(inner)) return;
  batch->push_back(rows->front());
  sort_by(to, batch);
  *rows = inner;
}

// c = a b by the processor's products of bfloat16, of floats that are rounded to it already: one
// product, that is worth to be packed. Whether it was made.
bool multiply_narrow(const Products<float>& p, KernelContext& context) {
  constexpr int64_t kLeast = 16;  // of either side
  if (std::min(p.m, p.n) < kLeast || p.k < 2 || p.count() != 1 || p.alpha != 1 || p.beta != 0 ||
      (!p.transpose_a && p.k % 2 != 0) || !packed_bfloat16::available())
    return false;
  const float* right = p.b;
  int64_t row = p.ldb;
  if (p.transpose_b) {
    auto* const turned = context.workspace_of<float>(p.k * p.n);
    constexpr int64_t kBytes = sizeof(float);
    tile_kernel(kBytes)(reinterpret_cast<const char*>(p.b), reinterpret_cast<char*>(turned),
                        {p.k, kBytes, p.n * kBytes}, {p.n, p.ldb * kBytes, kBytes}, kBytes, false);
    right = turned;
    row = p.n;
  }
  packed_bfloat16::product(p.m, p.n, p.k,
                           {p.a, p.transpose_a ? 1 : p.lda, p.transpose_a ? p.lda : 1},
                           {right, row, 1}, p.c, p.ldc, false, context);
  return true;
}

// c (strides `to`, everything it reaches) = alpha * sum(a b) + beta * c. `to` forms matrices with
// columns in steps of one: the caller has asked for that. `narrow`: the numbers are of bfloat16.
template <class C>
void multiply_pair(Dims dims, View<C> a, View<C> b, C* c, const Strides& to, C alpha, C beta,
                   bool narrow, KernelContext& context) {
  for (std::size_t l = 0; l < dims.size(); ++l) {
    if (a.strides[l] == 0 && b.strides[l] == 0 && to[l] == 0) alpha *= static_cast<C>(dims[l]);
  }
  const C *const given_a = a.data, *const given_b = b.data;
  sum_alone(dims, b.strides, to, &a, context);
  sum_alone(dims, a.strides, to, &b, context);
  narrow = narrow && a.data == given_a && b.data == given_b;
  auto [batch, rows, columns, summed] = roles_of(dims, a.strides, b.strides, to);
  if (rows.empty() && columns.empty() && summed.empty() && !batch.empty())
    return multiply_elements(dims, batch, a, b, c, to, alpha, beta);
  if (rows.empty() && columns.empty() && !batch.empty() && alpha == C{1} && beta == C{0} &&
      multiply_then_sum(dims, a, b, c, to, context))
    return;
  leave_to_batch(dims, a.strides, to, columns, summed, &rows, &batch);
  leave_to_batch(dims, b.strides, to, rows, summed, &columns, &batch);
  auto form = matrix_form(dims, rows, columns, to);
  if (form && form->transposed) {  // the transposed product has its columns in steps of one
    std::swap(rows, columns);
    std::swap(a, b);
    form->transposed = false;
  }
  C* result = c;
  Strides strides = to;
  if (!form) {
    strides = packed_strides(dims, {&batch, &rows, &columns});
    const int64_t size = product(dims, batch) * product(dims, rows) * product(dims, columns);
    result = context.workspace_of<C>(std::max<int64_t>(size, 1));
    form = MatrixForm{false, std::max<int64_t>(product(dims, columns), 1)};
  }
  const MatrixForm form_a = to_matrix(dims, batch, rows, summed, &a, context);
  const MatrixForm form_b = to_matrix(dims, batch, summed, columns, &b, context);
  Labels outer = batch;
  const Series series = take_series(dims, &outer, a.strides, b.strides, strides);
  const InlineVector<int64_t, 8> at_a = offsets(dims, outer, a.strides),
                                 at_b = offsets(dims, outer, b.strides),
                                 at_c = offsets(dims, outer, strides);
  const Products<C> products{form_a.transposed,
                             form_b.transposed,
                             product(dims, rows),
                             product(dims, columns),
                             product(dims, summed),
                             a.data,
                             form_a.leading,
                             b.data,
                             form_b.leading,
                             result,
                             form->leading,
                             alpha,
                             result == c ? beta : C{0},
                             at_a,
                             at_b,
                             at_c,
                             series.count,
                             series.a,
                             series.b,
                             series.c};
  bool made = false;
  if constexpr (std::is_same_v<C, float>) made = narrow && multiply_narrow(products, context);
  if (!made) multiply(products);
  if (result == c) return;
  if (beta == C{0}) {
    copy_labels(dims, strides, to, result, c, sizeof(C));
    return;
  }
  if (beta != C{1}) {
    Labels reached(batch);
    reached.append(rows.begin(), rows.end());
    reached.append(columns.begin(), columns.end());
    for (int64_t at : offsets(dims, reached, to)) c[at] *= beta;
  }
  add_strided(walk_of(dims, strides, to), result, c);
}

// All operands into `out`, pairs from the left; each intermediate keeps the labels still needed.
template <class C>
void multiply_views(Dims dims, std::vector<View<C>> views, C* out, const Strides& to, C alpha,
                    C beta, bool narrow, KernelContext& context) {
  static constexpr C kOne{1};
  if (views.size() == 1) {
    const Strides none(dims.size(), 0);
    for (std::size_t l = 0; l < dims.size(); ++l) {
      if (views[0].strides[l] == 0 && to[l] == 0) alpha *= static_cast<C>(dims[l]);
    }
    sum_alone(dims, none, to, &views[0], context);
    if (alpha == C{1} && beta == C{0})
      return copy_labels(dims, views[0].strides, to, views[0].data, out, sizeof(C));
    // What was counted into alpha is gone.
    InlineVector<int64_t, 8> left(dims.data(), dims.data() + dims.size());
    for (std::size_t l = 0; l < dims.size(); ++l) {
      if (views[0].strides[l] == 0 && to[l] == 0) left[l] = 1;
    }
    return multiply_pair<C>(left, views[0], View<C>{&kOne, none}, out, to, alpha, beta, false,
                            context);
  }
  InlineVector<int64_t, 8> left(dims.data(),
                                dims.data() + dims.size());  // 1 for labels that are summed already
  while (views.size() > 2) {
    Labels kept;
    for (std::size_t l = 0; l < dims.size(); ++l) {
      bool needed = to[l] != 0;
      for (std::size_t v = 2; v < views.size(); ++v) needed |= views[v].strides[l] != 0;
      if (needed && (views[0].strides[l] != 0 || views[1].strides[l] != 0)) kept.push_back(l);
    }
    // Labels that later operands do not know and this pair does not have are theirs to count.
    InlineVector<int64_t, 8> pair_dims(left);
    for (std::size_t l = 0; l < dims.size(); ++l) {
      if (views[0].strides[l] == 0 && views[1].strides[l] == 0) pair_dims[l] = 1;
    }
    const Strides strides = packed_strides(dims, {&kept});
    C* product_of_pair = context.workspace_of<C>(std::max<int64_t>(product(dims, kept), 1));
    multiply_pair<C>(pair_dims, views[0], views[1], product_of_pair, strides, C{1}, C{0}, false,
                     context);
    for (std::size_t l = 0; l < dims.size(); ++l) {
      const bool was_there = views[0].strides[l] != 0 || views[1].strides[l] != 0;
      if (was_there && strides[l] == 0) left[l] = 1;
    }
    views.erase(views.begin());
    views[0] = {product_of_pair, strides};
  }
  multiply_pair<C>(left, views[0], views[1], out, to, alpha, beta, narrow, context);
}

template <class T>
void contract_typed(Dims dims, std::span<const Labelled> in, const Labelled& out, double alpha,
                    double beta, KernelContext& context) {
  using C = Computed<T>;
  const int64_t size = out.tensor.size();
  std::vector<View<C>> views;
  views.reserve(in.size());
  for (const Labelled& operand : in) {
    if constexpr (kAsItIs<T>) {
      views.push_back({reinterpret_cast<const C*>(operand.tensor.as<T>()), operand.strides});
    } else {
      const Tensor wide = as_type(operand.tensor, kWide<C>, context);
      views.push_back({wide.as<C>(), operand.strides});
    }
  }
  C* result = nullptr;
  if constexpr (kAsItIs<T>) {
    result = reinterpret_cast<C*>(out.tensor.as<T>());
  } else if (beta != 0.0) {
    result = as_type(out.tensor, kWide<C>, context).template as<C>();
  } else {
    result = context.workspace_of<C>(std::max<int64_t>(size, 1));
  }
  const bool empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  if (empty || reached(dims, out.strides) < size) {
    for (int64_t i = 0; i < size; ++i) result[i] = beta == 0.0 ? C{0} : number<C>(beta) * result[i];
    if (beta != 0.0) beta = 1.0;
  }
  if (!empty) {
    multiply_views<C>(dims, std::move(views), result, out.strides, number<C>(alpha),
                      number<C>(beta), std::is_same_v<T, bfloat16> && in.size() == 2, context);
  }
  if constexpr (!kAsItIs<T>)
    convert_tensor({result, out.tensor.shape_ptr, kWide<C>}, out.tensor, context);
}

}  // namespace

void contract(Dims dims, std::span<const Labelled> in, const Labelled& out, KernelContext& context,
              double alpha, double beta) {
  if (out.tensor.size() == 0) return;
  if (const GpuTable* gpu = gpu_table(context))
    return contract_on_gpu(*gpu, dims, in, out, context, alpha, beta);
  const bool empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  if (!empty && alpha == 1.0 && beta == 0.0 && contract_elements(dims, in, out, context)) return;
  dispatch_dtype(out.tensor.dtype, "contraction", [&]<class T>(TypeTag<T>) {
    contract_typed<T>(dims, in, out, alpha, beta, context);
  });
}

Strides row_major(const Shape& shape) {
  Strides strides(static_cast<std::size_t>(shape.ndim()));
  int64_t step = 1;
  for (int i = shape.ndim(); i-- > 0;) {
    strides[static_cast<std::size_t>(i)] = step;
    step *= shape[i];
  }
  return strides;
}

}  // namespace mxnet
