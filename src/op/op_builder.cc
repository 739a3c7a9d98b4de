// SPDX-License-Identifier: Apache-2.0
// What declaring an operator needs whatever the type of its parameters is.
#include "op/op_builder.h"

namespace mxnet {

Gradients zero_gradients(const NoParams&, Grad& grad) {
  return Gradients(static_cast<std::size_t>(grad.num_in()));
}

void add_arg(std::vector<OpArg>& args, const char* name, const char* type, const char* doc) {
  args.push_back({name, type, doc});
}

void add_kernel(std::vector<KernelEntry>& kernels, const KernelEntry& kernel) {
  kernels.push_back(kernel);
}

}  // namespace mxnet
