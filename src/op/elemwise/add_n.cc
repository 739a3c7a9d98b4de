// SPDX-License-Identifier: Apache-2.0
// The sum of any number of arrays in one pass over memory: a block stays in cache while all inputs
// are added to it.
#include <algorithm>
#include <array>

#include "op/convert.h"
#include "op/dispatch.h"
#include "op/gpu_table.h"
#include "op/numbered_names.h"
#include "op/op_builder.h"
#include "op/parallel.h"
#include "op/pointwise.h"
#include "op/primitives.h"

namespace mxnet {
namespace {

struct AddParams {
  int32_t num_args;
};

// 8 KiB of float: the running sum and a piece of one input fit the first-level cache.
constexpr int64_t kBlock = 2048;

template <class T>
void add_block(std::span<const T* const> inputs, T* y, int64_t n) {
  using C = ComputeType<T>;
  std::array<C, kBlock> sum;
  for (int64_t i = 0; i < n; ++i) sum[static_cast<std::size_t>(i)] = convert<C>(inputs[0][i]);
  for (const T* x : inputs.subspan(1)) {
    for (int64_t i = 0; i < n; ++i) {
      C& s = sum[static_cast<std::size_t>(i)];
      s = static_cast<C>(s + convert<C>(x[i]));
    }
  }
  for (int64_t i = 0; i < n; ++i) y[i] = convert<T>(sum[static_cast<std::size_t>(i)]);
}

// Half types are summed in float, as by the blocks. The first input may be the result.
void add_n_gpu(const GpuTable& gpu, KernelContext& context) {
  NativeStream* const stream = context.stream()->native();
  const Tensor& out = context.out(0);
  const bool aside =
      context.num_in() > 2 && (out.dtype == DType::kFloat16 || out.dtype == DType::kBFloat16);
  Tensor sum = out, next = out;
  if (aside) {
    sum = {context.workspace_of<float>(out.size()), out.shape_ptr, DType::kFloat32};
    next = {context.workspace_of<float>(out.size()), out.shape_ptr, DType::kFloat32};
    gpu.convert(stream, context.in(0), sum);
  } else {
    copy_memory(context, context.in(0).data, out.data,
                static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
  }
  for (int i = 1; i < context.num_in(); ++i) {
    if (aside) gpu.convert(stream, context.in(i), next);
    gpu.accumulate(stream, sum, aside ? next : context.in(i));
  }
  if (aside) gpu.convert(stream, sum, out);
}

void add_n_cpu(const AddParams&, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context)) return add_n_gpu(*gpu, context);
  const Tensor& out = context.out(0);
  const auto count = static_cast<std::size_t>(context.num_in());
  dispatch_dtype<kNumeric>(out.dtype, "add_n", [&]<class T>(TypeTag<T>) {
    parallel_for(out.size(), static_cast<double>(count), [&](int64_t first, int64_t last) {
      std::vector<const T*> at(count);
      for (int64_t start = first; start < last; start += kBlock) {
        for (std::size_t k = 0; k < count; ++k)
          at[k] = context.in(static_cast<int>(k)).as<T>() + start;
        add_block<T>(at, out.as<T>() + start, std::min(kBlock, last - start));
      }
    });
  });
}

MX_OP(add_n, AddParams)
.doc("Sum of all inputs.")
    .alias("ElementWiseSum")
    .alias("_sparse_ElementWiseSum")
    .alias("_sparse_add_n")
    .inputs("args", "Arrays of one shape and type.", &AddParams::num_args, "num_args")
    .input_names([](const AddParams& p) { return numbered_names("arg", p.num_args); })
    .param("num_args", &AddParams::num_args, 1, "Number of arrays.")
    .unlisted()
    .dtypes(kNumeric)
    .inplace(0, 0)
    .infer([](const AddParams&, Infer& infer) {
      if (infer.num_in() == 0) infer.fail("given no arrays, expected one or more");
      // Twice: what a later array or the result knows reaches the others through the first.
      for (int pass = 0; pass < 2; ++pass) {
        for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_as(infer.in(i));
        infer.in(0).same_as(infer.out(0));
      }
    })
    .cpu(add_n_cpu)
    .grad([](const AddParams&, Grad& grad) {
      return Gradients(static_cast<std::size_t>(grad.num_in()), grad.dout(0));
    });

[[maybe_unused]] const bool pointwise = (mark_pointwise("add_n"), mark_portable({"add_n"}));

}  // namespace
}  // namespace mxnet
