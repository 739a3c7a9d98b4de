// SPDX-License-Identifier: Apache-2.0
// Questions about arrays: whether all conditions hold, and whether two share memory.
#include "base/error.h"
#include "op/index/mask.h"
#include "op/op_builder.h"
#include "op/run/primitives.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

struct CheckParams {
  std::string msg;
};

MX_OP(_npx_constraint_check, CheckParams)
.doc("True; an error with the given text unless all elements hold.")
    .input("input", "The conditions.")
    .param("msg", &CheckParams::msg, std::string("Constraint violated."), "Text of the error.")
    .infer([](const CheckParams&, Infer& infer) {
      infer.out(0).set_shape(Shape::scalar()).set_dtype(DType::kBool);
    })
    .cpu([](const CheckParams& params, KernelContext& context) {
      const Tensor& in = context.in(0);
      if (count_true(HostCopy(context, in).tensor()) != in.size())
        throw Error(ErrorCode::kValue, "constraint_check", params.msg);
      fill_tensor(context, context.out(0), 1);
    })
    .zero_grad();

MX_OP(_npi_share_memory, NoParams)
.doc("Whether two arrays lie in the same memory, at least in part.")
    .input("a", "One array.")
    .input("b", "The other.")
    .lenient()
    .infer([](const NoParams&, Infer& infer) {
      infer.out(0).set_shape(Shape::scalar()).set_dtype(DType::kBool);
    })
    .cpu([](const NoParams&, KernelContext& context) {
      const Tensor& a = context.in(0);
      const Tensor& b = context.in(1);
      const auto end = [](const Tensor& t) {
        return t.as<const char>() + static_cast<std::size_t>(t.size()) * dtype_size(t.dtype);
      };
      const bool shared = a.size() > 0 && b.size() > 0 &&
                          std::less<>()(a.as<const char>(), end(b)) &&
                          std::less<>()(b.as<const char>(), end(a));
      fill_tensor(context, context.out(0), shared ? 1 : 0);
    });

// The condition is known when the call returns: on a GPU the host waits for it.
[[maybe_unused]] const bool portable =
    mark_portable({"_npi_share_memory"}) && mark_portable_waiting({"_npx_constraint_check"});

}  // namespace
}  // namespace mxnet
