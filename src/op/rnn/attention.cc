// SPDX-License-Identifier: Apache-2.0
// Products of multi-head attention on arrays in which the heads' queries, keys and values are
// interleaved. Each pass is described as one or two products of every head where it lies.
#include <fmt/format.h>

#include "op/inline_vector.h"
#include "op/length.h"
#include "op/op_builder.h"
#include "op/op_cost.h"
#include "op/rnn/head_products.h"
#include "op/rnn/heads.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

// The vectors `part` of each head, one a row, of the array with this number.
HeadMatrix matrix(const Interleaved& of, int array, int part) {
  return {array, part * of.size, of.count * of.parts * of.size, of.parts * of.size};
}

// Matrices of rows x columns one after the other.
HeadMatrix dense(int array, int64_t rows, int64_t columns) {
  return {array, 0, columns, rows * columns};
}

template <bool self>
void qk(const HeadsParams& params, KernelContext& context) {
  constexpr HeadRoles kRoles{self};
  constexpr int kQuery = 0, kMemory = self ? 0 : 1;
  const Interleaved queries(context.in(kQuery).shape(), params.heads, kRoles.query_parts());
  const Interleaved keys(context.in(kMemory).shape(), params.heads, kRoles.memory_parts());
  const int64_t m = queries.time, n = keys.time;
  multiply_heads(context, queries.count,
                 {{.m = m,
                   .n = n,
                   .k = queries.size,
                   .alpha = qk_scale(queries.size),
                   .a = matrix(queries, kQuery, 0),
                   .b = matrix(keys, kMemory, kRoles.key()).transposed(),
                   .c = dense(0, m, n)}});
}

// Inputs: dout, then those of qk.
template <bool self>
void qk_backward(const HeadsParams& params, KernelContext& context) {
  constexpr HeadRoles kRoles{self};
  constexpr int kQuery = 0, kMemory = self ? 0 : 1;
  const Interleaved queries(context.in(1 + kQuery).shape(), params.heads, kRoles.query_parts());
  const Interleaved keys(context.in(1 + kMemory).shape(), params.heads, kRoles.memory_parts());
  const HeadMatrix slopes = dense(0, queries.time, keys.time);
  const double scale = qk_scale(queries.size);
  multiply_heads(context, queries.count,
                 {{.m = queries.time,
                   .n = queries.size,
                   .k = keys.time,
                   .alpha = scale,
                   .a = slopes,
                   .b = matrix(keys, 1 + kMemory, kRoles.key()),
                   .c = matrix(queries, kQuery, 0)},
                  {.m = keys.time,
                   .n = queries.size,
                   .k = queries.time,
                   .alpha = scale,
                   .a = slopes.transposed(),
                   .b = matrix(queries, 1 + kQuery, 0),
                   .c = matrix(keys, kMemory, kRoles.key())}},
                 /*cleared=*/kMemory);  // nothing flows to the values
}

template <bool self>
void valatt(const HeadsParams& params, KernelContext& context) {
  constexpr HeadRoles kRoles{self};
  const Interleaved values(context.in(0).shape(), params.heads, kRoles.memory_parts());
  const Interleaved result(context.out(0).shape(), params.heads, 1);
  multiply_heads(context, values.count,
                 {{.m = result.time,
                   .n = values.size,
                   .k = values.time,
                   .a = dense(1, result.time, values.time),
                   .b = matrix(values, 0, kRoles.value()),
                   .c = matrix(result, 0, 0)}});
}

// Inputs: dout, then those of valatt.
template <bool self>
void valatt_backward(const HeadsParams& params, KernelContext& context) {
  constexpr HeadRoles kRoles{self};
  const Interleaved result(context.in(0).shape(), params.heads, 1);
  const Interleaved values(context.in(1).shape(), params.heads, kRoles.memory_parts());
  multiply_heads(context, values.count,
                 {{.m = values.time,
                   .n = values.size,
                   .k = result.time,
                   .a = dense(2, result.time, values.time).transposed(),
                   .b = matrix(result, 0, 0),
                   .c = matrix(values, 0, kRoles.value())},
                  {.m = result.time,
                   .n = values.time,
                   .k = values.size,
                   .a = matrix(result, 0, 0),
                   .b = matrix(values, 1, kRoles.value()).transposed(),
                   .c = dense(1, result.time, values.time)}},
                 /*cleared=*/0);  // nothing flows to queries and keys
}

