// SPDX-License-Identifier: Apache-2.0
// reset_arrays: zeros into many arrays by one operation.
#include <numeric>

#include "op/op_builder.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

struct ResetParams {
  int32_t num_arrays;
};

MX_OP(reset_arrays, ResetParams)
.doc("Sets arrays to zero.")
    .input_list("data", "The arrays.")
    .param("num_arrays", &ResetParams::num_arrays, "Number of arrays.")
    .num_inputs([](const ResetParams& p) { return int{p.num_arrays}; })
    .outputs([](const ResetParams&) { return 0; })
    .mutates([](const ResetParams& p) {
      std::vector<int> all(static_cast<std::size_t>(p.num_arrays));
      std::iota(all.begin(), all.end(), 0);
      return all;
    })
    .infer([](const ResetParams&, Infer&) {})
    .cpu([](const ResetParams&, KernelContext& context) {
      for (int i = 0; i < context.num_in(); ++i) {
        const Tensor& array = context.in(i);
        clear_memory(context, array.data,
                     static_cast<std::size_t>(array.size()) * dtype_size(array.dtype));
      }
    });
[[maybe_unused]] const bool portable = mark_portable({"reset_arrays"});

}  // namespace
}  // namespace mxnet
