// SPDX-License-Identifier: Apache-2.0
// Larger images: each number repeated (several inputs joined or summed), or a transposed
// convolution of each channel with a learnt kernel.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "op/length.h"
#include "op/loops/computed.h"
#include "op/moving/row_copy.h"
#include "op/moving/strided_kernels.h"
#include "op/numbered_names.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"
#include "op/spatial/up_sampling.h"

namespace mxnet {
namespace {

// The forward operator's input i is the rule's input `shift` + i.
void infer_up(const UpParams& params, Infer& infer, int shift, InferArg out) {
  infer.one_dtype();
  if (params.scale < 1)
    infer.fail("given scale " + std::to_string(params.scale) + ", expected 1 or more");
  InferArg data = infer.in(shift);
  data.set_shape(Shape{-1, -1, -1, -1});
  if (params.bilinear()) {
    infer.in(shift + 1).set_shape(Shape{data.dim(1), 1, params.kernel(), params.kernel()});
    data.set_dim(1, infer.in(shift + 1).dim(0));
    if (params.num_filter > 0) data.set_dim(1, params.num_filter);
  }
  const Shape& first = data.shape();
  const int64_t height = length::times(first[2], params.scale);
  const int64_t width = length::times(first[3], params.scale);
  // Each dimension for itself: one that nobody knows keeps only its own of the result unknown.
  int64_t channels = first[1];
  for (int i = 1; i < params.num_inputs() && !params.bilinear(); ++i) {
    InferArg other = infer.in(shift + i);
    other.set_shape(Shape{first[0], params.sums() ? channels : -1, -1, -1});
    data.set_dim(0, other.dim(0));
    if (data.known() && other.known() &&
        (other.dim(2) == 0 || other.dim(3) == 0 || height % other.dim(2) != 0 ||
         width % other.dim(3) != 0 || height / other.dim(2) != width / other.dim(3)))
      other.fail("images of which " + std::to_string(height) + " by " + std::to_string(width) +
                 " is a multiple");
    if (params.sums()) {
      data.set_dim(1, other.dim(1));
      channels = first[1];
    } else {
      channels = length::plus(channels, other.dim(1));
    }
  }
  out.set_shape(Shape{first[0], channels, height, width});
}

// fn(start of a line of the input, start in the result of the `scale` lines that it becomes) for
// all of them.
template <class F>
void each_line(const UpPlaced& at, const F& fn) {
  const int64_t s = at.scale;
  parallel_for(
      at.batch * at.channels, static_cast<double>(at.area() * s * s),
      [&](int64_t first, int64_t last) {
        for (int64_t p = first; p < last; ++p) {
          for (int64_t h = 0; h < at.height; ++h) fn(p * at.area() + h * at.width, at.line(p, h));
        }
      },
      1);
}

// Elements of `size` bytes, spread once for all lines that they become.
void repeat_long_lines(const UpPlaced& at, const char* data, char* out, int64_t size) {
  const int64_t s = at.scale, line = at.width * s * size;
  const StridedKernel spread = rows_kernel(size);
  each_line(at, [&](int64_t from, int64_t to) {
    char* const first = out + to * size;
    spread(data + from * size, first, {at.width, size, s * size}, {s, 0, size}, size, false);
    for (int64_t y = 1; y < s; ++y)
      std::memcpy(first + y * line, first, static_cast<std::size_t>(line));
  });
}

// Each of `lines` lines of `bytes` so many times.
void repeat_lines(const char* in, char* out, int64_t bytes, int64_t times, int64_t lines) {
  if (bytes >= 16) {
    if (repeat_rows(in, bytes, out, times * bytes, bytes, times, lines)) return;
    for (int64_t y = 0; y < times; ++y)
      copy_rows(in, bytes, out + y * bytes, times * bytes, bytes, lines);
    return;
  }
  for (int64_t i = 0; i < lines; ++i, in += bytes)
    for (int64_t y = 0; y < times; ++y, out += bytes)
      std::memcpy(out, in, static_cast<std::size_t>(bytes));
}

// The same of several lines at once, which follow each other up to the end of an image: to call
// for a short one takes longer than to spread it.
void repeat(const UpPlaced& at, const char* data, char* out, int64_t size) {
  constexpr int64_t kBuffer = 8192;
  const int64_t s = at.scale, line = at.width * s * size, image = at.channels * at.height;
  const bool wide = s * size >= 16;  // which a call for one line spreads by whole vectors
  if (line > (wide ? 512 : kBuffer / 2)) return repeat_long_lines(at, data, out, size);
  if (line == 0) return;
  const StridedKernel spread = rows_kernel(size);
  parallel_for(
      at.batch * image, static_cast<double>(at.width * s * s),
      [&](int64_t first, int64_t last) {
        alignas(64) std::array<char, kBuffer> lines;
        for (int64_t at_once = 0; first < last; first += at_once) {
          at_once = std::min({last - first, image - first % image, kBuffer / line});
          const int64_t elements = at_once * at.width;
          spread(data + first * at.width * size, lines.data(), {elements, size, s * size},
                 {s, 0, size}, size, false);
          repeat_lines(lines.data(), out + at.line(first / at.height, first % at.height) * size,
                       line, s, at_once);
        }
      },
      1);
}

template <class T>
void add_repeats(const UpPlaced& at, const T* data, T* out) {
  const int64_t s = at.scale, width = at.width;
  each_line(at, [=](int64_t from, int64_t to) {
    for (int64_t y = 0; y < s; ++y, to += width * s) {
      for (int64_t w = 0; w < width; ++w) {
        for (int64_t x = 0; x < s; ++x) out[to + w * s + x] += data[from + w];
      }
    }
  });
}

template <class T>
void sum_repeats(const UpPlaced& at, const T* dout, T* dx) {
  const int64_t s = at.scale, width = at.width;
  std::fill_n(dx, at.batch * at.channels * at.area(), T{0});
  each_line(at, [=](int64_t to, int64_t from) {
    for (int64_t y = 0; y < s; ++y, from += width * s) {
      for (int64_t w = 0; w < width; ++w) {
        for (int64_t x = 0; x < s; ++x) dx[to + w] += dout[from + w * s + x];
      }
    }
  });
}

// fn(index in the image, index in the result, index in the kernel) for all pairs of one plane.
template <class F>
void each_pair(const UpParams& params, int64_t height, int64_t width, const F& fn) {
  const int64_t s = params.scale, kernel = params.kernel(), pad = params.pad();
  for (int64_t h = 0; h < height; ++h) {
    for (int64_t i = 0; i < kernel; ++i) {
      const int64_t y = h * s - pad + i;
      if (y < 0 || y >= height * s) continue;
      for (int64_t w = 0; w < width; ++w) {
        for (int64_t j = 0; j < kernel; ++j) {
          const int64_t x = w * s - pad + j;
          if (x >= 0 && x < width * s) fn(h * width + w, y * width * s + x, i * kernel + j);
        }
      }
    }
  }
}

// Nothing is added: numbers are moved as they are.
void repeat_cpu(const UpParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const auto all = up_places(params, context, 0, out.shape());
  for (std::size_t i = 0; i < all.size(); ++i)
    repeat(all[i], static_cast<const char*>(context.in(static_cast<int>(i)).data),
           static_cast<char*>(out.data), static_cast<int64_t>(dtype_size(out.dtype)));
}

void up_cpu(const UpParams& params, KernelContext& context) {
  if (!params.bilinear() && (!params.sums() || params.num_args == 1))
    return repeat_cpu(params, context);
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    T* out = arrays.out(0);
    const Shape &shape = context.in(0).shape(), &to = context.out(0).shape();
    if (!params.bilinear()) {  // summed
      const auto all = up_places(params, context, 0, to);
      repeat(all[0], reinterpret_cast<const char*>(arrays.in(0)), reinterpret_cast<char*>(out),
             sizeof(T));
      for (std::size_t i = 1; i < all.size(); ++i)
        add_repeats(all[i], arrays.in(static_cast<int>(i)), out);
      return;
    }
    const T *data = arrays.in(0), *weight = arrays.in(1);
    const int64_t area = shape[2] * shape[3], out_area = to[2] * to[3];
    const int64_t kernel = params.kernel() * params.kernel();
    std::fill_n(out, to.size(), T{0});
    parallel_for(
        shape[0] * shape[1], static_cast<double>(area * kernel),
        [&](int64_t first, int64_t last) {
          for (int64_t p = first; p < last; ++p) {
            const T *from = data + p * area, *k = weight + p % shape[1] * kernel;
            T* plane = out + p * out_area;
            each_pair(params, shape[2], shape[3],
                      [&](int64_t i, int64_t o, int64_t at) { plane[o] += from[i] * k[at]; });
          }
        },
        1);
  });
}