// The array is (time, batch, heads * parts * size).
void check_interleaved(const HeadsParams& params, InferArg arg, int parts) {
  arg.set_shape(Shape{-1, -1, -1});
  if (params.heads <= 0) arg.fail(fmt::format("a positive number of heads, not {}", params.heads));
  if (arg.dim(2) >= 0 && arg.dim(2) % (int64_t{params.heads} * parts) != 0)
    arg.fail(fmt::format("(time, batch, heads * {} * size) with {} heads", parts, params.heads));
}

template <bool self>
void infer_qk(const HeadsParams& params, Infer& infer) {
  constexpr HeadRoles kRoles{self};
  infer.one_dtype();
  const InferArg queries = infer.in(0);
  check_interleaved(params, queries, kRoles.query_parts());
  InferArg keys = infer.in(self ? 0 : 1);
  if (!self) {
    keys.set_shape(Shape{-1, queries.dim(1), length::times(queries.dim(2), 2)});
    check_interleaved(params, keys, kRoles.memory_parts());
  }
  infer.out(0).set_shape(
      Shape{length::times(queries.dim(1), params.heads), queries.dim(0), keys.dim(0)});
}

template <bool self>
void infer_valatt(const HeadsParams& params, Infer& infer) {
  constexpr HeadRoles kRoles{self};
  infer.one_dtype();
  check_interleaved(params, infer.in(0), kRoles.memory_parts());
  const Shape& values = infer.in(0).shape();
  const int64_t size = length::over(values[2], kRoles.memory_parts());
  infer.in(1).set_shape(
      Shape{length::times(values[1], params.heads), self ? values[0] : -1, values[0]});
  infer.out(0).set_shape(Shape{infer.in(1).dim(1), values[1], size});
}

// Gradients have the shapes of the inputs 1, 2, ..., which `rule` is about.
template <void (*rule)(const HeadsParams&, Infer&)>
void infer_gradients(const HeadsParams& params, Infer& infer) {
  infer.one_dtype();
  InlineVector<InferArg, 2> given;
  for (int i = 1; i < infer.num_in(); ++i) given.push_back(infer.in(i));
  const InferArg result[] = {infer.in(0)};
  infer.follow([&params](Infer& forward) { rule(params, forward); }, given.span(), result);
  for (int i = 0; i < infer.num_out(); ++i) infer.out(i).same_shape(infer.in(1 + i));
}

template <int inputs>
Gradients backward(Grad& grad, const char* op) {
  std::vector<Value> values{grad.dout(0)};
  for (int i = 0; i < inputs; ++i) values.push_back(grad.in(i));
  const Value first = apply(op, values, grad.attrs());
  Gradients result{first};
  if (inputs == 2) result.push_back(output(first, 1));
  return result;
}

constexpr const char* kHeadsDoc = "Number of heads.";
constexpr const char* kSelfDoc =
    "Queries, keys and values, (time, batch, heads * 3 * size), of each head side by side.";
constexpr const char* kMemoryDoc =
    "Keys and values, (time, batch, heads * 2 * size), of each head side by side.";

MX_OP(_contrib_interleaved_matmul_selfatt_qk, HeadsParams)
.doc("Products of queries and keys of self-attention, divided by the root of their length.")
    .input("queries_keys_values", kSelfDoc)
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .dtypes(kFloating)
    .infer(infer_qk<true>)
    .cpu(qk<true>)
    .grad([](const HeadsParams&, Grad& grad) {
      return backward<1>(grad, "_backward_interleaved_matmul_selfatt_qk");
    });

MX_OP(_backward_interleaved_matmul_selfatt_qk, HeadsParams)
.doc("Gradient of _contrib_interleaved_matmul_selfatt_qk.")
    .input("dout", "Gradient of the products.")
    .input("queries_keys_values", kSelfDoc)
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .dtypes(kFloating)
    .infer(infer_gradients<infer_qk<true>>)
    .cpu(qk_backward<true>);

MX_OP(_contrib_interleaved_matmul_encdec_qk, HeadsParams)
.doc("Products of queries and keys of attention, divided by the root of their length.")
    .input("queries", "Queries, (time, batch, heads * size).")
    .input("keys_values", kMemoryDoc)
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .dtypes(kFloating)
    .infer(infer_qk<false>)
    .cpu(qk<false>)
    .grad([](const HeadsParams&, Grad& grad) {
      return backward<2>(grad, "_backward_interleaved_matmul_encdec_qk");
    });

