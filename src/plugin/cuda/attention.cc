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

void run(const HeadsParams& params, KernelContext& context) {
  const HeadRoles roles = params.roles();
  const Tensor &in = context.in(0), &memory = context.in(params.self ? 0 : 1);
  const Tensor& out = context.out(0);
  const Interleaved of_queries(in.shape(), params.heads, roles.query_parts());
  const Interleaved of_keys(memory.shape(), params.heads, roles.memory_parts());
  const Interleaved of_result(out.shape(), params.heads, 1);
  const Vectors queries(in, of_queries, 0), keys(memory, of_keys, roles.key());
  const Vectors values(memory, of_keys, roles.value()), result(out, of_result, 0);
  const int64_t m = of_queries.time, n = of_keys.time, size = of_queries.size;
  const int64_t heads = of_queries.count;  // of all samples
  NativeStream* const stream = context.stream()->native();
  const Shape shape{heads, m, n};
  Tensor weights{nullptr, &shape, in.dtype};
  const auto apart = [&] {
    if (weights.data == nullptr)  // once, however often it is called
      weights.data =
          context.workspace(static_cast<std::size_t>(heads * m * n) * dtype_size(in.dtype));
    gemm(stream,
         {.dtype = in.dtype,
          .transpose_a = false,
          .transpose_b = true,
          .m = m,
          .n = n,
          .k = size,
          .a = queries.first,
          .lda = queries.row,
          .step_a = queries.step,
          .b = keys.first,
          .ldb = keys.row,
          .step_b = keys.step,
          .c = weights.data,
          .ldc = n,
          .step_c = m * n,
          .batch = heads,
          .alpha = qk_scale(size)},
         context);
    SoftmaxCall call;
    call.rows = {.outer = heads * m, .length = n, .inner = 1};
    call.scale = params.scale;
    softmax(stream, call, weights, weights, context);
    gemm(stream,
         {.dtype = in.dtype,
          .transpose_a = false,
          .transpose_b = false,
          .m = m,
          .n = size,
          .k = n,
          .a = weights.data,
          .lda = n,
          .step_a = m * n,
          .b = values.first,
          .ldb = values.row,
          .step_b = values.step,
          .c = result.first,
          .ldc = result.row,
          .step_c = result.step,
          .batch = heads},
         context);
  };
  attend(stream,
         {.dtype = in.dtype,
          .batch = in.dim(1),
          .heads = params.heads,
          .size = size,
          .queries = m,
          .keys = n,
          .query_parts = of_queries.parts,
          .memory_parts = of_keys.parts,
          .scale = static_cast<float>(qk_scale(size) * params.scale)},
         {queries.first, keys.first, values.first, result.first}, apart, context);
}

}  // namespace

void add_attention(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<HeadsParams, run>(HeadsParams::kFused));
}

}  // namespace mxnet::cuda