// Inputs: gradient of the output, then those of the forward operator.
void up_backward_cpu(const UpParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T* dout = arrays.in(0);
    const Shape &to = context.in(0).shape(), &shape = context.in(1).shape();
    if (!params.bilinear()) {
      const auto all = up_places(params, context, 1, to);
      for (std::size_t i = 0; i < all.size(); ++i)
        sum_repeats(all[i], dout, arrays.out(static_cast<int>(i)));
      return;
    }
    const T *data = arrays.in(1), *weight = arrays.in(2);
    T *ddata = arrays.out(0), *dweight = arrays.out(1);
    const int64_t area = shape[2] * shape[3], out_area = to[2] * to[3];
    const int64_t kernel = params.kernel() * params.kernel(), channels = shape[1];
    std::fill_n(ddata, shape.size(), T{0});
    std::fill_n(dweight, channels * kernel, T{0});
    parallel_for(  // channels: images share kernels
        channels, 2.0 * static_cast<double>(shape[0] * area * kernel),
        [&](int64_t first, int64_t last) {
          for (int64_t c = first; c < last; ++c) {
            const T* k = weight + c * kernel;
            T* dk = dweight + c * kernel;
            for (int64_t p = c; p < shape[0] * channels; p += channels) {
              const T *from = data + p * area, *d = dout + p * out_area;
              T* dx = ddata + p * area;
              each_pair(params, shape[2], shape[3], [&](int64_t i, int64_t o, int64_t at) {
                dx[i] += d[o] * k[at];
                dk[at] += d[o] * from[i];
              });
            }
          }
        },
        1);
  });
}

