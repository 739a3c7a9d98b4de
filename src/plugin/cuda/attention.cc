// SPDX-License-Identifier: Apache-2.0
// Attention as one operator, of plans for inference (op/rnn/heads.h): at once by cuDNN, or two
// products and a softmax with the weights between them in scratch memory.
#include "plugin/cuda/attention.h"

#include "op/norm/softmax_kernel.h"
#include "op/rnn/heads.h"
#include "plugin/cuda/dnn/attender.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/primitives.h"

namespace mxnet::cuda {
namespace {

// The vectors `part` of all heads, where they lie.
struct Vectors {
  std::byte* first;
  int64_t row, step;  // from step to step, from head to head, in elements

  Vectors(const Tensor& array, const Interleaved& of, int part)
      : first(array.as<std::byte>() +
              part * of.size * static_cast<int64_t>(dtype_size(array.dtype))),
        row(of.count * of.parts * of.size),
        step(of.parts * of.size) {}
};

// All that one call is about.
struct Call {
  const HeadsParams& params;
  const Tensor &in, &memory, &out;
  Interleaved of_queries, of_keys;
  Vectors queries, keys, values, result;

  Call(const HeadsParams& of, KernelContext& context)
      : params(of),
        in(context.in(0)),
        memory(context.in(of.self ? 0 : 1)),
        out(context.out(0)),
        of_queries(in.shape(), of.heads, of.roles().query_parts()),
        of_keys(memory.shape(), of.heads, of.roles().memory_parts()),
        queries(in, of_queries, 0),
        keys(memory, of_keys, of.roles().key()),
        values(memory, of_keys, of.roles().value()),
        result(out, Interleaved(out.shape(), of.heads, 1), 0) {}

  int64_t size() const { return of_queries.size; }
  // Of the weights: a matrix for each head of all samples.
  Shape weights() const { return {of_queries.count, of_queries.time, of_keys.time}; }
};

// Weights are the products of queries and keys.
void multiply(NativeStream* stream, const Call& call, const Tensor& weights,
              KernelContext& context) {
  const int64_t m = call.of_queries.time, n = call.of_keys.time;
  gemm(stream,
       {.dtype = call.in.dtype,
        .transpose_a = false,
        .transpose_b = true,
        .m = m,
        .n = n,
        .k = call.size(),
        .a = call.queries.first,
        .lda = call.queries.row,
        .step_a = call.queries.step,
        .b = call.keys.first,
        .ldb = call.keys.row,
        .step_b = call.keys.step,
        .c = weights.data,
        .ldc = n,
        .step_c = m * n,
        .batch = call.of_queries.count,
        .alpha = qk_scale(call.size())},
       context);
}

// Weights add up to one along the keys.
void normalise(NativeStream* stream, const Call& call, const Tensor& weights,
               KernelContext& context) {
  SoftmaxCall softmax_call;
  softmax_call.rows = {
      .outer = weights.dim(0) * weights.dim(1), .length = weights.dim(2), .inner = 1};
  softmax_call.scale = call.params.scale;
  softmax(stream, softmax_call, weights, weights, context);
}

// The result is the sum of values by their weights.
void sum_up(NativeStream* stream, const Call& call, const Tensor& weights, KernelContext& context) {
  const int64_t m = call.of_queries.time, n = call.of_keys.time;
  gemm(stream,
       {.dtype = call.in.dtype,
        .transpose_a = false,
        .transpose_b = false,
        .m = m,
        .n = call.size(),
        .k = n,
        .a = weights.data,
        .lda = n,
        .step_a = m * n,
        .b = call.values.first,
        .ldb = call.values.row,
        .step_b = call.values.step,
        .c = call.result.first,
        .ldc = call.result.row,
        .step_c = call.result.step,
        .batch = call.of_queries.count},
       context);
}

Attention description(const Call& call) {
  return {.dtype = call.in.dtype,
          .batch = call.in.dim(1),
          .heads = call.params.heads,
          .size = call.size(),
          .queries = call.of_queries.time,
          .keys = call.of_keys.time,
          .query_parts = call.of_queries.parts,
          .memory_parts = call.of_keys.parts,
          .scale = static_cast<float>(qk_scale(call.size()) * call.params.scale)};
}

void run(const HeadsParams& params, KernelContext& context) {
  const Call call(params, context);
  NativeStream* const stream = context.stream()->native();
  const Shape shape = call.weights();
  Tensor weights{nullptr, &shape, call.in.dtype};
  const auto apart = [&] {
    if (weights.data == nullptr)  // once, however often it is called
      weights.data =
          context.workspace(static_cast<std::size_t>(weights.size()) * dtype_size(weights.dtype));
    multiply(stream, call, weights, context);
    normalise(stream, call, weights, context);
    sum_up(stream, call, weights, context);
  };
  attend(stream, description(call),
         {call.queries.first, call.keys.first, call.values.first, call.result.first}, apart,
         context);
}

}  // namespace

void add_attention(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<HeadsParams, run>(HeadsParams::kFused));
}

}  // namespace mxnet::cuda
