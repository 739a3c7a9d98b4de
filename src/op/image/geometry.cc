// SPDX-License-Identifier: Apache-2.0
// Operators that move pixels: crop, flip, border.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "op/generators/random_draws.h"
#include "op/generators/random_streams.h"
#include "op/image/border.h"
#include "op/image/pixel.h"
#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/fill.h"
#include "op/run/primitives.h"

namespace mxnet::image {
namespace {

// ---- crop --------------------------------------------------------------------------------------

struct CropParams {
  int32_t x, y, width, height;
};

void expect_images(InferArg data) {
  if (data.rank_known() && data.ndim() != 3 && data.ndim() != 4)
    data.fail("(height, width, channels) or (batch, height, width, channels)");
}

// Steps through `box` inside of `whole`.
StridedPlan crop_plan(const CropParams& params, const Shape& whole, const Shape& box) {
  const RowMajorSteps in_steps(whole), out_steps(box);
  const int n = whole.ndim();
  StridedPlan plan;
  plan.in_offset = params.y * in_steps[n - 3] + params.x * in_steps[n - 2];
  for (int i = 0; i < n; ++i) plan.add(box[i], in_steps[i], out_steps[i]);
  return plan;
}

void infer_crop(const CropParams& params, Infer& infer, InferArg whole, InferArg box) {
  whole.same_dtype(box);
  expect_images(whole);
  if (params.width < 1 || params.height < 1)
    infer.fail(fmt::format("given width {} and height {}, expected both above 0", params.width,
                           params.height));
  if (!whole.rank_known()) return;
  const int n = whole.ndim();
  const auto inside = [](int64_t start, int64_t size, int64_t extent) {
    return start >= 0 && (extent < 0 || start + size <= extent);
  };
  if (!inside(params.x, params.width, whole.dim(n - 2)) ||
      !inside(params.y, params.height, whole.dim(n - 3))) {
    whole.fail(fmt::format("an image that has the box of {} x {} at ({}, {})", params.width,
                           params.height, params.x, params.y));
  }
  Shape shape = whole.shape();
  shape[n - 3] = params.height;
  shape[n - 2] = params.width;
  box.set_shape(shape);
}

OpBuilder<CropParams> crop(const char* name) {
  OpBuilder<CropParams> op(name);
  op.param("x", &CropParams::x, "Left edge of the box.")
      .param("y", &CropParams::y, "Upper edge of the box.")
      .param("width", &CropParams::width, "Width of the box.")
      .param("height", &CropParams::height, "Height of the box.");
  return op;
}

// ---- flips -------------------------------------------------------------------------------------

// axis counts from the end: 2 is the width, 3 the height.
void flip(KernelContext& context, int axis) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const RowMajorSteps steps(in.shape());
  const int flipped = in.ndim() - axis;
  StridedPlan plan;
  for (int i = 0; i < in.ndim(); ++i) {
    const bool backwards = i == flipped && in.dim(i) > 0;
    if (backwards) plan.in_offset = (in.dim(i) - 1) * steps[i];
    plan.add(in.dim(i), backwards ? -steps[i] : steps[i], steps[i]);
  }
  copy_strided(context, plan, in.data, out.data, dtype_size(in.dtype));
}

void infer_flip(const NoParams&, Infer& infer) {
  infer.in(0).same_as(infer.out(0));
  expect_images(infer.in(0));
}

template <int axis>
void define_flips(const char* name, const char* random) {
  static const char* const itself = name;
  OpBuilder<NoParams>(name)
      .doc("Images seen in a mirror.")
      .alias((std::string("_npx_") + name).c_str())
      .input("data", "(height, width, channels), or a batch of such.")
      .lenient()
      .infer(infer_flip)
      .cpu([](const NoParams&, KernelContext& context) { flip(context, axis); })
      .grad([](const NoParams&, Grad& grad) { return Gradients{apply(itself, {grad.dout(0)})}; });
  OpBuilder<NoParams>(random)
      .doc("Images seen in a mirror, or not, by the toss of a coin.")
      .alias((std::string("_npx_") + random).c_str())
      .input("data", "(height, width, channels), or a batch of such.")
      .lenient()
      .uses_random()
      .infer(infer_flip)
      .cpu([](const NoParams&, KernelContext& context) {
        const Tensor &in = context.in(0), &out = context.out(0);
        Draws draws(RandomStreams::of(context.device()).sequential());
        if (draws.uniform<double>() >= 0.5) return flip(context, axis);
        copy_memory(context, in.data, out.data,
                    static_cast<std::size_t>(in.size()) * dtype_size(in.dtype));
      });
}

[[maybe_unused]] const bool defined = [] {
  define_flips<2>("_image_flip_left_right", "_image_random_flip_left_right");
  define_flips<3>("_image_flip_top_bottom", "_image_random_flip_top_bottom");
  crop("_image_crop")
      .doc("A box out of images.")
      .alias("_npx__image_crop")
      .input("data", "(height, width, channels), or a batch of such.")
      .infer([](const CropParams& params, Infer& infer) {
        infer_crop(params, infer, infer.in(0), infer.out(0));
      })
      .cpu([](const CropParams& params, KernelContext& context) {
        const Tensor &in = context.in(0), &out = context.out(0);
        copy_strided(context, crop_plan(params, in.shape(), out.shape()), in.data, out.data,
                     dtype_size(in.dtype));
      })
      .grad([](const CropParams&, Grad& grad) {
        return Gradients{apply("_backward_image_crop", {grad.dout(0), grad.in(0)}, grad.attrs())};
      });
  crop("_backward_image_crop")
      .doc("A box in images of zeros.")
      .input("dout", "The box.")
      .input("data", "Its shape is that of the images.")
      .type_only(1)
      .infer([](const CropParams& params, Infer& infer) {
        infer_crop(params, infer, infer.in(1), infer.in(0));
        infer.out(0).same_as(infer.in(1));
      })
      .cpu([](const CropParams& params, KernelContext& context) {
        const Tensor &box = context.in(0), &out = context.out(0);
        clear_memory(context, out.data,
                     static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
        copy_strided(context, crop_plan(params, out.shape(), box.shape()).reversed(), box.data,
                     out.data, dtype_size(out.dtype));
      })
      .grad([](const CropParams&, Grad& grad) {
        return Gradients{apply("_image_crop", {grad.dout(0)}, grad.attrs()), Value()};
      });
  return mark_portable({"_image_crop", "_backward_image_crop", "_image_flip_left_right",
                        "_image_flip_top_bottom", "_image_random_flip_left_right",
                        "_image_random_flip_top_bottom"});
}();

// ---- border ------------------------------------------------------------------------------------

// The constant border, as many pixels as it is wide.
std::vector<char> constant_line(int64_t width, const BorderParams& params, int64_t channels,
                                DType dtype) {
  std::vector<char> pixel, line;
  dispatch_dtype<kNumeric>(dtype, "_cvcopyMakeBorder", [&]<class T>(TypeTag<T>) {
    for (int64_t c = 0; c < channels; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const double given = at < params.values.size() ? params.values[at] : 0;
      const T value = to_pixel<T>(params.values.empty() ? params.value : given);
      const auto* const bytes = reinterpret_cast<const char*>(&value);
      pixel.insert(pixel.end(), bytes, bytes + sizeof(T));
    }
  });
  for (int64_t x = 0; x < width; ++x) line.insert(line.end(), pixel.begin(), pixel.end());
  return line;
}

void border_cpu(const BorderParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const int64_t width = in.dim(1), new_width = out.dim(1);
  const auto bytes = in.dim(2) * static_cast<int64_t>(dtype_size(in.dtype));  // of a pixel
  const std::vector<char> constant = constant_line(new_width, params, in.dim(2), in.dtype);
  char* to = out.as<char>();
  for (int64_t y = 0; y < out.dim(0); ++y) {
    const int64_t row = pixel_at(y - params.top, in.dim(0), params.type);
    const char* const from = row < 0 ? nullptr : in.as<char>() + row * width * bytes;
    const auto border = [&](int64_t first, int64_t last) {
      if (row < 0 || params.type == kConstant) {
        to = std::copy_n(constant.data(), (last - first) * bytes, to);
        return;
      }
      for (int64_t x = first; x < last; ++x)
        to = std::copy_n(from + pixel_at(x, width, params.type) * bytes, bytes, to);
    };
    const int64_t inside = row < 0 ? 0 : width;
    border(-params.left, 0);
    to = std::copy_n(from, inside * bytes, to);
    border(inside, new_width - params.left);
  }
}

MX_OP(_cvcopyMakeBorder, BorderParams)
.doc("An image with a border around it.")
    .array_input("src", "(height, width, channels).")
    // What networks have always called it.
    .input_names([](const BorderParams&) { return std::vector<std::string>{"data"}; })
    .param("top", &BorderParams::top, "Rows above.")
    .param("bot", &BorderParams::bottom, "Rows below.")
    .param("left", &BorderParams::left, "Columns to the left.")
    .param("right", &BorderParams::right, "Columns to the right.")
    .param("type", &BorderParams::type, 0,
           "0 a constant, 1 the edge, 2 a mirror, 3 the other side, 4 a mirror in the edge.")
    .param("value", &BorderParams::value, 0.0, "The constant, of all channels.")
    .param("values", &BorderParams::values, std::vector<double>{},
           "Constants of the channels, 0 for those without; before value.")
    .dtypes(kNumeric)
    .infer([](const BorderParams& params, Infer& infer) {
      infer.one_dtype();
      if (params.type < kConstant || params.type > kReflect101)
        infer.fail(fmt::format("given type {}, expected 0 to 4", params.type));
      if (std::min({params.top, params.bottom, params.left, params.right}) < 0)
        infer.fail("given a border below 0, expected 0 or more");
      InferArg src = infer.in(0);
      src.set_shape(Shape::unknown(3));
      if (!src.known()) return;
      if (params.type != kConstant && (src.dim(0) == 0 || src.dim(1) == 0))
        src.fail("an image that is not empty");
      infer.out(0).set_shape({src.dim(0) + params.top + params.bottom,
                              src.dim(1) + params.left + params.right, src.dim(2)});
    })
    .cpu(border_cpu);

}  // namespace
}  // namespace mxnet::image
