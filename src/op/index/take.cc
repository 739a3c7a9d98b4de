// SPDX-License-Identifier: Apache-2.0
// Whole slices along an axis by their position: take, and Embedding, which is take from the rows of
// a table.
#include "op/moving/rows.h"
#include "op/op_builder.h"
#include "op/params/dense_and_sparse.h"
#include "op/params/embedding.h"
#include "op/run/adding.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

// The array that is taken from, seen as (outer, extent, width).
struct TakeView {
  TakeView(const Shape& shape, int axis)
      : outer(shape.size(0, axis)),
        extent(shape[axis]),
        width(shape.size(axis + 1, shape.ndim())) {}
  int64_t outer, extent, width;
};

void take_from(const Tensor& a, const Tensor& indices, int axis, OutOfRange mode, const Tensor& out,
               KernelContext& context) {
  if (out.size() == 0) return;
  const TakeView view(a.shape(), axis);
  gather_rows(a.data, view.outer, view.extent,
              view.width * static_cast<int64_t>(dtype_size(a.dtype)),
              Positions(indices, view.extent, mode, "take"), out.data, context);
}

void give_back(const Tensor& dy, const Tensor& indices, int axis, OutOfRange mode,
               const Tensor& out, KernelContext& context, bool add) {
  if (out.size() == 0) return;
  const TakeView view(out.shape(), axis);
  sum_rows(dy, view.outer, view.extent, view.width, Positions(indices, view.extent, mode, "take"),
           out, context, add);
}

int take_axis(const TakeParams& params, int ndim) {
  return normalize_axis(params.axis, ndim, "take");
}

void take_cpu(const TakeParams& params, KernelContext& context) {
  const Tensor& a = context.in(0);
  take_from(a, context.in(1), take_axis(params, a.ndim()), params.mode, context.out(0), context);
}

// Inputs: gradient, indices, the array for its shape.
template <bool add>
void backward_take_cpu(const TakeParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  give_back(context.in(0), context.in(1), take_axis(params, out.ndim()), params.mode, out, context,
            add);
}
template <bool add>
void backward_embedding_cpu(const EmbeddingParams&, KernelContext& context) {
  give_back(context.in(0), context.in(1), 0, OutOfRange::kClip, context.out(0), context, add);
}

void infer_take(const TakeParams& params, Infer& infer) {
  infer.in(0).same_dtype(infer.out(0));
  const InferArg a = infer.in(0), indices = infer.in(1);
  if (!a.rank_known() || !indices.rank_known()) return;
  if (a.ndim() == 0) a.fail("at least one dimension");
  const int axis = infer.axis(params.axis, a);
  Shape out = Shape::scalar();
  for (int i = 0; i < axis; ++i) out.push_back(a.dim(i));
  for (int i = 0; i < indices.ndim(); ++i) out.push_back(indices.dim(i));
  for (int i = axis + 1; i < a.ndim(); ++i) out.push_back(a.dim(i));
  infer.out(0).set_shape(out);
}

// Inputs: gradient of the result, positions, the array.
void infer_backward_take(const TakeParams& params, Infer& infer) {
  infer.follow(infer_take, params, {infer.in(2), infer.in(1)}, {infer.in(0)});
  infer.out(0).same_as(infer.in(2));
  infer.in(0).same_dtype(infer.out(0));
}

void infer_backward_embedding(const EmbeddingParams& params, Infer& infer) {
  infer.follow(infer_embedding<EmbeddingParams>, params, {infer.in(1), infer.in(2)}, {infer.in(0)});
  infer.out(0).same_as(infer.in(2));
  infer.in(0).same_dtype(infer.out(0));
}

const auto& kModes = *new Choices<OutOfRange>{
    {"clip", OutOfRange::kClip}, {"raise", OutOfRange::kRaise}, {"wrap", OutOfRange::kWrap}};

