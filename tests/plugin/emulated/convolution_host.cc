// SPDX-License-Identifier: Apache-2.0
// Convolutions for the emulated plug-in, in place of cuDNN: every product of a place, a pixel and a
// weight is added to the one of the three arrays that the pass computes.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "plugin/cuda/dnn/convolver.h"
#include "plugin/cuda/elements.cuh"

namespace mxnet::cuda {
namespace {

using Dims = std::vector<int64_t>;

// Every index of `dims`, the last one fastest.
template <class F>
void for_index(const Dims& dims, const F& fn) {
  Dims index(dims.size(), 0);
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  for (; count > 0; --count) {
    fn(index);
    for (std::size_t d = dims.size(); d-- > 0 && ++index[d] == dims[d];) index[d] = 0;
  }
}

int64_t offset(const Dims& index, const Dims& strides) {
  int64_t at = 0;
  for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
  return at;
}

int64_t product(const Dims& dims) {
  int64_t size = 1;
  for (const int64_t dim : dims) size *= dim;
  return size;
}

// As a real GPU would, which fails for good.
void expect_aligned(const void* data) {
  if (reinterpret_cast<uintptr_t>(data) % kConvolutionAlignment == 0) return;
  throw Error(ErrorCode::kGeneric, "cudnn", "given a misaligned address, expected an aligned one");
}

template <class T>
double read(const void* array, std::size_t i) {
  return static_cast<double>(widen(static_cast<const T*>(array)[i]));
}

double activated(const PostOp& op, double x) {
  switch (op.kind) {
    case PostOp::Kind::kRelu:
      return x < 0 ? x * double{op.alpha} : x;
    case PostOp::Kind::kClip:
      return std::min(std::max(x, double{op.alpha}), double{op.beta});
    case PostOp::Kind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case PostOp::Kind::kTanh:
      return std::tanh(x);
    default:
      throw Error(ErrorCode::kNotImplemented, "cudnn", "given an activation that it lacks");
  }
}

}  // namespace

// Takes the steps itself where channels come last, so that both ways are seen.
void run_convolution(NativeStream*, const Convolution& c, const ConvolutionTuning&,
                     const ConvolutionArrays& arrays, const std::function<void()>& apply_steps,
                     KernelContext&) {
  const auto [data, weight, output, bias, other] = arrays;
  for (const void* array : {data, weight, output, bias, other}) expect_aligned(array);
  // A call may be run again to take its time.
  if (other == output)
    throw Error(ErrorCode::kGeneric, "cudnn", "given a sum in place, expected an output elsewhere");
  const bool joins = c.has_steps() && c.channels_last;
  const Dims data_steps = packed_strides(c.data, c.channels_last);
  const Dims weight_steps = packed_strides(c.weight, c.channels_last);
  const Dims output_steps = packed_strides(c.output, c.channels_last);
  const int64_t map_group = c.output[1] / c.groups;
  const bool forward = c.pass == ConvPass::kForward, of_data = c.pass == ConvPass::kDataGradient;
  for_dtype<kFloating.bits_>(c.dtype, "Convolution", [&](auto element) {
    using T = decltype(element);
    T *x = static_cast<T*>(data), *w = static_cast<T*>(weight), *y = static_cast<T*>(output);
    std::vector<double> sums(static_cast<std::size_t>(product(forward   ? c.output
                                                              : of_data ? c.data
                                                                        : c.weight)));
    for_index(c.output, [&](const Dims& place) {
      const Dims kernel(c.weight.begin() + 1, c.weight.end());  // channel, then spatial
      for_index(kernel, [&](const Dims& tap) {
        Dims pixel{place[0], place[1] / map_group * c.weight[1] + tap[0]};
        for (std::size_t d = 0; d < c.pad.size(); ++d) {
          pixel.push_back(place[d + 2] * c.stride[d] - c.pad[d] + tap[d + 1] * c.dilate[d]);
          if (pixel.back() < 0 || pixel.back() >= c.data[d + 2]) return;
        }
        Dims of_weight{place[1]};
        of_weight.insert(of_weight.end(), tap.begin(), tap.end());
        const int64_t at_x = offset(pixel, data_steps), at_w = offset(of_weight, weight_steps);
        const int64_t at_y = offset(place, output_steps);
        const auto add = [&](int64_t at, T a, T b) {
          sums[static_cast<std::size_t>(at)] += double(widen(a)) * double(widen(b));
        };
        if (forward)
          add(at_y, x[at_x], w[at_w]);
        else if (of_data)
          add(at_x, y[at_y], w[at_w]);
        else
          add(at_w, y[at_y], x[at_x]);
      });
    });
    T* result = forward ? y : of_data ? x : w;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      double sum = sums[i];
      if (joins && bias != nullptr) sum += read<T>(bias, i % static_cast<std::size_t>(c.output[1]));
      if (joins && other != nullptr) sum += read<T>(other, i);
      result[i] = narrow<T>(joins && c.activation ? activated(*c.activation, sum) : sum);
    }
  });
  if (c.has_steps() && !joins) apply_steps();
}

}  // namespace mxnet::cuda
