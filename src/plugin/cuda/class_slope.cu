// SPDX-License-Identifier: Apache-2.0
// The gradient of cross entropy with respect to the scores before a softmax, from its results and
// the labels.
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

// How many labels are not the one that is ignored, at least 1; one line.
template <class T>
struct CountValid {
  const T* label;
  double* valid;
  int64_t count;
  Compute<T> ignored;
  MX_DEVICE int64_t part(int64_t, int lane, int lanes) const {
    int64_t n = 0;
    for (int64_t i = lane; i < count; i += lanes) n += trunc(widen(label[i])) != ignored;
    return n;
  }
  MX_DEVICE int64_t merge(int64_t a, int64_t b) const { return a + b; }
  MX_DEVICE void finish(int64_t, int64_t n) const { *valid = static_cast<double>(n > 0 ? n : 1); }
};

// Labels that name a class for each line.
template <class T>
struct OfClasses {
  using C = Compute<T>;
  const T *label, *out;
  T* dx;
  const double* valid;  // null: `scale` is all
  Lines lines;
  double scale;
  C ignored, alpha, other;  // `ignored` is whole
  bool use_ignore, times_out;

  MX_DEVICE void operator()(int64_t i) const {
    const C k = widen(label[lines.line_of(i)]), p = widen(out[i]);
    if (use_ignore && trunc(k) == ignored) {
      dx[i] = narrow<T>(C(0));  // whatever there was to multiply with
      return;
    }
    const C factor = static_cast<C>(valid == nullptr ? scale : scale / *valid);
    // What is above -1 truncates to a class; others, NaN too, name none.
    const bool named = k > C(-1) && k < static_cast<C>(lines.length);
    const bool here = named && static_cast<int64_t>(k) == lines.place_of(i);
    const C slope = (p - (here ? C(1) - alpha : other)) * factor;
    dx[i] = narrow<T>(times_out ? slope * p : slope);
  }
};

// Labels that are a probability for each class.
template <class T>
struct OfProbabilities {
  using C = Compute<T>;
  const T *label, *out;
  T* dx;
  C scale;
  bool times_out;
  MX_DEVICE void operator()(int64_t i) const {
    const C p = widen(out[i]), slope = (p - widen(label[i])) * scale;
    dx[i] = narrow<T>(times_out ? slope * p : slope);
  }
};

template <class T>
void run(NativeStream* stream, const GpuClassGradient& call, KernelContext& context) {
  using C = Compute<T>;
  const T* label = call.label.as<T>();
  const T* out = call.out.as<T>();
  T* dx = call.dx.as<T>();
  if (call.length == 0)
    return for_each(stream, "class_slope", call.dx.size(),
                    OfProbabilities<T>{label, out, dx, static_cast<C>(call.scale), call.times_out});
  const C ignored = trunc(static_cast<C>(call.ignore_label)),
          alpha = static_cast<C>(call.smooth_alpha);
  double* valid = nullptr;
  if (call.divide_by_valid) {
    valid = context.workspace_of<double>(1);
    for_each_group(stream, "count_valid", 1, true,
                   CountValid<T>{label, valid, call.label.size(), ignored});
  }
  const C other = call.length > 1 ? alpha / static_cast<C>(call.length - 1) : C(0);
  for_each(stream, "class_slope", call.dx.size(),
           OfClasses<T>{label,
                        out,
                        dx,
                        valid,
                        {call.length, call.inner},
                        call.scale,
                        ignored,
                        alpha,
                        other,
                        call.use_ignore,
                        call.times_out});
}

}  // namespace

void class_slope(NativeStream* stream, const GpuClassGradient& call, KernelContext& context) {
  for_dtype<kFloating.bits_>(call.out.dtype, "SoftmaxOutput",
                             [&](auto type) { run<decltype(type)>(stream, call, context); });
}

}  // namespace cuda
}  // namespace mxnet
