// SPDX-License-Identifier: Apache-2.0
// Convolutions, their gradients and biases: from the core's geometry to what a library computes.
#include "plugin/cuda/convolution.h"

#include <algorithm>

#include "op/reducing/evaluate.h"
#include "op/windows/conv_geometry.h"
#include "plugin/cuda/dnn/convolver.h"
#include "plugin/cuda/primitives.h"

namespace mxnet::cuda {
namespace {

using Dims = std::vector<int64_t>;

// Libraries know two and three spatial dimensions; a lone one gets another of size 1.
Dims spatial(const ConvGeometry& g, Dims front, const ConvGeometry::Sizes& sizes) {
  front.insert(front.end(), sizes.end() - std::max(g.spatial, 2), sizes.end());
  return front;
}

Convolution description(const GpuConvCall& call, const ConvolutionSteps& steps) {
  const ConvGeometry& g = call.geometry;
  return {.pass = call.pass == GpuConvPass::kMap     ? ConvPass::kForward
                  : call.pass == GpuConvPass::kImage ? ConvPass::kDataGradient
                                                     : ConvPass::kWeightGradient,
          .dtype = call.weight.dtype,
          .channels_last = g.channels_last,
          .data = spatial(g, {g.batch, g.image_channels}, g.image),
          .weight = spatial(g, {g.map_channels, g.image_group()}, g.kernel),
          .output = spatial(g, {g.batch, g.map_channels}, g.map),
          .pad = spatial(g, {}, g.pad),
          .stride = spatial(g, {}, g.stride),
          .dilate = spatial(g, {}, g.dilate),
          .groups = g.groups,
          .sum = steps.other != nullptr,
          .bias = steps.bias != nullptr,
          .activation = steps.activation};
}

// An array where engines can load it: itself, or a copy. What is only written is not read.
Tensor aligned(NativeStream* stream, const Tensor& array, bool read, KernelContext& context) {
  if (reinterpret_cast<uintptr_t>(array.data) % kConvolutionAlignment == 0) return array;
  Tensor copy = array;
  copy.data = context.workspace(static_cast<std::size_t>(array.size()) * dtype_size(array.dtype));
  if (read) convert(stream, array, copy);
  return copy;
}

// Computes the array that the pass names; steps only where that is the map.
void run_aligned(NativeStream* stream, const GpuConvCall& call, const ConvolutionSteps& steps,
                 KernelContext& context) {
  const auto place = [&](const Tensor& array, GpuConvPass pass) {
    return aligned(stream, array, call.pass != pass, context);
  };
  const Tensor image = place(call.image, GpuConvPass::kImage);
  const Tensor weight = place(call.weight, GpuConvPass::kWeight);
  const Tensor map = place(call.map, GpuConvPass::kMap);
  const auto addend = [&](const Tensor* array) {
    return array == nullptr ? nullptr : aligned(stream, *array, true, context).data;
  };
  run_convolution(
      stream, description(call, steps), {call.tune, call.workspace_mib},
      {image.data, weight.data, map.data, addend(steps.bias), addend(steps.other)},
      [&] { apply_steps(stream, steps, call.geometry.channels_last, map); }, context);
  const auto settle = [&](const Tensor& computed, const Tensor& array) {
    if (computed.data != array.data) convert(stream, computed, array);
  };
  if (call.pass == GpuConvPass::kMap) settle(map, call.map);
  if (call.pass == GpuConvPass::kImage) settle(image, call.image);
  if (call.pass == GpuConvPass::kWeight) settle(weight, call.weight);
}

}  // namespace

void convolve_with(NativeStream* stream, const GpuConvCall& call, const ConvolutionSteps& steps,
                   KernelContext& context) {
  const Tensor& result = call.pass == GpuConvPass::kMap     ? call.map
                         : call.pass == GpuConvPass::kImage ? call.image
                                                            : call.weight;
  if (result.size() == 0) return;
  const bool empty = std::min({call.image.size(), call.weight.size(), call.map.size()}) == 0;
  const bool joins = !empty && call.pass == GpuConvPass::kMap;  // engines take steps on maps only
  if (empty)
    fill(stream, result, 0);  // sums of nothing
  else
    run_aligned(stream, call, joins ? steps : ConvolutionSteps{}, context);
  if (!joins) apply_steps(stream, steps, call.geometry.channels_last, result);
}

void convolve(NativeStream* stream, const GpuConvCall& call, KernelContext& context) {
  convolve_with(stream, call, {.bias = call.bias}, context);
}

void sum_channels(NativeStream* stream, const Tensor& array, bool channels_last, const Tensor& sums,
                  KernelContext& context) {
  const int channels = channels_last ? array.ndim() - 1 : 1;
  const uint32_t others = ((1u << array.ndim()) - 1) & ~(1u << channels);
  const ReduceCall sum{.reduction = Reduction::sum, .wide = false};
  reduce(stream, sum, array, others, sums, context);
}

}  // namespace mxnet::cuda
