// SPDX-License-Identifier: Apache-2.0
// Elements by the columns of an array of indices: gather_nd, scatter_nd, their gradients, and
// assignment. Indices become positions of rows once; what follows are loops over rows.
#include <fmt/format.h>

#include "op/moving/rows.h"
#include "op/op_builder.h"
#include "op/run/adding.h"
#include "op/run/primitives.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

struct ScatterParams {
  Shape shape;
};

// Positions of rows of what `indices` index in `shape`. Negative indices count from the end, others
// out of range are errors.
Positions columns(const Tensor& indices, const Shape& shape, const char* tag) {
  return Positions::of_columns(indices, shape, OutOfRange::kFromBack, tag);
}

// Elements of a row of them.
int64_t row_width(const Tensor& indices, const Shape& shape) {
  return shape.size(static_cast<int>(indices.dim(0)), shape.ndim());
}

// All of them, found on the host before anything is written: an array whose elements are set is as
// it was after an error. On a GPU it waits for the indices. Borrows scratch memory of the kernel.
struct RowPositions {
  RowPositions(const Tensor& indices, const Shape& shape, const char* tag, KernelContext& context)
      : rows(shape.size(0, static_cast<int>(indices.dim(0)))),
        width(row_width(indices, shape)),
        count{indices.shape().size(1, indices.ndim())} {
    const HostNumbers numbers(context, count[0]);
    const HostCopy copy(context, indices);
    // By one thread: the loops that follow are its own as well, or begin with what it has found.
    columns(copy.tensor(), shape, tag).read(0, count[0], numbers.data());
    tensor = {const_cast<int64_t*>(numbers.on_device(context, count[0])), &count, DType::kInt64};
  }
  // They are in range already.
  Positions positions(const char* tag) const {
    return Positions(tensor, rows, OutOfRange::kClip, tag);
  }
  const int64_t rows, width;
  const Shape count;
  Tensor tensor;
};

void gather_nd_cpu(const NoParams&, KernelContext& context) {
  const Tensor &data = context.in(0), &indices = context.in(1);
  if (context.out(0).size() == 0) return;
  const Positions at = columns(indices, data.shape(), "gather_nd");
  const int64_t rows = data.shape().size(0, static_cast<int>(indices.dim(0)));
  gather_rows(data.data, 1, rows,
              row_width(indices, data.shape()) * static_cast<int64_t>(dtype_size(data.dtype)), at,
              context.out(0).data, context);
}

// Where several columns name one place the last wins.
void put_values(const Tensor& values, const Tensor& indices, const Tensor& out,
                KernelContext& context) {
  if (values.size() == 0) return;
  const RowPositions at(indices, out.shape(), "scatter_nd", context);
  put_rows(values.data, at.width * static_cast<int64_t>(dtype_size(out.dtype)),
           at.positions("scatter_nd"), out.data, context);
}