MX_OP(take, TakeParams)
.alias("_npi_take")
    .doc("Slices of `a` along an axis, at the positions in `indices`.")
    .input("a", "The array to take from.")
    .input("indices", "Positions, of any type.")
    .param("axis", &TakeParams::axis, 0, "The axis; negative ones count from the last.")
    .choice("mode", &TakeParams::mode, kModes, "clip",
            "What to do with positions out of range: take the nearest one, count around, or fail.")
    .infer(infer_take)
    .cpu(take_cpu)
    .grad([](const TakeParams&, Grad& grad) {
      if (!grad.wants(0)) return Gradients(2);
      return Gradients{
          apply("_backward_take", {grad.dout(0), grad.in(1), grad.in(0)}, grad.attrs()), Value()};
    });

MX_OP(_backward_take, TakeParams)
.doc("Adds slices up at the positions that take has taken them from.")
    .input("head_grad", "Gradient of the output.")
    .input("indices", "Positions.")
    .input("a", "Its shape is that of the result.")
    .type_only(2)
    .param("axis", &TakeParams::axis, 0, "As of take.")
    .choice("mode", &TakeParams::mode, kModes, "clip", "As of take.")
    .infer(infer_backward_take)
    .cpu(backward_take_cpu<false>)
    .grad([](const TakeParams&, Grad& grad) {
      Gradients result(3);
      if (grad.wants(0)) result[0] = apply("take", {grad.dout(0), grad.in(1)}, grad.attrs());
      return result;
    });

OpBuilder<EmbeddingParams>& add_embedding_params(OpBuilder<EmbeddingParams>& op) {
  constexpr DTypeSet kTypes = kNumeric;
  return op.param("input_dim", &EmbeddingParams::input_dim, "Rows of the table.")
      .at_least<int32_t>(1)
      .param("output_dim", &EmbeddingParams::output_dim, "Length of a row.")
      .at_least<int32_t>(1)
      .dtype_param("dtype", &EmbeddingParams::dtype, kTypes, false, "float32",
                   "Type of the table where nothing else says it.")
      .param("sparse_grad", &EmbeddingParams::sparse_grad, false,
             "Whether the gradient of the table holds only the rows that were used.");
}

bool define_embedding() {
  OpBuilder<EmbeddingParams> op("Embedding");
  op.alias("_npx_embedding").alias("_sparse_Embedding");
  op.doc("Rows of a table, by their position; positions out of range are clipped.")
      .input("data", "Positions, of any type.")
      .input("weight", "The table.");
  add_embedding_params(op)
      .infer(infer_embedding<EmbeddingParams>)
      .cpu([](const EmbeddingParams&, KernelContext& context) {
        take_from(context.in(1), context.in(0), 0, OutOfRange::kClip, context.out(0), context);
      })
      .grad([](const EmbeddingParams&, Grad& grad) {
        if (!grad.wants(1)) return Gradients(2);
        return Gradients{Value(), apply("_backward_Embedding",
                                        {grad.dout(0), grad.in(0), grad.in(1)}, grad.attrs())};
      });
  OpBuilder<EmbeddingParams> backward("_backward_Embedding");
  backward.doc("Adds rows up at the positions that Embedding has taken them from.")
      .input("head_grad", "Gradient of the output.")
      .input("data", "Positions.")
      .input("weight", "Its shape is that of the result.")
      .type_only(2)
      .makes_sparse([](const EmbeddingParams& params) { return params.sparse_grad; });
  add_embedding_params(backward)
      .infer(infer_backward_embedding)
      .cpu(backward_embedding_cpu<false>)
      .grad([](const EmbeddingParams&, Grad& grad) {
        Gradients result(3);
        if (grad.wants(0)) result[0] = apply("Embedding", {grad.in(1), grad.dout(0)}, grad.attrs());
        return result;
      });
  return true;
}
[[maybe_unused]] const bool defined_embedding = define_embedding();

[[maybe_unused]] const bool portable = [] {
  add_adding("_backward_take", backward_take_cpu<true>);
  add_adding("_backward_Embedding", backward_embedding_cpu<true>);
  return mark_portable({"take", "_backward_take", "Embedding", "_backward_Embedding"});
}();

}  // namespace
}  // namespace mxnet
