// SPDX-License-Identifier: Apache-2.0
// Loops for operators whose function has parameters: out[i] = fn(in[i]...), in float for the half
// types.
#pragma once
#include "op/kernel.h"
#include "op/loops/blockwise.h"
#include "op/loops/convert.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"
#include "op/run/parallel_each.h"

namespace mxnet {

namespace map_detail {

// A loop of floats without its function's type: what converts half types is compiled once for all.
template <class... In>
struct FloatLoop {
  const void* fn;
  void (*run)(const void* fn, In... in, float* out, int64_t n);
  void operator()(In... in, float* out, int64_t n) const { run(fn, in..., out, n); }
};
template <class... In, class Fn>
FloatLoop<In...> loop_of(const Fn& fn) {
  return {&fn, [](const void* body, In... in, float* out, int64_t n) {
            const Fn own = *static_cast<const Fn*>(body);
            for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(own(in[i]...));
          }};
}

}  // namespace map_detail

// fn(x) for every element, computed in the type itself or in float; `op` names the operator in
// errors. Out may differ from the input's type only if it is bool.
template <DTypeSet Types, class Fn>
void map_elements(const char* op, const Tensor& in, const Tensor& out, const Fn& fn) {
  dispatch_dtype<Types>(in.dtype, op, [&]<class T>(TypeTag<T>) {
    const auto run = [&]<class Out>(Out* y) {
      const T* x = in.as<T>();
      if constexpr (kIsHalf<T>) {
        parallel_for(in.size(), 1.0, [=, &fn](int64_t first, int64_t last) {
          through_float(map_detail::loop_of<const float*>(fn), y + first, last - first, x + first);
        });
      } else {
        parallel_each(in.size(), 1.0, [=](int64_t i) { y[i] = convert<Out>(fn(x[i])); });
      }
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
    const T *pdy = dy.as<T>(), *px = x.as<T>();
    T* pdx = dx.as<T>();
    if constexpr (kIsHalf<T>) {
      parallel_for(dy.size(), 1.0, [=, &fn](int64_t first, int64_t last) {
        through_float(map_detail::loop_of<const float*, const float*>(fn), pdx + first,
                      last - first, pdy + first, px + first);
      });
    } else {
      parallel_each(dy.size(), 1.0, [=](int64_t i) { pdx[i] = convert<T>(fn(pdy[i], px[i])); });
    }
  });
}

}  // namespace mxnet
