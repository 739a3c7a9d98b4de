// SPDX-License-Identifier: Apache-2.0
// Kernels for the "add" request that add to an output where it lies. Others get memory of their
// own, all of which is added afterwards: for a gradient that reaches few elements of a large array
// that is most of the work.
#pragma once
#include <string_view>

#include "op/op_def.h"

namespace mxnet {

using AddingKernel = OfParams<void(KernelContext&)>;

// fn adds to output 0, the only one, what the operator's kernel for the CPU would write there.
// Called by the file that defines the operator, before main. P is the operator's type of
// parameters.
void add_adding(std::string_view op, const AddingKernel& kernel);
template <class P>
void add_adding(std::string_view op, void (*fn)(const P&, KernelContext&)) {
  add_adding(op, AddingKernel(fn));
}

// Null for operators that have none.
const AddingKernel* adding_kernel(const OpDef& op);

}  // namespace mxnet
