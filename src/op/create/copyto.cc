// SPDX-License-Identifier: Apache-2.0
// Copying into an array that is there, of any type.
#include "op/create/create.h"

namespace mxnet {
namespace {

MX_OP(_copyto, NoParams)
.doc("Copies an array into another of the same shape; types are converted.")
    .array_input("src", "What to copy.")
    .lenient()
    .infer([](const NoParams&, Infer& infer) {
      infer.in(0).same_shape(infer.out(0));
      if (infer.out(0).dtype() == DType::kUnknown) infer.out(0).set_dtype(infer.in(0).dtype());
    })
    .cpu([](const NoParams&, KernelContext& context) {
      const Tensor& in = context.in(0);
      const Tensor& out = context.out(0);
      dispatch_dtype(in.dtype, "_copyto", [&]<class From>(TypeTag<From>) {
        dispatch_dtype(out.dtype, "_copyto", [&]<class To>(TypeTag<To>) {
          parallel_for(in.size(), 1.0, [&](int64_t first, int64_t last) {
            convert_array(in.as<From>() + first, out.as<To>() + first, last - first);
          });
        });
      });
    });

}  // namespace
}  // namespace mxnet
