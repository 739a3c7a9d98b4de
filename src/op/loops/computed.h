// SPDX-License-Identifier: Apache-2.0
// Arrays of a kernel in the type that it computes in: float and double arrays as they are, half
// types through copies in float.
#pragma once
#include <utility>
#include <vector>

#include "op/kernel.h"
#include "op/loops/convert.h"
#include "op/run/dispatch.h"

namespace mxnet {

// Lives as long as the kernel runs, on its thread; write_back() comes last.
template <class T>
class Computed {
 public:
  explicit Computed(KernelContext& context) : context_(context) {}

  // Input i, converted from whatever number it holds.
  const T* in(int i) {
    const Tensor& tensor = context_.in(i);
    if (tensor.dtype == dtype_of<T>) return tensor.as<T>();
    T* copy = context_.workspace_of<T>(tensor.size());
    dispatch_dtype<kAllTypes>(tensor.dtype, "input", [&](auto tag) {
      convert_array(tensor.template as<typename decltype(tag)::type>(), copy, tensor.size());
    });
    return copy;
  }
  // Output i, to be written everywhere.
  T* out(int i) {
    const Tensor& tensor = context_.out(i);
    if (tensor.dtype == dtype_of<T>) return tensor.as<T>();
    copies_.push_back({&tensor, context_.workspace_of<T>(tensor.size())});
    return copies_.back().data;
  }
  void write_back() const {
    for (const Copy& copy : copies_) {
      dispatch_dtype<kFloating>(copy.tensor->dtype, "output", [&](auto tag) {
        convert_array(copy.data, copy.tensor->template as<typename decltype(tag)::type>(),
                      copy.tensor->size());
      });
    }
  }

 private:
  struct Copy {
    const Tensor* tensor;
    T* data;
  };
  KernelContext& context_;
  std::vector<Copy> copies_;
};

// fn(Computed<T>&, TypeTag<T>) with the T that arrays of type `dtype` are computed in.
template <class F>
void compute(DType dtype, KernelContext& context, const F& fn) {
  const auto run = [&](auto tag) {
    Computed<typename decltype(tag)::type> arrays(context);
    fn(arrays, tag);
    arrays.write_back();
  };
  if (dtype == DType::kFloat64) {
    run(TypeTag<double>{});
  } else {
    run(TypeTag<float>{});
  }
}

}  // namespace mxnet