MX_OP(_backward_interleaved_matmul_encdec_qk, HeadsParams)
.doc("Gradient of _contrib_interleaved_matmul_encdec_qk.")
    .input("dout", "Gradient of the products.")
    .input("queries", "Queries, (time, batch, heads * size).")
    .input("keys_values", kMemoryDoc)
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .outputs([](const HeadsParams&) { return 2; })
    .dtypes(kFloating)
    .infer(infer_gradients<infer_qk<false>>)
    .cpu(qk_backward<false>);

MX_OP(_contrib_interleaved_matmul_selfatt_valatt, HeadsParams)
.doc("Values of self-attention, weighted by the attention that they are paid.")
    .input("queries_keys_values", kSelfDoc)
    .input("attention", "Weights, (batch * heads, time, time).")
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .dtypes(kFloating)
    .infer(infer_valatt<true>)
    .cpu(valatt<true>)
    .grad([](const HeadsParams&, Grad& grad) {
      return backward<2>(grad, "_backward_interleaved_matmul_selfatt_valatt");
    });

MX_OP(_backward_interleaved_matmul_selfatt_valatt, HeadsParams)
.doc("Gradient of _contrib_interleaved_matmul_selfatt_valatt.")
    .input("dout", "Gradient of the weighted values.")
    .input("queries_keys_values", kSelfDoc)
    .input("attention", "Weights, (batch * heads, time, time).")
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .outputs([](const HeadsParams&) { return 2; })
    .dtypes(kFloating)
    .infer(infer_gradients<infer_valatt<true>>)
    .cpu(valatt_backward<true>);

MX_OP(_contrib_interleaved_matmul_encdec_valatt, HeadsParams)
.doc("Values of attention, weighted by the attention that they are paid.")
    .input("keys_values", kMemoryDoc)
    .input("attention", "Weights, (batch * heads, time of queries, time of keys).")
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .dtypes(kFloating)
    .infer(infer_valatt<false>)
    .cpu(valatt<false>)
    .grad([](const HeadsParams&, Grad& grad) {
      return backward<2>(grad, "_backward_interleaved_matmul_encdec_valatt");
    });

MX_OP(_backward_interleaved_matmul_encdec_valatt, HeadsParams)
.doc("Gradient of _contrib_interleaved_matmul_encdec_valatt.")
    .input("dout", "Gradient of the weighted values.")
    .input("keys_values", kMemoryDoc)
    .input("attention", "Weights, (batch * heads, time of queries, time of keys).")
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .outputs([](const HeadsParams&) { return 2; })
    .dtypes(kFloating)
    .infer(infer_gradients<infer_valatt<false>>)
    .cpu(valatt_backward<false>);

MX_OP(_sg_attention, HeadsParams)
.doc("Values weighted by the softmax of products of queries and keys, in plans for inference.")
    .input("queries", "Queries, keys and values of each head side by side, or queries.")
    .input("keys_values", "Keys and values, where they are apart.")
    .num_inputs([](const HeadsParams& params) { return params.self ? 1 : 2; })
    .dtypes(kFloating)
    .infer([](const HeadsParams& params, Infer& infer) {
      infer.one_dtype();
      check_interleaved(params, infer.in(0), params.roles().query_parts());
      if (!infer.in(0).known()) return;
      Shape shape = infer.in(0).shape();
      shape[2] /= params.roles().query_parts();
      infer.out(0).set_shape(shape);
    });

[[maybe_unused]] const bool portable = mark_portable(
    {"_contrib_interleaved_matmul_selfatt_qk", "_backward_interleaved_matmul_selfatt_qk",
     "_contrib_interleaved_matmul_selfatt_valatt", "_backward_interleaved_matmul_selfatt_valatt",
     "_contrib_interleaved_matmul_encdec_qk", "_backward_interleaved_matmul_encdec_qk",
     "_contrib_interleaved_matmul_encdec_valatt", "_backward_interleaved_matmul_encdec_valatt"});
[[maybe_unused]] const bool products = mark_products(
    {"_contrib_interleaved_matmul_selfatt_qk", "_contrib_interleaved_matmul_selfatt_valatt",
     "_contrib_interleaved_matmul_encdec_qk", "_contrib_interleaved_matmul_encdec_valatt"});

}  // namespace
}  // namespace mxnet
