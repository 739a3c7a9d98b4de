// SPDX-License-Identifier: Apache-2.0
// Operators that only stand in graphs of 1.x: copies between devices, gradients that nobody wants,
// and functions of the user. Saved graphs hold them; nobody calls them by name.
#include "op/create/create.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

MX_OP(_CrossDeviceCopy, NoParams)
.doc("The same values on another device: where its reader is placed.")
    .num_inputs([](const NoParams&) { return 1; })
    .input_names([](const NoParams&) { return std::vector<std::string>{"data"}; })
    .lenient()
    .inplace(0, 0)
    .infer([](const NoParams&, Infer& infer) { infer.out(0).same_as(infer.in(0)); })
    .cpu([](const NoParams&, KernelContext& context) {
      const Tensor &in = context.in(0), &out = context.out(0);
      copy_memory(context, in.data, out.data,
                  static_cast<std::size_t>(in.size()) * dtype_size(in.dtype));
    })
    .grad([](const NoParams&, Grad& grad) {
      return Gradients{apply("_CrossDeviceCopy", {grad.dout(0)})};
    });

MX_OP(_NoGradient, NoParams)
.doc("The place of a gradient that nobody wants: it has no value.")
    .num_inputs([](const NoParams&) { return 0; })
    .lenient()
    .infer([](const NoParams&, Infer& infer) {
      infer.fail("given a graph that reads what has no gradient, expected one that does not");
    });

MX_OP(_CustomFunction, NoParams)
.doc("A function of the user with a gradient, as autograd has recorded it.")
    .num_inputs([](const NoParams&) { return 0; })
    .infer([](const NoParams&, Infer& infer) {
      infer.fail(
          "given the name of a recorded function, expected autograd.Function: functions "
          "live as long as the tape that they are on");
    });

[[maybe_unused]] const bool portable = mark_portable({"_CrossDeviceCopy"});

}  // namespace
}  // namespace mxnet
