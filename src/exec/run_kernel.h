// SPDX-License-Identifier: Apache-2.0
// The moment of computing: picks a kernel, lends it tensors and scratch memory, and settles write,
// add and aliasing so that kernels only ever write. Shared by eager calls and compiled plans.
#pragma once
#include <span>

#include "exec/invoke.h"
#include "op/inline_vector.h"

namespace mxnet {

// The first kernel of `op` that accepts; on a GPU, where none does, the first of the CPU's
// (run_on_host.h). Throws Error(kType) naming the types where none does.
const KernelEntry& choose_kernel(const OpDef& op, const void* params, std::span<const ArrayType> in,
                                 std::span<const ArrayType> out, Device device, bool training);

// Pointers to arrays that lie side by side, as a KernelCall wants them.
class ArrayRefs {
 public:
  explicit ArrayRefs(std::span<const NDArray> arrays) {
    for (const NDArray& array : arrays) refs_.push_back(&array);
  }
  InputRefs first(std::size_t count) const { return refs_.span().first(count); }
  InputRefs from(std::size_t first) const { return refs_.span().subspan(first); }

 private:
  InlineVector<const NDArray*, 8> refs_;
};

// All that one run needs; borrowed.
struct KernelCall {
  const OpDef& op;
  const KernelEntry& kernel;
  const void* params;
  InputRefs in, out;
  std::span<const Request> requests;  // empty (all kWrite) or one per output
  bool training;
  bool hidden_unread = false;  // nobody reads outputs that are not visible
};

// Runs it to its end. REQUIRES: inside an engine operation on the kernel's device that declared all
// arrays (or, on the CPU, after a wait on them).
void run_kernel(const KernelCall& call, const RunContext& context);

}  // namespace mxnet
