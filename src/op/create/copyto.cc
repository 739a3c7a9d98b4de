// SPDX-License-Identifier: Apache-2.0
// Copying into an array that is there, of any type.
#include "op/create/create.h"
#include "op/device_crossing.h"
#include "op/loops/as_type.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

void copy_cpu(const NoParams&, KernelContext& context) {
  convert_tensor(context.in(0), context.out(0), context);
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
