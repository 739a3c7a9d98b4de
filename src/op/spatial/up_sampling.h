// SPDX-License-Identifier: Apache-2.0
// What UpSampling is told, and where its inputs lie in its result, for the CPU and for kernels.
#pragma once
#include <cstdint>
#include <vector>

#include "base/host_device.h"
#include "op/kernel.h"

namespace mxnet {

enum class UpKind : int32_t { kNearest, kBilinear };
enum class UpJoin : int32_t { kConcat, kSum };

struct UpParams {
  int32_t scale, num_filter;
  UpKind sample_type;
  UpJoin multi_input_mode;
  int32_t num_args;
  uint64_t workspace;

  bool bilinear() const { return sample_type == UpKind::kBilinear; }
  bool sums() const { return multi_input_mode == UpJoin::kSum; }
  int num_inputs() const { return bilinear() ? 2 : num_args; }
  // Of the transposed convolution.
  int64_t kernel() const { return 2 * int64_t{scale} - scale % 2; }
  int64_t pad() const { return scale / 2; }
};

// Where the planes of one input lie in the result.
struct UpPlaced {
  int64_t batch, channels, height, width;  // of the input
  int64_t scale, first_channel, out_channels;

  int64_t area() const { return height * width; }
  int64_t size() const { return batch * channels * area(); }
  // Index in the result of the upper left copy of the first number of line h of plane p.
  MX_HOST_DEVICE int64_t line(int64_t p, int64_t h) const {
    const int64_t plane = p / channels * out_channels + first_channel + p % channels;
    return (plane * height * scale + h * scale) * width * scale;
  }
};
// The forward operator's input i is the kernel's input `shift` + i.
inline std::vector<UpPlaced> up_places(const UpParams& params, const KernelContext& context,
                                       int shift, const Shape& out) {
  std::vector<UpPlaced> result;
  int64_t channel = 0;
  for (int i = 0; i < params.num_args; ++i) {
    const Shape& in = context.in(shift + i).shape();
    result.push_back(
        {in[0], in[1], in[2], in[3], in[2] == 0 ? 1 : out[2] / in[2], channel, out[1]});
    if (!params.sums()) channel += in[1];
  }
  return result;
}

}  // namespace mxnet
