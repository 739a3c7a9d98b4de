// SPDX-License-Identifier: Apache-2.0
// Images in another size, bilinearly interpolated. The gradient's sums go the other way.
#include <algorithm>
#include <optional>
#include <vector>

#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"
#include "op/spatial/bilinear_resize.h"

namespace mxnet {
namespace {

// Size of the result along one axis; -1 where it comes from `like`.
int64_t resized(ResizeMode mode, int64_t size, int64_t given, const std::optional<float>& scale) {
  const bool odd = size % 2 != 0;
  const auto scaled = [&](int64_t n) {
    return static_cast<int64_t>(static_cast<float>(n) * scale.value_or(1.0f));
  };
  switch (mode) {
    case ResizeMode::kSize:
      return scale ? scaled(size) : given;
    case ResizeMode::kOddScale:
      return odd ? scaled(size - 1) + 1 : scaled(size);
    case ResizeMode::kLike:
      return -1;
    case ResizeMode::kEvenDown:
      return odd ? size - 1 : size;
    case ResizeMode::kEvenUp:
      return odd ? size + 1 : size;
    case ResizeMode::kOddDown:
      return odd ? size : size - 1;
    case ResizeMode::kOddUp:
      return odd ? size : size + 1;
  }
  return -1;
}

void infer_resize(const ResizeParams& params, Infer& infer, InferArg data, InferArg out) {
  infer.one_dtype();
  data.set_shape(Shape{-1, -1, -1, -1});
  if (!data.known()) return;
  const Shape& shape = data.shape();
  if (shape[2] == 0 || shape[3] == 0) data.fail("images of one pixel or more");
  int64_t height = resized(params.mode, shape[2], params.height, params.scale_height);
  int64_t width = resized(params.mode, shape[3], params.width, params.scale_width);
  if (params.mode == ResizeMode::kLike) {
    InferArg like = infer.in(infer.num_in() - 1);
    like.set_shape(Shape{-1, -1, -1, -1});
    height = like.dim(2);
    width = like.dim(3);
    if (height < 0 || width < 0) return;
  }
  if (height < 1 || width < 1)
    infer.fail("given parameters for " + std::to_string(height) + " by " + std::to_string(width) +
               " places, expected one or more along each axis");
  out.set_shape(Shape{shape[0], shape[1], height, width});
}

template <class T>
std::vector<ResizeTap<T>> taps(int64_t in, int64_t out, bool align_corners) {
  std::vector<ResizeTap<T>> result;
  for (int64_t i = 0; i < out; ++i) result.emplace_back(i, in, out, align_corners);
  return result;
}

// fn(plane, index in its image, index in its result, weight) for all that has a part in each other.
template <class T, class F>
void each_tap(const ResizeParams& params, const Shape& in, const Shape& out, double cost,
              const F& fn) {
  const auto rows = taps<T>(in[2], out[2], params.align_corners);
  const auto columns = taps<T>(in[3], out[3], params.align_corners);
  parallel_for(
      in[0] * in[1], cost * static_cast<double>(out[2] * out[3]),
      [&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; ++p) {
          int64_t at = 0;
          for (const ResizeTap<T>& y : rows) {
            for (const ResizeTap<T>& x : columns) fn(p, y, x, at++);
          }
        }
      },
      1);
}

void resize_cpu(const ResizeParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = arrays.in(0);
    T* out = arrays.out(0);
    const Shape &in = context.in(0).shape(), &to = context.out(0).shape();
    const int64_t area = in[2] * in[3], width = in[3], out_area = to[2] * to[3];
    each_tap<T>(params, in, to, 4,
                [&](int64_t p, const ResizeTap<T>& y, const ResizeTap<T>& x, int64_t at) {
                  const T *top = data + p * area + y.low * width,
                          *bottom = data + p * area + y.high * width;
                  out[p * out_area + at] = blend(y, x, top, bottom);
                });
  });
}

