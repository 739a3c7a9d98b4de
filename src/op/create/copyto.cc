// SPDX-License-Identifier: Apache-2.0
// Copying into an array that is there, of any type.
#include "op/create/create.h"
#include "op/device_crossing.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"

namespace mxnet {
namespace {

void copy_cpu(const NoParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Tensor& out = context.out(0);
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->convert(context.stream()->native(), in, out);
  dispatch_dtype(in.dtype, "_copyto", [&]<class From>(TypeTag<From>) {
    dispatch_dtype(out.dtype, "_copyto", [&]<class To>(TypeTag<To>) {
      parallel_for(in.size(), 1.0, [&](int64_t first, int64_t last) {
        convert_array(in.as<From>() + first, out.as<To>() + first, last - first);
      });
    });
  });
}

MX_OP(_copyto, NoParams)
.doc("Copies an array into another of the same shape; types are converted.")
    .alias("_npi_copyto")
    .array_input("data", "What to copy.")
    .lenient()
    .infer([](const NoParams&, Infer& infer) {
      infer.in(0).same_shape(infer.out(0));
      if (infer.out(0).dtype() == DType::kUnknown) infer.out(0).set_dtype(infer.in(0).dtype());
    })
    .cpu(copy_cpu)
    .grad([](const NoParams&, Grad& grad) {
      return Gradients{apply("_backward_copyto", {grad.dout(0), grad.in(0)})};
    });

MX_OP(_backward_copyto, NoParams)
.doc("The gradient in the type of what was copied.")
    .input("head_grad", "Gradient of the copy.")
    .input("data", "Its type is that of the result.")
    .type_only(1)
    .infer([](const NoParams&, Infer& infer) {
      infer.out(0).same_as(infer.in(1)).same_shape(infer.in(0));
    })
    .cpu(copy_cpu);

[[maybe_unused]] const bool portable = mark_portable({"_copyto", "_backward_copyto"});
[[maybe_unused]] const bool crossing = mark_crossing("_copyto");

}  // namespace
}  // namespace mxnet
