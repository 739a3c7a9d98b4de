// SPDX-License-Identifier: Apache-2.0
// Loops for operators whose function has parameters: out[i] = fn(in[i]...), in float for the half
// types.
#pragma once
#include "op/convert.h"
#include "op/dispatch.h"
#include "op/kernel.h"
#include "op/parallel.h"

namespace mxnet {

// fn(x) for every element, computed in the type itself or in float; `op` names the operator in
// errors. Out may differ from the input's type only if it is bool.
template <DTypeSet Types, class Fn>
void map_elements(const char* op, const Tensor& in, const Tensor& out, const Fn& fn) {
  dispatch_dtype<Types>(in.dtype, op, [&]<class T>(TypeTag<T>) {
    const auto run = [&]<class Out>(Out* y) {
      const T* x = in.as<T>();
      parallel_for(in.size(), 1.0, [=, &fn](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i)
          y[i] = convert<Out>(fn(convert<ComputeType<T>>(x[i])));
      });
    };
    if (out.dtype == DType::kBool)  // NOLINT(bugprone-branch-clone): alike where T is bool
      run(out.as<bool>());
    else
      run(out.as<T>());
  });
}

// fn(dy, x), for gradients.
template <DTypeSet Types, class Fn>
void map_pairs(const char* op, const Tensor& dy, const Tensor& x, const Tensor& dx, const Fn& fn) {
  dispatch_dtype<Types>(dy.dtype, op, [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const T *pdy = dy.as<T>(), *px = x.as<T>();
    T* pdx = dx.as<T>();
    parallel_for(dy.size(), 1.0, [=, &fn](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        pdx[i] = convert<T>(fn(convert<C>(pdy[i]), convert<C>(px[i])));
    });
  });
}

}  // namespace mxnet