// Inputs: gradient of the output, data (its shape), [like].
void resize_backward_cpu(const ResizeParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T* dout = arrays.in(0);
    T* dx = arrays.out(0);
    const Shape &in = context.out(0).shape(), &to = context.in(0).shape();
    const int64_t area = in[2] * in[3], width = in[3], out_area = to[2] * to[3];
    std::fill_n(dx, context.out(0).size(), T{0});
    if (params.mode == ResizeMode::kLike) std::fill_n(arrays.out(1), context.out(1).size(), T{0});
    each_tap<T>(params, in, to, 8,
                [&](int64_t p, const ResizeTap<T>& y, const ResizeTap<T>& x, int64_t at) {
                  T *top = dx + p * area + y.low * width, *bottom = dx + p * area + y.high * width;
                  const T d = dout[p * out_area + at];
                  top[x.low] += d * (1 - y.weight) * (1 - x.weight);
                  top[x.high] += d * (1 - y.weight) * x.weight;
                  bottom[x.low] += d * y.weight * (1 - x.weight);
                  bottom[x.high] += d * y.weight * x.weight;
                });
  });
}

OpBuilder<ResizeParams> with_params(const char* name) {
  OpBuilder<ResizeParams> op(name);
  op.param("height", &ResizeParams::height, 1, "Height of the result, in mode size.")
      .param("width", &ResizeParams::width, 1, "Width of the result, in mode size.")
      .param("scale_height", &ResizeParams::scale_height, std::nullopt,
             "Height of the result by that of the image; before height.")
      .param("scale_width", &ResizeParams::scale_width, std::nullopt,
             "Width of the result by that of the image; before width.")
      .choice("mode", &ResizeParams::mode,
              {{"size", ResizeMode::kSize},
               {"odd_scale", ResizeMode::kOddScale},
               {"like", ResizeMode::kLike},
               {"to_even_down", ResizeMode::kEvenDown},
               {"to_even_up", ResizeMode::kEvenUp},
               {"to_odd_down", ResizeMode::kOddDown},
               {"to_odd_up", ResizeMode::kOddUp}},
              "size", "What the size of the result follows.")
      .param("align_corners", &ResizeParams::align_corners, true,
             "Whether the centres of the corners stay where they are; else the edges do.")
      .dtypes(kFloating);
  return op;
}

[[maybe_unused]] const bool defined = [] {
  with_params("_contrib_BilinearResize2D")
      .doc("Images in another size.")
      .input("data", "Images, (batch, channels, height, width).")
      .input("like", "An array of the wanted height and width, in mode like.")
      .num_inputs([](const ResizeParams& params) { return params.num_inputs(); })
      .type_only(1)
      .infer([](const ResizeParams& params, Infer& infer) {
        infer_resize(params, infer, infer.in(0), infer.out(0));
      })
      .cpu(resize_cpu)
      .grad([](const ResizeParams& params, Grad& grad) {
        std::vector<Value> values{grad.dout(0)};
        for (int i = 0; i < params.num_inputs(); ++i) values.push_back(grad.in(i));
        const Value first =
            mxnet::apply("_backward_contrib_BilinearResize2D", values, grad.attrs());
        Gradients result{first};
        if (params.mode == ResizeMode::kLike) result.push_back(output(first, 1));
        return result;
      });
  with_params("_backward_contrib_BilinearResize2D")
      .doc("Gradient of _contrib_BilinearResize2D.")
      .input("dout", "Gradient of the result.")
      .input("data", "Images, of which only the shape matters.")
      .input("like", "An array of the wanted height and width.")
      .num_inputs([](const ResizeParams& params) { return 1 + params.num_inputs(); })
      .outputs([](const ResizeParams& params) { return params.num_inputs(); })
      .type_only(1)
      .type_only(2)
      .infer([](const ResizeParams& params, Infer& infer) {
        infer_resize(params, infer, infer.in(1), infer.in(0));
        for (int i = 0; i < infer.num_out(); ++i) infer.out(i).same_shape(infer.in(1 + i));
      })
      .cpu(resize_backward_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet
