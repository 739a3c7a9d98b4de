// SPDX-License-Identifier: Apache-2.0
// From pixels to what networks read: channels first, between 0 and 1, normalised.
#include "op/image/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "op/image/pixel.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet::image {
namespace {

void to_tensor_cpu(const NoParams&, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const int n = in.ndim();
  const int64_t channels = in.dim(n - 1), pixels = in.dim(n - 3) * in.dim(n - 2);
  if (in.size() == 0) return;
  dispatch_dtype<kNumeric>(in.dtype, "_image_to_tensor", [&]<class T>(TypeTag<T>) {
    parallel_for(
        in.size() / pixels, 2.0 * static_cast<double>(pixels),
        [&](int64_t first, int64_t last) {
          for (int64_t plane = first; plane < last; ++plane) {
            const T* from = in.as<T>() + plane / channels * pixels * channels + plane % channels;
            float* to = out.as<float>() + plane * pixels;
            for (int64_t i = 0; i < pixels; ++i)
              to[i] = static_cast<float>(from[i * channels]) / kWhite;
          }
        },
        1);
  });
}

void infer_to_tensor(const NoParams&, Infer& infer) {
  InferArg data = infer.in(0);
  infer.out(0).set_dtype(DType::kFloat32);
  if (!data.rank_known()) return;
  const int n = data.ndim();
  if (n != 3 && n != 4) data.fail("(height, width, channels) or (batch, height, width, channels)");
  Shape shape = data.shape();
  std::rotate(&shape[n - 3], &shape[n - 1], &shape[n - 1] + 1);
  infer.out(0).set_shape(shape);
}

MX_OP(_image_to_tensor, NoParams)
.doc("Images of 0 to 255, channels last, as float32 of 0 to 1, channels first.")
    .alias("_npx__image_to_tensor")
    .input("data", "(height, width, channels), or a batch of such.")
    .lenient()
    .infer(infer_to_tensor)
    .cpu(to_tensor_cpu)
    .grad([](const NoParams&, Grad& grad) {
      return Gradients{apply("_backward_image_to_tensor", {grad.dout(0), grad.in(0)})};
    });

// The way back, in the type of the images.
MX_OP(_backward_image_to_tensor, NoParams)
.doc("Gradient of _image_to_tensor.")
    .input("dout", "Channels first.")
    .input("data", "Its shape and type are those of the result.")
    .type_only(1)
    .infer([](const NoParams&, Infer& infer) {
      infer.follow(infer_to_tensor, NoParams(), {infer.in(1)}, {infer.in(0)});
      infer.in(0).set_dtype(DType::kFloat32);
      infer.out(0).same_as(infer.in(1));
    })
    .cpu([](const NoParams&, KernelContext& context) {
      const Tensor &in = context.in(0), &out = context.out(0);
      const int n = out.ndim();
      const int64_t channels = out.dim(n - 1), pixels = out.dim(n - 3) * out.dim(n - 2);
      dispatch_dtype<kNumeric>(out.dtype, "_image_to_tensor", [&]<class T>(TypeTag<T>) {
        for (int64_t i = 0; i < out.size(); ++i) {
          const int64_t pixel = i / channels, image = pixel / pixels;
          const int64_t from = (image * channels + i % channels) * pixels + pixel % pixels;
          out.as<T>()[i] = to_pixel<T>(in.as<float>()[from] / kWhite);
        }
      });
    });

// ---- normalize ---------------------------------------------------------------------------------

// y = (x - mean) / std, or its gradient, for which there is no mean.
template <bool gradient>
void normalize_cpu(const NormalizeParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const int n = in.ndim();
  const int64_t channels = in.dim(n - 3), pixels = in.dim(n - 2) * in.dim(n - 1);
  if (in.size() == 0) return;
  dispatch_dtype<kNumeric>(in.dtype, "_image_normalize", [&]<class T>(TypeTag<T>) {
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    parallel_for(
        in.size() / pixels, 2.0 * static_cast<double>(pixels),
        [&](int64_t first, int64_t last) {
          for (int64_t plane = first; plane < last; ++plane) {
            const C mean = gradient ? 0.0f : of_channel(params.mean, plane % channels);
            const C std = of_channel(params.std, plane % channels);
            const T* from = in.as<T>() + plane * pixels;
            T* to = out.as<T>() + plane * pixels;
            for (int64_t i = 0; i < pixels; ++i)
              to[i] = to_pixel<T>((static_cast<C>(from[i]) - mean) / std, true);
          }
        },
        1);
  });
}

void infer_normalize(const NormalizeParams& params, Infer& infer) {
  InferArg data = infer.in(0);
  data.same_as(infer.out(0));
  if (!data.rank_known()) return;
  const int n = data.ndim();
  if (n != 3 && n != 4) data.fail("(channels, height, width) or (batch, channels, height, width)");
  const int64_t channels = data.dim(n - 3);
  if (channels < 0) return;
  if (channels != 1 && channels != 3) data.fail("one or three channels");
  for (const auto* values : {&params.mean, &params.std}) {
    // The default has four, whatever the channels.
    const auto size = static_cast<int64_t>(values->size());
    const bool uniform = std::all_of(values->begin(), values->end(),
                                     [&](float value) { return value == values->front(); });
    if (size != 1 && size != channels && !(size > channels && uniform))
      infer.fail(
          fmt::format("given mean or std of {} numbers, expected one or {}", size, channels));
  }
}

template <bool gradient>
OpBuilder<NormalizeParams> normalize(const char* name) {
  OpBuilder<NormalizeParams> op(name);
  op.input("data", "(channels, height, width), or a batch of such.")
      .param("mean", &NormalizeParams::mean, std::vector<float>{0, 0, 0, 0},
             "What is subtracted from each channel, or from all.")
      .param("std", &NormalizeParams::std, std::vector<float>{1, 1, 1, 1},
             "What each channel is divided by, or all.")
      .inplace(0, 0)
      .dtypes(kNumeric)
      .infer(infer_normalize)
      .cpu(normalize_cpu<gradient>)
      .grad([](const NormalizeParams&, Grad& grad) {
        return Gradients{apply("_backward_image_normalize", {grad.dout(0)}, grad.attrs())};
      });
  return op;
}

[[maybe_unused]] const bool defined = [] {
  normalize<false>("_image_normalize")
      .doc("Images less a mean, divided by a deviation, a number each for every channel.")
      .alias("_npx__image_normalize");
  normalize<true>("_backward_image_normalize").doc("Gradient of _image_normalize.");
  return true;
}();

}  // namespace
}  // namespace mxnet::image
