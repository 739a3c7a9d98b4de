// SPDX-License-Identifier: Apache-2.0
// Reorders between plain arrays and what primitives want.
#include "op/onednn/operand.h"

namespace mxnet::onednn {
namespace {

dnnl::memory without_data(const dnnl::memory::desc& desc) {
  return dnnl::memory(desc, engine(), DNNL_MEMORY_NONE);
}

}  // namespace

Operand::Operand(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted, bool output)
    : wanted_desc_(wanted), plain_(without_data(plain)) {
  if (plain == wanted) return;
  wanted_ = without_data(wanted);
  reorder_ = output ? dnnl::reorder(wanted_, plain_) : dnnl::reorder(plain_, wanted_);
}

dnnl_memory_t Operand::bind(const KernelContext& context, void* data) {
  if (!plain_) return nullptr;
  plain_.set_data_handle(data);
  if (!reorder_) return plain_.get();
  wanted_.set_data_handle(context.workspace(wanted_desc_.get_size()));
  return wanted_.get();
}

dnnl_memory_t Operand::load(const KernelContext& context, const void* data) {
  // oneDNN takes inputs as void* too; it does not write them.
  const dnnl_memory_t memory = bind(context, const_cast<void*>(data));
  if (reorder_) execute(reorder_, {{DNNL_ARG_FROM, plain_.get()}, {DNNL_ARG_TO, memory}});
  return memory;
}

dnnl_memory_t Operand::place(const KernelContext& context, void* data) {
  return bind(context, data);
}

void Operand::store() {
  if (reorder_) execute(reorder_, {{DNNL_ARG_FROM, wanted_.get()}, {DNNL_ARG_TO, plain_.get()}});
}

Scratchpad::Scratchpad(const dnnl::memory::desc& desc) : bytes_(desc.get_size()) {
  if (bytes_ > 0) memory_ = without_data(desc);
}

dnnl_memory_t Scratchpad::take(const KernelContext& context) {
  if (bytes_ == 0) return nullptr;
  memory_.set_data_handle(context.workspace(bytes_));
  return memory_.get();
}

}  // namespace mxnet::onednn