void declare_params(OpBuilder<UpParams>& op) {
  op.param("scale", &UpParams::scale, "Height and width of the result by those of the first input.")
      .param("num_filter", &UpParams::num_filter, 0, "Channels, for bilinear sampling.")
      .choice("sample_type", &UpParams::sample_type,
              {{"nearest", UpKind::kNearest}, {"bilinear", UpKind::kBilinear}}, nullptr,
              "nearest: repeats; bilinear: a transposed convolution with the second input.")
      .choice("multi_input_mode", &UpParams::multi_input_mode,
              {{"concat", UpJoin::kConcat}, {"sum", UpJoin::kSum}}, "concat",
              "What becomes of several inputs: joined along channels, or summed.")
      .param("num_args", &UpParams::num_args, "Number of inputs.")
      .at_least<int32_t>(1)
      .param("workspace", &UpParams::workspace, 512, "Of GPUs: megabytes of scratch memory.")
      .dtypes(kFloating);
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<UpParams> forward("UpSampling");
  forward.doc("Larger images: repeated numbers, or learnt interpolation.")
      .inputs("data", "Images, (batch, channels, height, width); for bilinear, then the kernels.",
              &UpParams::num_args, "num_args");
  declare_params(forward);
  forward.num_inputs([](const UpParams& params) { return params.num_inputs(); })
      .input_names([](const UpParams& params) {
        return params.bilinear() ? std::vector<std::string>{"data", "weight"}
                                 : numbered_names("arg", params.num_args);
      })
      .infer([](const UpParams& params, Infer& infer) { infer_up(params, infer, 0, infer.out(0)); })
      .cpu(up_cpu)
      .grad([](const UpParams& params, Grad& grad) {
        std::vector<Value> values{grad.dout(0)};
        for (int i = 0; i < params.num_inputs(); ++i) values.push_back(grad.in(i));
        const Value first = mxnet::apply("_backward_UpSampling", values, grad.attrs());
        Gradients result;
        for (int i = 0; i < params.num_inputs(); ++i) result.push_back(output(first, i));
        return result;
      });
  OpBuilder<UpParams> backward("_backward_UpSampling");
  backward.doc("Gradient of UpSampling.")
      .input_list("values", "Gradient of the result, then the inputs of UpSampling.");
  declare_params(backward);
  backward.num_inputs([](const UpParams& params) { return 1 + params.num_inputs(); })
      .outputs([](const UpParams& params) { return params.num_inputs(); })
      .infer([](const UpParams& params, Infer& infer) {
        infer_up(params, infer, 1, infer.in(0));
        for (int i = 0; i < infer.num_out(); ++i) infer.out(i).same_shape(infer.in(1 + i));
      })
      .cpu(up_backward_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet
