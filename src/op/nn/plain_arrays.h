// SPDX-License-Identifier: Apache-2.0
// Arrays as the plain kernels of this folder want them: float or double, channels before spatial
// dimensions. What is so already is used as it is.
#pragma once
#include <array>

#include "op/kernel.h"

namespace mxnet {

// T is float or double. For one run of a kernel: inputs are converted by in(), outputs by finish().
template <class T>
class PlainArrays {
 public:
  // With `channels_last` arrays have shape (outer, spatial..., inner), and the kernel sees (outer,
  // inner, spatial...).
  PlainArrays(KernelContext& context, bool channels_last)
      : context_(context), channels_last_(channels_last) {}
  const T* in(const Tensor& array) const;
  // A vector of one dimension, whose layout is the same either way, included.
  T* out(const Tensor& array);
  void finish();

 private:
  bool permuted(const Tensor& array) const { return channels_last_ && array.ndim() > 2; }

  struct Pending {
    Tensor array;
    T* values;
  };
  KernelContext& context_;
  const bool channels_last_;
  std::array<Pending, 3> pending_{};
  int num_pending_ = 0;
};

// fn(PlainArrays<float or double>&) for the element type of the call, then finish().
template <class F>
void with_plain_arrays(KernelContext& context, bool channels_last, const F& fn) {
  const auto run = [&]<class T>(PlainArrays<T> arrays) {
    fn(arrays);
    arrays.finish();
  };
  if (context.in(0).dtype == DType::kFloat64) {
    run(PlainArrays<double>(context, channels_last));
  } else {
    run(PlainArrays<float>(context, channels_last));
  }
}

}  // namespace mxnet
