// SPDX-License-Identifier: Apache-2.0
// The sum of any number of arrays in one pass over memory: a block stays in cache while all inputs
// are added to it.
#include <algorithm>
#include <array>

#include "base/half_bulk.h"
#include "op/loops/convert.h"
#include "op/loops/half_sums.h"
#include "op/numbered_names.h"
#include "op/op_builder.h"
#include "op/pointwise.h"
#include "op/rows/row_math.h"
#include "op/run/dispatch.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

struct AddParams {
  int32_t num_args;
};

// 8 KiB of float: the running sum and a piece of one input fit the first-level cache, where they
// begin with a line: vectors that lie across two take longer.
constexpr int64_t kBlock = 2048;

// to[i] = x[i] + y[i], of whatever types.
template <class C, class X, class Y, class To>
void add_two(const X* x, const Y* y, To* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = convert<To>(row_math::plus(convert<C>(x[i]), convert<C>(y[i])));
}

// float16 is converted in bulk: compilers make no vectors of it element by element.
template <class Input>
void add_halves(const Input& input, int last, float16* y, int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  alignas(64) std::array<float, kBlock> sum, next;
  convert(input(0), sum.data(), size);
  for (int k = 1; k <= last; ++k) {
    convert(input(k), next.data(), size);
    for (int64_t i = 0; i < n; ++i)
      sum[static_cast<std::size_t>(i)] += next[static_cast<std::size_t>(i)];
  }
  convert(sum.data(), y, size);
}

// Elements [first, first + n) of all inputs. The result is written last: it may be any of them.
template <class T>
void add_block(const KernelContext& context, int64_t first, int64_t n) {
  using C = ComputeType<T>;
  const int last = context.num_in() - 1;
  const auto input = [&](int k) { return context.in(k).as<T>() + first; };
  T* const y = context.out(0).as<T>() + first;
  if constexpr (kIsHalf<T>) {
    constexpr int kMost = 64;
    if (const auto loop = half_sum_loop<T>(); loop != nullptr && last > 0 && last < kMost) {
      std::array<const T*, kMost> in;
      for (int k = 0; k <= last; ++k) in[static_cast<std::size_t>(k)] = input(k);
      return loop(in.data(), last + 1, y, n);
    }
  }
  if (last == 0) {
    std::copy_n(input(0), n, y);
  } else if constexpr (std::is_same_v<T, float16>) {
    add_halves(input, last, y, n);
  } else if (last == 1) {
    add_two<C>(input(0), input(1), y, n);
  } else {
    alignas(64) std::array<C, kBlock> sum;
    add_two<C>(input(0), input(1), sum.data(), n);
    for (int k = 2; k < last; ++k) add_two<C>(sum.data(), input(k), sum.data(), n);
    add_two<C>(sum.data(), input(last), y, n);
  }
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
  dispatch_dtype<kNumeric>(out.dtype, "add_n", [&]<class T>(TypeTag<T>) {
    parallel_for(out.size(), context.num_in(), [&](int64_t first, int64_t last) {
      for (; first < last; first += kBlock)
        add_block<T>(context, first, std::min(kBlock, last - first));
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
