// SPDX-License-Identifier: Apache-2.0
// Convolutions of integers, and the range that their sums stand for.
#include "op/op_builder.h"
#include "op/quantize/byte_layers.h"
#include "op/quantize/layers.h"
#include "op/quantize/product_op.h"
#include "op/windows/window_list.h"

namespace mxnet::quantize {
namespace {

void convolution_cpu(const ConvParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &weight = context.in(1), &out = context.out(0);
  const Windows w = windows_of(params, data.shape(), out.shape());
  const int64_t places = w.map_size();
  convolve_bytes({w, params.num_group, weight.dim(0)}, data, weight.as<int8_t>(), out.as<int32_t>(),
                 context);
  const int ends = params.arrays();
  const float data_end = read_range(context, ends, ends + 1).magnitude();
  const float weight_end = read_range(context, ends + 2, ends + 3).magnitude();
  if (!params.no_bias) {
    const float bias_end = read_range(context, ends + 4, ends + 5).magnitude();
    const double scale = steps_of_map_bias(data_end, data.dtype, weight_end, bias_end);
    const int8_t* bias = context.in(2).as<int8_t>();
    int32_t* row = out.as<int32_t>();
    for (int64_t i = 0; i < w.batch * weight.dim(0); ++i, row += places) {
      const auto add = static_cast<uint32_t>(bias_steps(bias[i % weight.dim(0)], scale));
      for (int64_t p = 0; p < places; ++p)
        row[p] = static_cast<int32_t>(static_cast<uint32_t>(row[p]) + add);
    }
  }
  // A step of the data counts as one of int8 for uint8 too: requantization in existing models is
  // calibrated to that.
  write_product_range(context, data_end / kInt8, weight_end / kInt8);
}

// The extent of the map along one dimension.
int64_t places(int64_t image, int64_t kernel, int64_t stride, int64_t dilate, int64_t pad) {
  return (image + 2 * pad - dilate * (kernel - 1) - 1) / stride + 1;
}

void infer_convolution(const ConvParams& params, Infer& infer) {
  InferArg data = infer.in(0), weight = infer.in(1), out = infer.out(0);
  const int spatial = params.kernel.ndim();
  if (channels_last(params.layout)) infer.fail("given channels last, expected channels first");
  if (spatial < 1 || spatial > 3)
    infer.fail("given kernel " + to_string(params.kernel) + ", expected one to three dimensions");
  check_window_list("kernel", params.kernel, 1, spatial, infer);
  check_window_list("stride", params.stride, 1, spatial, infer);
  check_window_list("dilate", params.dilate, 1, spatial, infer);
  check_window_list("pad", params.pad, 0, spatial, infer);
  expect_bytes(data);
  data.set_shape(Shape::unknown(spatial + 2));
  out.set_dtype(DType::kInt32).set_shape(Shape::unknown(spatial + 2));
  Shape filter(spatial + 2, Shape::kUnknownDim);
  filter[0] = params.num_filter;
  for (int i = 0; i < spatial; ++i) filter[2 + i] = params.kernel[i];
  weight.set_dtype(DType::kInt8).set_shape(filter);
  if (!params.no_bias) infer.in(2).set_dtype(DType::kInt8).set_shape({int64_t{params.num_filter}});
  infer_range_inputs(infer, params.arrays(), 3 * params.arrays());
  infer_range_outputs(infer);
  out.set_dim(0, data.dim(0)).set_dim(1, params.num_filter);
  if (data.dim(1) >= 0) {
    if (data.dim(1) % params.num_group != 0 || params.num_filter % params.num_group != 0)
      data.fail("channels and num_filter that num_group divides");
    weight.set_dim(1, data.dim(1) / params.num_group);
  }
  for (int i = 0; i < spatial; ++i) {
    if (data.dim(2 + i) < 0) continue;
    const int64_t dilate = params.dilate.empty() ? 1 : params.dilate[i];
    const int64_t pad = params.pad.empty() ? 0 : params.pad[i];
    if (dilate * (params.kernel[i] - 1) + 1 > data.dim(2 + i) + 2 * pad)
      data.fail("an image that is not smaller than the kernel");
    out.set_dim(2 + i, places(data.dim(2 + i), params.kernel[i],
                              params.stride.empty() ? 1 : params.stride[i], dilate, pad));
  }
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<ConvParams> op("_contrib_quantized_conv");
  op.doc("Convolution of integers, channels first.")
      .input("data", "Images, int8 or uint8.")
      .input("weight", "Filters, int8.")
      .input("bias", "What is added to each channel, int8; beside uint8 in steps of the products.");
  declare_product(op)
      .param("kernel", &ConvParams::kernel, "Size of the kernel in each spatial dimension.")
      .param("stride", &ConvParams::stride, Shape::scalar(),
             "Distance of its places; 1 by default.")
      .param("dilate", &ConvParams::dilate, Shape::scalar(),
             "Distance of its elements; 1 by default.")
      .param("pad", &ConvParams::pad, Shape::scalar(), "Zeros around the image; none by default.")
      .param("num_filter", &ConvParams::num_filter, "Channels of the output.")
      .at_least<uint32_t>(1)
      .param("num_group", &ConvParams::num_group, 1u, "Groups of channels that do not mix.")
      .at_least<uint32_t>(1)
      .param("workspace", &ConvParams::workspace, 1024u, "Limit of scratch memory, for GPUs.")
      .param("no_bias", &ConvParams::no_bias, false, "Whether there is no bias.")
      .choice<int8_t>("cudnn_tune", &ConvParams::cudnn_tune,
                      {{"None", 0}, {"fastest", 1}, {"limited_workspace", 2}, {"off", 3}}, "None",
                      "How cuDNN picks its algorithm, for GPUs.")
      .param("cudnn_off", &ConvParams::cudnn_off, false, "Whether cuDNN is not used, for GPUs.")
      .choice<Layout>("layout", &ConvParams::layout,
                      layout_choices({Layout::kDefault, Layout::kNCW, Layout::kNCHW, Layout::kNCDHW,
                                      Layout::kNHWC, Layout::kNDHWC}),
                      "None", "Order of the dimensions; channels last is refused.")
      .infer(infer_convolution)
      .cpu(convolution_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet::quantize