void scatter_nd_cpu(const ScatterParams&, KernelContext& context) {
  const Tensor& out = context.out(0);
  clear_memory(context, out.data, static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
  put_values(context.in(0), context.in(1), out, context);
}

void scatter_set_cpu(const ScatterParams&, KernelContext& context) {
  const Tensor& out = context.out(0);
  copy_memory(context, context.in(0).data, out.data,
              static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
  put_values(context.in(1), context.in(2), out, context);
}

// Adds up instead; with `add` to what is there.
void sum_at(const Tensor& values, const Tensor& indices, const Tensor& out, KernelContext& context,
            bool add) {
  if (out.size() == 0) return;
  const RowPositions at(indices, out.shape(), "gather_nd", context);
  sum_rows(values, 1, at.rows, at.width, at.positions("gather_nd"), out, context, add);
}

template <bool add>
void backward_gather_nd_cpu(const NoParams&, KernelContext& context) {
  sum_at(context.in(0), context.in(1), context.out(0), context, add);
}

// Shape of data that belongs to these indices: their columns, then the dimensions not indexed.
Shape picked_shape(const InferArg& indices, const Shape& whole) {
  Shape shape = Shape::scalar();
  for (int i = 1; i < indices.ndim(); ++i) shape.push_back(indices.dim(i));
  for (int i = static_cast<int>(indices.dim(0)); i < whole.ndim(); ++i) shape.push_back(whole[i]);
  return shape;
}

void check_indices(const InferArg& indices, const Shape& whole) {
  if (indices.ndim() < 1 || indices.dim(0) > whole.ndim() || indices.dim(0) < 1)
    indices.fail(fmt::format("between 1 and {} rows", whole.ndim()));
}

void infer_gather(const NoParams&, Infer& infer) {
  infer.in(0).same_dtype(infer.out(0));
  if (!infer.in(0).rank_known() || !infer.in(1).known()) return;
  check_indices(infer.in(1), infer.in(0).shape());
  infer.out(0).set_shape(picked_shape(infer.in(1), infer.in(0).shape()));
}

// Values and indices are the last inputs but one and the last.
void infer_scatter(const ScatterParams& params, Infer& infer) {
  const int values = infer.num_in() - 2, indices = infer.num_in() - 1;
  infer.in(values).same_dtype(infer.out(0));
  infer.out(0).set_shape(params.shape);
  if (values > 0) infer.in(0).same_as(infer.out(0));
  if (!infer.in(indices).known() || !params.shape.known()) return;
  check_indices(infer.in(indices), params.shape);
  infer.in(values).set_shape(picked_shape(infer.in(indices), params.shape));
}

MX_OP(gather_nd, NoParams)
.alias("_npi_gather_nd")
    .alias("_npx_gather_nd")
    .doc("Elements or slices of `data` at the indices in the columns of `indices`.")
    .input("data", "The array.")
    .input("indices", "A row per indexed dimension.")
    .lenient()
    .infer(infer_gather)
    .cpu(gather_nd_cpu)
    .grad([](const NoParams&, Grad& grad) {
      if (!grad.wants(0)) return Gradients(2);
      return Gradients{apply("_backward_gather_nd_like", {grad.dout(0), grad.in(1), grad.in(0)}),
                       Value()};
    });

MX_OP(_backward_gather_nd_like, NoParams)
.doc("Adds up at the indices that gather_nd has read, in the shape of its data.")
    .input("head_grad", "Gradient of the output.")
    .input("indices", "The indices.")
    .input("data", "Its shape is that of the result.")
    .type_only(2)
    .infer([](const NoParams&, Infer& infer) {
      infer.follow(infer_gather, NoParams(), {infer.in(2), infer.in(1)}, {infer.in(0)});
      infer.out(0).same_as(infer.in(2));
      infer.in(0).same_dtype(infer.out(0));
    })
    .cpu(backward_gather_nd_cpu<false>)
    .grad([](const NoParams&, Grad& grad) {
      Gradients result(3);
      if (grad.wants(0)) result[0] = apply("gather_nd", {grad.dout(0), grad.in(1)});
      return result;
    });

MX_OP(_backward_gather_nd, ScatterParams)
.doc("Adds up at the indices, in an array of the given shape.")
    .input("data", "Values.")
    .input("indices", "A row per indexed dimension.")
    .param("shape", &ScatterParams::shape, "Shape of the result.")
    .infer(infer_scatter)
    .cpu([](const ScatterParams&, KernelContext& context) {
      sum_at(context.in(0), context.in(1), context.out(0), context, false);
    })
    .grad([](const ScatterParams&, Grad& grad) {
      if (!grad.wants(0)) return Gradients(2);
      return Gradients{apply("gather_nd", {grad.dout(0), grad.in(1)}), Value()};
    });

MX_OP(scatter_nd, ScatterParams)
.doc("Zeros with values at the indices in the columns of `indices`.")
    .input("data", "Values.")
    .input("indices", "A row per indexed dimension.")
    .param("shape", &ScatterParams::shape, "Shape of the result.")
    .infer(infer_scatter)
    .cpu(scatter_nd_cpu)
    .grad([](const ScatterParams&, Grad& grad) {
      if (!grad.wants(0)) return Gradients(2);
      return Gradients{apply("gather_nd", {grad.dout(0), grad.in(1)}), Value()};
    });

MX_OP(_scatter_set_nd, ScatterParams)
.alias("_npi_scatter_set_nd")
    .doc("The first array with values at the indices in the columns of `indices`.")
    .input("lhs", "The array.")
    .input("rhs", "Values.")
    .input("indices", "A row per indexed dimension.")
    .param("shape", &ScatterParams::shape, "Shape of the result.")
    .inplace(0, 0)
    .infer(infer_scatter)
    .cpu(scatter_set_cpu);

[[maybe_unused]] const bool portable = [] {
  add_adding("_backward_gather_nd_like", backward_gather_nd_cpu<true>);
  return mark_portable_waiting({"gather_nd", "_backward_gather_nd_like", "_backward_gather_nd",
                                "scatter_nd", "_scatter_set_nd"});
}();

}  // namespace
}  // namespace mxnet
