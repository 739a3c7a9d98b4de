// SPDX-License-Identifier: Apache-2.0
// Layouts of oneDNN as values of a plan have them.
#pragma once
#include "op/onednn/runtime.h"
#include "op/prepared_kernel.h"

namespace mxnet::onednn {

// Null where `desc` is plain rows.
LayoutRef layout_of(const dnnl::memory::desc& desc);
// What an array of this shape and type looks like in `layout`.
dnnl::memory::desc desc_in(const LayoutRef& layout, const Tensor& tensor);
// Images of float32 whose channels lie together in groups of a vector of this CPU.
dnnl::memory::desc channel_blocks(const dnnl::memory::dims& dims);

}  // namespace mxnet::onednn
