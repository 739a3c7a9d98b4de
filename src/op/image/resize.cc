// SPDX-License-Identifier: Apache-2.0
// Operators that change the size of images.
#include <fmt/format.h>

#include <type_traits>

#include "base/error.h"
#include "op/image/resample.h"
#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/parallel.h"
#include "op/run/read_back.h"

namespace mxnet::image {
namespace {

// (..., height, width, channels).
void resize_cpu(Interpolation how, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const int n = in.ndim();
  const int64_t height = in.dim(n - 3), width = in.dim(n - 2), channels = in.dim(n - 1);
  const int64_t new_height = out.dim(n - 3), new_width = out.dim(n - 2);
  if (out.size() == 0) return;
  if (gpu_table(context) != nullptr) return resample_on_gpu(how, context);
  const bool shrinks = new_height <= height && new_width <= width;
  const Taps rows = make_taps(how, height, new_height, shrinks);
  const Taps columns = make_taps(how, width, new_width, shrinks);
  dispatch_dtype<kNumeric>(in.dtype, "resize", [&]<class T>(TypeTag<T>) {
    const int64_t images = out.size() / (new_height * new_width * channels);
    const double cost = static_cast<double>(new_height * new_width * channels) *
                        static_cast<double>(rows.width + columns.width);
    const auto resize = [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const T* const from = in.as<T>() + i * height * width * channels;
        T* const to = out.as<T>() + i * new_height * new_width * channels;
        if constexpr (std::is_same_v<T, uint8_t>) {
          if (resample_bytes(how, from, channels, height, width, new_height, new_width, to))
            continue;
        }
        resample(from, channels, rows, columns, width, to);
      }
    };
    // An image that is worth several threads is divided by its rows.
    if (threads_for(new_height, cost / static_cast<double>(new_height)) > 1)
      return resize(0, images);
    parallel_for(images, cost, resize, 1);
  });
}

void expect_interpolation(int32_t interp, Infer& infer) {
  if (interp < 0 || interp > 4)
    infer.fail(fmt::format(
        "given interp {}, expected 0 (nearest), 1 (linear), 2 (cubic), 3 (area) or 4 (Lanczos)",
        interp));
}

void expect_size(InferArg data) {
  for (int i = data.ndim() - 3; i < data.ndim() - 1; ++i) {
    if (data.dim(i) == 0) data.fail("an image that is not empty");
  }
}

// ---- _image_resize -----------------------------------------------------------------------------

struct ResizeParams {
  Shape size;  // (width, height), or one number for both or for the shorter side
  bool keep_ratio;
  int32_t interp;
};

void infer_resize(const ResizeParams& params, Infer& infer) {
  expect_interpolation(params.interp, infer);
  if (params.size.ndim() != 1 && params.size.ndim() != 2)
    infer.fail("given size " + to_string(params.size) + ", expected one or two numbers");
  for (const int64_t side : params.size) {
    if (side <= 0)
      infer.fail("given size " + to_string(params.size) + ", expected numbers above 0");
  }
  InferArg data = infer.in(0);
  infer.one_dtype();
  if (!data.rank_known()) return;
  const int n = data.ndim();
  if (n != 3 && n != 4) data.fail("(height, width, channels) or (batch, height, width, channels)");
  expect_size(data);
  int64_t width = params.size[0], height = params.size[params.size.ndim() - 1];
  if (params.size.ndim() == 1 && params.keep_ratio) {
    const int64_t old_height = data.dim(n - 3), old_width = data.dim(n - 2);
    if (old_height < 0 || old_width < 0) return;
    if (old_height > old_width) {
      height = old_height * width / old_width;
    } else {
      width = old_width * height / old_height;
    }
  }
  Shape shape = data.shape();
  shape[n - 3] = height;
  shape[n - 2] = width;
  infer.out(0).set_shape(shape);
}

MX_OP(_image_resize, ResizeParams)
.doc("Images in another size.")
    .alias("_npx__image_resize")
    .input("data", "(height, width, channels), or a batch of such.")
    .param("size", &ResizeParams::size, Shape::scalar(),
           "Width and height of the result, or one number for both.")
    .param("keep_ratio", &ResizeParams::keep_ratio, false,
           "Whether one number is the shorter side and the other follows.")
    .param("interp", &ResizeParams::interp, 1, "0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos.")
    .dtypes(kNumeric)
    .infer(infer_resize)
    .cpu([](const ResizeParams& params, KernelContext& context) {
      resize_cpu(static_cast<Interpolation>(params.interp), context);
    });

// ---- _cvimresize -------------------------------------------------------------------------------

struct CvResizeParams {
  int32_t w, h, interp;
};

MX_OP(_cvimresize, CvResizeParams)
.doc("An image in another size.")
    .alias("_npi_cvimresize")
    .array_input("src", "(height, width, channels).")
    // What networks have always called it.
    .input_names([](const CvResizeParams&) { return std::vector<std::string>{"data"}; })
    .param("w", &CvResizeParams::w, "Width of the result.")
    .param("h", &CvResizeParams::h, "Height of the result.")
    .param("interp", &CvResizeParams::interp, 1, "0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos.")
    .dtypes(kNumeric)
    .infer([](const CvResizeParams& params, Infer& infer) {
      expect_interpolation(params.interp, infer);
      if (params.w < 1 || params.h < 1)
        infer.fail(fmt::format("given {} x {}, expected w and h above 0", params.w, params.h));
      infer.one_dtype();
      infer.in(0).set_shape(Shape::unknown(3));
      expect_size(infer.in(0));
      infer.out(0).set_shape({params.h, params.w, infer.in(0).dim(2)});
    })
    .cpu([](const CvResizeParams& params, KernelContext& context) {
      resize_cpu(static_cast<Interpolation>(params.interp), context);
    });

// Lists of places and weights go to the device, which the host waits for.
[[maybe_unused]] const bool portable = mark_portable_waiting({"_image_resize", "_cvimresize"});

}  // namespace
}  // namespace mxnet::image
