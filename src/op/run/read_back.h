// SPDX-License-Identifier: Apache-2.0
// What portable kernels look at on the host: numbers that decide about a shape, positions that must
// be inside an array, rates of an update. On a GPU the host waits for such numbers, which is the
// price of an error that names the wrong one; everything else stays on the device.
#pragma once
#include <initializer_list>
#include <memory>
#include <string_view>

#include "op/kernel.h"
#include "op/op_def.h"

namespace mxnet {

// A tensor that the host can read: the tensor itself, or a copy of one on a GPU. Borrows the shape.
class HostCopy {
 public:
  HostCopy(KernelContext& context, const Tensor& tensor);
  const Tensor& tensor() const { return tensor_; }

 private:
  std::unique_ptr<char[]> memory_;
  Tensor tensor_;
};

// Numbers that the host computes for the device of the call.
class HostNumbers {
 public:
  // Borrows scratch memory of the kernel.
  HostNumbers(KernelContext& context, int64_t count);
  int64_t* data() const { return data_; }
  int64_t operator[](int64_t i) const { return data_[i]; }
  // The first `count` of them, where kernels read them. Once, after they are written.
  const int64_t* on_device(KernelContext& context, int64_t count) const;

 private:
  std::unique_ptr<int64_t[]> memory_;
  int64_t* data_;
};

// mark_portable() for kernels that always do one of the above: they cannot be part of a CUDA graph.
bool mark_portable_waiting(std::initializer_list<std::string_view> ops);
// The same of kernels that the plug-in brings: for an error that the device finds, say.
bool mark_waiting(std::initializer_list<std::string_view> ops);
bool waits_for_device(const OpDef& op);

}  // namespace mxnet
