// SPDX-License-Identifier: Apache-2.0
// Arrays of a kernel in the type that it computes in, float or double, as on the CPU
// (op/loops/computed.h): halves through copies. For operators that do more than to wait for memory.
#pragma once
#include <utility>
#include <vector>

#include "op/kernel.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {

// For one call; write_back() comes last.
template <class T>
class Computed {
 public:
  explicit Computed(KernelContext& context)
      : context_(context), stream_(context.stream()->native()) {}

  NativeStream* stream() const { return stream_; }
  // Input i, converted from whatever number it holds.
  const T* in(int i) const {
    const Tensor& tensor = context_.in(i);
    if (tensor.dtype == dtype_of<T>) return tensor.as<T>();
    const Tensor copy = copy_of(tensor);
    convert(stream_, tensor, copy);
    return copy.as<T>();
  }
  // Output i, to be written everywhere.
  T* out(int i) {
    const Tensor& tensor = context_.out(i);
    if (tensor.dtype == dtype_of<T>) return tensor.as<T>();
    copies_.push_back({&tensor, copy_of(tensor)});
    return copies_.back().second.as<T>();
  }
  // The same, zeros at first.
  T* zeroed_out(int i) {
    T* const data = out(i);
    fill(stream_, {data, &context_.out(i).shape(), dtype_of<T>}, 0);
    return data;
  }
  void write_back() const {
    for (const auto& [tensor, copy] : copies_) convert(stream_, copy, *tensor);
  }

 private:
  Tensor copy_of(const Tensor& tensor) const {
    return {context_.workspace_of<T>(tensor.size()), &tensor.shape(), dtype_of<T>};
  }

  KernelContext& context_;
  NativeStream* stream_;
  std::vector<std::pair<const Tensor*, Tensor>> copies_;
};

// fn(Computed<T>&, T{}) with the T that arrays of type `dtype` are computed in.
template <class F>
void compute(DType dtype, KernelContext& context, const F& fn) {
  const auto run = [&](auto zero) {
    Computed<decltype(zero)> arrays(context);
    fn(arrays, zero);
    arrays.write_back();
  };
  if (dtype == DType::kFloat64)
    run(0.0);
  else
    run(0.0f);
}

}  // namespace cuda
}  // namespace mxnet
