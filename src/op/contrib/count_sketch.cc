// SPDX-License-Identifier: Apache-2.0
// Count sketch: each column is added, with its sign, to the column of the result that it hashes to.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

struct SketchParams {
  int32_t out_dim;
  int32_t processing_batch_size;  // of another implementation; nothing is split by it here
};

void infer_tables(const SketchParams& params, Infer& infer, InferArg data) {
  infer.in(0).same_dtype(infer.in(1));
  infer.in(0).same_dtype(infer.in(2));
  if (params.out_dim <= 0)
    infer.fail(fmt::format("given out_dim {}, expected a positive number", params.out_dim));
  if (!data.known()) return;
  if (data.ndim() < 1) data.fail("one dimension or more");
  const int64_t columns = data.shape().back();
  for (int i = 1; i < 3; ++i) {
    InferArg table = infer.in(i);
    if (table.known() && table.shape().size() == columns) continue;
    table.set_shape(Shape{1, columns});
  }
}

Shape with_columns(const Shape& shape, int64_t columns) {
  Shape result = shape;
  result[shape.ndim() - 1] = columns;
  return result;
}

template <class T>
std::vector<int64_t> targets(const T* h, int64_t columns, int64_t out_dim) {
  std::vector<int64_t> result;
  for (int64_t j = 0; j < columns; ++j) {
    if (!(h[j] >= 0 && h[j] < static_cast<T>(out_dim))) {
      throw Error(ErrorCode::kValue, "_contrib_count_sketch",
                  fmt::format("h: given {} at {}, expected 0 to {}", static_cast<double>(h[j]), j,
                              out_dim - 1));
    }
    result.push_back(static_cast<int64_t>(h[j]));
  }
  return result;
}

// fn(places, columns, signs, a row of the input, a row of the output) for each row.
template <class F>
void for_each_row(int64_t out_dim, KernelContext& context, const F& fn) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *from = arrays.in(0), *signs = arrays.in(2);
    T* to = arrays.out(0);
    const Shape &in = context.in(0).shape(), &out = context.out(0).shape();
    const int64_t columns = context.in(1).size();
    const auto places = targets(arrays.in(1), columns, out_dim);
    parallel_for(
        in.size(0, in.ndim() - 1), static_cast<double>(in.back() + out.back()),
        [&](int64_t first, int64_t last) {
          for (int64_t r = first; r < last; ++r)
            fn(places.data(), columns, signs, from + r * in.back(), to + r * out.back());
        },
        1);
  });
}

void sketch_cpu(const SketchParams& params, KernelContext& context) {
  for_each_row(
      params.out_dim, context,
      [&]<class T>(const int64_t* places, int64_t columns, const T* signs, const T* x, T* y) {
        std::fill_n(y, params.out_dim, T{0});
        for (int64_t j = 0; j < columns; ++j) y[places[j]] += signs[j] * x[j];
      });
}

void sketch_backward_cpu(const SketchParams& params, KernelContext& context) {
  for_each_row(
      params.out_dim, context,
      [&]<class T>(const int64_t* places, int64_t columns, const T* signs, const T* dy, T* dx) {
        for (int64_t j = 0; j < columns; ++j) dx[j] = signs[j] * dy[places[j]];
      });
}

void infer_sketch(const SketchParams& params, Infer& infer) {
  infer_tables(params, infer, infer.in(0));
  infer.out(0).same_dtype(infer.in(0));
  if (infer.in(0).known())
    infer.out(0).set_shape(with_columns(infer.in(0).shape(), params.out_dim));
}

void infer_sketch_backward(const SketchParams& params, Infer& infer) {
  InferArg sketch = infer.in(0);
  infer.out(0).same_dtype(sketch);
  if (sketch.rank_known() && sketch.ndim() < 1) sketch.fail("one dimension or more");
  if (sketch.rank_known()) sketch.set_dim(sketch.ndim() - 1, params.out_dim);
  if (sketch.known() && infer.in(1).known())
    infer.out(0).set_shape(with_columns(infer.in(0).shape(), infer.in(1).shape().size()));
  infer_tables(params, infer, infer.out(0));
}

constexpr const char* kSketch = "_contrib_count_sketch";
constexpr const char* kBackward = "_backward_contrib_count_sketch";

// Each of the two linear operators is the gradient of the other; tables have none.
template <const char* const& other>
Gradients gradient(const SketchParams&, Grad& grad) {
  return {apply(other, {grad.dout(0), grad.in(1), grad.in(2)}, grad.attrs()), {}, {}};
}

OpBuilder<SketchParams> define(const char* name, const char* doc, const char* rows,
                               const char* rows_doc) {
  OpBuilder<SketchParams> op(name);
  op.doc(doc)
      .input(rows, rows_doc)
      .input("h", "Column of the sketch for each column of data.")
      .input("s", "Sign of each column, 1 or -1.")
      .param("out_dim", &SketchParams::out_dim, "Columns of the sketch.")
      .param("processing_batch_size", &SketchParams::processing_batch_size, 32,
             "Accepted for existing programs; rows are shared among threads.")
      .dtypes(kFloating);
  return op;
}

[[maybe_unused]] const bool defined = [] {
  define(kSketch, "Count sketch of the rows of data.", "data", "Rows.")
      .infer(infer_sketch)
      .cpu(sketch_cpu)
      .grad(gradient<kBackward>);
  define(kBackward, "Gradient of _contrib_count_sketch.", "dout", "Gradient of the sketch.")
      .infer(infer_sketch_backward)
      .cpu(sketch_backward_cpu)
      .grad(gradient<kSketch>);
  return true;
}();

}  // namespace
}  // namespace mxnet
