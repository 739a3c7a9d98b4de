// SPDX-License-Identifier: Apache-2.0
// Kernels of losses that are not a softmax alone: softmax_cross_entropy, SVMOutput, and the penalty
// of IdentityAttachKLSparseReg. A label that is no class makes its row's numbers NaN, since kernels
// cannot throw.
#include "op/norm/sparsity_penalty.h"
#include "op/norm/svm.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/peak.cuh"

namespace mxnet {
namespace cuda {
namespace {

// --- softmax_cross_entropy -----------------------------------------------------------------------

template <class T>
struct Peaks {
  const T* data;
  Peak<double>* peaks;
  int64_t length;
  MX_DEVICE Peak<double> part(int64_t row, int lane, int lanes) const {
    Peak<double> peak{0, 0};
    for (int64_t i = lane; i < length; i += lanes)
      peak = joined(peak, {static_cast<double>(data[row * length + i]), 1});
    return peak;
  }
  MX_DEVICE Peak<double> merge(const Peak<double>& a, const Peak<double>& b) const {
    return joined(a, b);
  }
  MX_DEVICE void finish(int64_t row, const Peak<double>& peak) const { peaks[row] = peak; }
};
constexpr int64_t kLongRow = 1024;  // of which a whole block takes care

template <class T>
const Peak<double>* peaks_of(NativeStream* stream, const T* data, int64_t rows, int64_t length,
                             KernelContext& context) {
  Peak<double>* const peaks = context.workspace_of<Peak<double>>(rows);
  for_each_group(stream, "softmax_cross_entropy", rows, length >= kLongRow,
                 Peaks<T>{data, peaks, length});
  return peaks;
}

// A label as a class: -1 where it is none. As on the CPU, what lies above -1 is cut to a class.
template <class T>
MX_DEVICE int64_t class_of(T label, int64_t classes) {
  return label > T(-1) && label < static_cast<T>(classes) ? static_cast<int64_t>(label) : -1;
}

template <class T>
struct EntropyOfRows {
  const T *data, *labels;
  const Peak<double>* peaks;
  Stored loss;
  int64_t rows, length;
  MX_DEVICE double part(int64_t, int lane, int lanes) const {
    double sum = 0;
    for (int64_t row = lane; row < rows; row += lanes) {
      const int64_t k = class_of(labels[row], length);
      sum += k < 0 ? static_cast<double>(NAN)
                   : ::log(peaks[row].sum) + peaks[row].top -
                         static_cast<double>(data[row * length + k]);
    }
    return sum;
  }
  MX_DEVICE double merge(double a, double b) const { return a + b; }
  MX_DEVICE void finish(int64_t, double sum) const { loss(0, sum); }
};

void entropy(const void*, KernelContext& context) {
  const int64_t rows = context.in(0).dim(0), length = context.in(0).dim(1);
  const Tensor& loss = context.out(0);
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const T *data = arrays.in(0), *labels = arrays.in(1);
    const Peak<double>* peaks = peaks_of(arrays.stream(), data, rows, length, context);
    for_each_group(arrays.stream(), "softmax_cross_entropy", 1, true,
                   EntropyOfRows<T>{data, labels, peaks, {loss.data, loss.dtype}, rows, length});
  });
}

template <class T>
struct EntropySlope {
  const T *scale, *data, *labels;
  const Peak<double>* peaks;
  T* dx;
  int64_t length;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / length, k = class_of(labels[row], length);
    const T probability =
        static_cast<T>(::exp(static_cast<double>(data[i]) - peaks[row].top) / peaks[row].sum);
    const T wanted = i - row * length == k ? T(1) : T(0);
    dx[i] = k < 0 ? static_cast<T>(NAN) : (probability - wanted) * *scale;
  }
};

// Inputs: gradient, data, labels.
void entropy_slope(const void*, KernelContext& context) {
  const int64_t rows = context.in(1).dim(0), length = context.in(1).dim(1);
  compute(context.in(1).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const T *scale = arrays.in(0), *data = arrays.in(1), *labels = arrays.in(2);
    const Peak<double>* peaks = peaks_of(arrays.stream(), data, rows, length, context);
    for_each(arrays.stream(), "softmax_cross_entropy", rows * length,
             EntropySlope<T>{scale, data, labels, peaks, arrays.out(0), length});
  });
}

// --- SVMOutput -----------------------------------------------------------------------------------

template <class T>
struct SvmSlope {
  SvmParams params;
  const T *labels, *out;
  T* dx;
  int64_t length;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / length;
    const bool is_label = static_cast<T>(i - row * length) == row_words::toward_zero(labels[row]);
    dx[i] = svm_gradient(params, out[i], is_label);
  }
};
void svm_slope(const SvmParams& params, KernelContext& context) {
  compute(context.in(1).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    for_each(arrays.stream(), "SVMOutput", context.in(1).size(),
             SvmSlope<T>{params, arrays.in(0), arrays.in(1), arrays.out(0),
                         context.in(1).shape().back()});
  });
}

// --- IdentityAttachKLSparseReg -------------------------------------------------------------------

// Moves a unit's average and finds what pulls at its activations.
template <class T>
struct PullOfUnit {
  PenaltyParams params;
  const T* data;
  Numbers<double> before;
  Stored after;
  double* pulls;
  int64_t outer, length, inner;
  MX_DEVICE double part(int64_t unit, int lane, int lanes) const {
    double sum = 0;
    for (int64_t i = lane; i < outer * inner; i += lanes)
      sum += static_cast<double>(data[(i / inner * length + unit) * inner + i % inner]);
    return sum;
  }
  MX_DEVICE double merge(double a, double b) const { return a + b; }
  MX_DEVICE void finish(int64_t unit, double sum) const {
    const double average = params.moved(before(unit), sum / static_cast<double>(outer * inner));
    after(unit, average);
    pulls[unit] = params.pull(average);
  }
};
template <class T>
struct AddPull {
  const T* dy;
  const double* pulls;
  T* dx;
  int64_t length, inner;
  MX_DEVICE void operator()(int64_t i) const {
    dx[i] = static_cast<T>(static_cast<double>(dy[i]) + pulls[i / inner % length]);
  }
};
// Inputs: gradient, data, moving averages, which are updated here.
void penalty_slope(const PenaltyParams& params, KernelContext& context) {
  const Tensor &data = context.in(1), &moving = context.in(2);
  if (data.size() == 0) return;
  const int64_t outer = data.dim(0), length = data.dim(1), inner = data.size() / outer / length;
  double* const pulls = context.workspace_of<double>(length);
  compute(data.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    for_each_group(arrays.stream(), "IdentityAttachKLSparseReg", length, true,
                   PullOfUnit<T>{params,
                                 arrays.in(1),
                                 {moving.data, moving.dtype},
                                 {moving.data, moving.dtype},
                                 pulls,
                                 outer,
                                 length,
                                 inner});
    for_each(arrays.stream(), "IdentityAttachKLSparseReg", data.size(),
             AddPull<T>{arrays.in(0), pulls, arrays.out(0), length, inner});
  });
}

}  // namespace

void add_losses(std::vector<GpuKernelRow>* rows) {
  rows->push_back({"softmax_cross_entropy", entropy, nullptr});
  rows->push_back({"_backward_softmax_cross_entropy", entropy_slope, nullptr});
  rows->push_back(kernel_row<SvmParams, svm_slope>("_backward_SVMOutput"));
  rows->push_back(kernel_row<PenaltyParams, penalty_slope>("_backward_IdentityAttachKLSparseReg"));
}

}  // namespace cuda
}  // namespace mxnet
