// SPDX-License-Identifier: Apache-2.0
// Copies between a GPU and the host within a kernel's call, in the order of its stream.
#include "op/run/read_back.h"

#include <algorithm>

#include "op/marked_ops.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

using Waiting = MarkedOps<struct WaitingMark>;

}  // namespace

HostCopy::HostCopy(KernelContext& context, const Tensor& tensor) : tensor_(tensor) {
  const auto bytes = static_cast<std::size_t>(tensor.size()) * dtype_size(tensor.dtype);
  if (gpu_table(context) == nullptr || bytes == 0) return;
  memory_ = std::make_unique_for_overwrite<char[]>(bytes);
  tensor_.data = memory_.get();
  Stream& stream = *context.stream();
  stream.api().copy(tensor_.data, Device::cpu(), tensor.data, context.device(), bytes,
                    stream.native());
  stream.synchronize();
}

HostNumbers::HostNumbers(KernelContext& context, int64_t count) {
  const int64_t room = std::max<int64_t>(count, 1);
  if (gpu_table(context) != nullptr)
    memory_ = std::make_unique_for_overwrite<int64_t[]>(static_cast<std::size_t>(room));
  data_ = memory_ ? memory_.get() : context.workspace_of<int64_t>(room);
}

const int64_t* HostNumbers::on_device(KernelContext& context, int64_t count) const {
  if (!memory_ || count == 0) return data_;
  auto* const there = context.workspace_of<int64_t>(count);
  Stream& stream = *context.stream();
  stream.api().copy(there, context.device(), data_, Device::cpu(),
                    static_cast<std::size_t>(count) * sizeof(int64_t), stream.native());
  // The memory of this object goes when the call returns.
  stream.synchronize();
  return there;
}

bool mark_waiting(std::initializer_list<std::string_view> ops) {
  for (const std::string_view op : ops) Waiting::add(op);
  return true;
}
bool mark_portable_waiting(std::initializer_list<std::string_view> ops) {
  return mark_waiting(ops) && mark_portable(ops);
}
bool waits_for_device(const OpDef& op) { return Waiting::contains(op); }

}  // namespace mxnet
