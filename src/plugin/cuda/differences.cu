// SPDX-License-Identifier: Apache-2.0
// Differences of neighbours (op/reduce/diff.h): along an axis, and of the flattened array.
#include "op/reduce/diff.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

// Lines of `size` elements, `inner` apart, become lines of one less. Integers wrap.
template <class T>
struct Difference {
  const T* x;
  T* y;
  int64_t size, inner;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t at = i + i / ((size - 1) * inner) * inner;
    y[i] = narrow<T>(row_words::minus(widen(x[at + inner]), widen(x[at])));
  }
};
// The transposed step: lines of size - 1 become lines of `size`.
template <class T>
struct DifferenceSlope {
  const T* y;
  T* x;
  int64_t size, inner;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t place = i / inner % size, at = i - i / (size * inner) * inner;
    Compute<T> value(0);
    if (place > 0) value = widen(y[at - inner]);
    if (place + 1 < size) value = row_words::minus(value, widen(y[at]));
    x[i] = narrow<T>(value);
  }
};

template <class T>
void step(NativeStream* stream, bool back, const T* from, T* to, int64_t outer, int64_t size,
          int64_t inner) {
  if (back)
    for_each(stream, "_npi_diff", outer * size * inner, DifferenceSlope<T>{from, to, size, inner});
  else
    for_each(stream, "_npi_diff", outer * (size - 1) * inner, Difference<T>{from, to, size, inner});
}

// n steps over two buffers.
template <bool back>
void diff(const DiffParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  NativeStream* const stream = context.stream()->native();
  const Shape& full = (back ? out : in).shape();  // on the side without differences
  const int axis = normalize_axis(params.axis, full.ndim(), "_npi_diff");
  const int64_t outer = full.size(0, axis), size = full[axis];
  const int64_t inner = full.size(axis + 1, full.ndim());
  if (in.size() == 0) return fill(stream, out, 0);
  if (params.n == 0) return convert(stream, in, out);
  for_dtype<kNumeric.bits_>(in.dtype, "_npi_diff", [&](auto type) {
    using T = decltype(type);
    T* buffers[2] = {};
    for (T*& buffer : buffers)
      if (params.n > 1) buffer = context.workspace_of<T>(full.size());
    const T* from = in.as<T>();
    for (int32_t k = 0; k < params.n; ++k) {
      T* const to = k + 1 == params.n ? out.as<T>() : buffers[k % 2];
      step(stream, back, from, to, outer, back ? size - params.n + k + 1 : size - k, inner);
      from = to;
    }
  });
}

// What comes before, the differences, what comes after.
void ediff(const EdiffParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const EdiffParts parts(params, [&](int i) { return context.in(i).size(); });
  NativeStream* const stream = context.stream()->native();
  for_dtype<kNumeric.bits_>(out.dtype, "_npi_ediff1d", [&](auto type) {
    using T = decltype(type);
    const auto put = [&](int64_t first, bool array, int input, std::optional<double> scalar) {
      const Shape count{array ? context.in(input).size() : 1};
      const Tensor place{out.as<T>() + first, &count, out.dtype};
      if (array)
        convert(stream, {context.in(input).data, &count, out.dtype}, place);
      else if (scalar)
        fill(stream, place, *scalar);
    };
    put(0, params.to_begin_arr_given, 1, params.to_begin_scalar);
    if (parts.middle > 0)
      step(stream, false, context.in(0).as<const T>(), out.as<T>() + parts.begin, 1,
           parts.middle + 1, 1);
    put(parts.begin + parts.middle, params.to_end_arr_given, params.arrays() - 1,
        params.to_end_scalar);
  });
}

// Inputs: gradient of the output, then the forward call's inputs, of which only shapes matter.
void ediff_slope(const EdiffParams& params, KernelContext& context) {
  const Tensor &dy = context.in(0), &dx = context.out(0);
  const EdiffParts parts(params, [&](int i) { return context.in(i + 1).size(); });
  NativeStream* const stream = context.stream()->native();
  for_dtype<kNumeric.bits_>(dy.dtype, "_npi_ediff1d", [&](auto type) {
    using T = decltype(type);
    const auto take = [&](int64_t first, const Tensor& to) {
      convert(stream, {dy.as<T>() + first, to.shape_ptr, dy.dtype}, to);
    };
    if (parts.middle > 0)
      step(stream, true, dy.as<const T>() + parts.begin, dx.as<T>(), 1, parts.middle + 1, 1);
    else
      fill(stream, dx, 0);
    if (params.to_begin_arr_given) take(0, context.out(1));
    if (params.to_end_arr_given) take(parts.begin + parts.middle, context.out(params.arrays() - 1));
  });
}

}  // namespace

void add_differences(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<DiffParams, diff<false>>("_npi_diff"));
  rows->push_back(kernel_row<DiffParams, diff<true>>("_backward_npi_diff"));
  rows->push_back(kernel_row<EdiffParams, ediff>("_npi_ediff1d"));
  rows->push_back(kernel_row<EdiffParams, ediff_slope>("_npi_backward_ediff1d"));
}

}  // namespace cuda
}  // namespace mxnet
