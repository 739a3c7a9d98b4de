// SPDX-License-Identifier: Apache-2.0
// im2col lays what a convolution's kernel sees at each place in a column of its own; col2im adds
// the columns up again. Each is the other's gradient. Any number of spatial dimensions.
#include "op/shape/column_image.h"

#include <fmt/format.h>

#include "base/error.h"
#include "op/convert.h"
#include "op/dispatch.h"
#include "op/op_builder.h"
#include "op/parallel.h"
#include "op/window_list.h"

namespace mxnet {
namespace {

// Walks one channel of one image: image (size...) and the columns of it, (kernel positions,
// places).
class ChannelWalk {
 public:
  // `image` has two dimensions before the spatial ones.
  ChannelWalk(const ColumnWindow& params, const Shape& image) : params_(params) {
    for (int i = 0; i < params.spatial(); ++i) {
      size_.push_back(image[i + 2]);
      places_.push_back(params.places(i, image[i + 2]));
    }
  }
  int64_t image_size() const { return size_.size(); }
  int64_t columns_size() const { return params_.kernel.size() * places_.size(); }

  // move(image index, columns index, count, stride in the image) for each run of places in one line
  // that lie inside the image; outside(columns index, count) for the others.
  template <class Move, class Outside>
  void run(const Move& move, const Outside& outside) const {
    const int last = params_.spatial() - 1;
    const int64_t line = places_[last], lines = places_.size() / line;
    int64_t column = 0;
    for (int64_t k = 0; k < params_.kernel.size(); ++k) {
      for (int64_t l = 0; l < lines; ++l, column += line) {
        const int64_t row = line_offset(k, l);
        const int64_t start =
            k % params_.kernel[last] * params_.dilate_of(last) - params_.pad_of(last);
        const int64_t stride = params_.stride_of(last), size = size_[last];
        // Places p with 0 <= start + p * stride < size.
        const int64_t first = start >= 0 ? 0 : std::min(line, (-start + stride - 1) / stride);
        const int64_t end = start >= size ? 0 : std::min(line, (size - 1 - start) / stride + 1);
        if (row < 0 || first >= end) {
          outside(column, line);
          continue;
        }
        outside(column, first);
        move(row + start + first * stride, column + first, end - first, stride);
        outside(column + end, line - end);
      }
    }
  }

 private:
  // Of the image's line that line `l` of places sees at kernel position `k`; -1 outside.
  int64_t line_offset(int64_t k, int64_t l) const {
    const int last = params_.spatial() - 1;
    k /= params_.kernel[last];
    int64_t offset = 0, step = size_[last];
    for (int i = last - 1; i >= 0; --i) {
      const int64_t at = l % places_[i] * params_.stride_of(i) +
                         k % params_.kernel[i] * params_.dilate_of(i) - params_.pad_of(i);
      if (at < 0 || at >= size_[i]) return -1;
      l /= places_[i];
      k /= params_.kernel[i];
      offset += at * step;
      step *= size_[i];
    }
    return offset;
  }

  const ColumnWindow& params_;
  Shape size_ = Shape::scalar(), places_ = Shape::scalar();
};

// T has the size of the elements: they are only moved, and zeros are bytes of 0 in every type.
template <class T>
void columns_of(const ColumnWindow& params, const Tensor& image, const Tensor& columns) {
  const ChannelWalk walk(params, image.shape());
  const int64_t size = walk.image_size(), out_size = walk.columns_size();
  parallel_for(
      image.dim(0) * image.dim(1), static_cast<double>(out_size),
      [&](int64_t first, int64_t last) {
        for (int64_t c = first; c < last; ++c) {
          const T* from = image.as<T>() + c * size;
          T* to = columns.as<T>() + c * out_size;
          walk.run(
              [&](int64_t at, int64_t column, int64_t n, int64_t stride) {
                if (stride == 1) {
                  std::copy_n(from + at, n, to + column);
                } else {
                  for (int64_t i = 0; i < n; ++i) to[column + i] = from[at + i * stride];
                }
              },
              [&](int64_t column, int64_t n) { std::fill_n(to + column, n, T{}); });
        }
      },
      1);
}

void to_columns(const ColumnWindow& params, const Tensor& image, const Tensor& columns) {
  switch (dtype_size(image.dtype)) {
    case 1:
      return columns_of<uint8_t>(params, image, columns);
    case 2:
      return columns_of<uint16_t>(params, image, columns);
    case 4:
      return columns_of<uint32_t>(params, image, columns);
    default:
      return columns_of<uint64_t>(params, image, columns);
  }
}

void to_image(const ColumnWindow& params, const Tensor& columns, const Tensor& image,
              KernelContext& context) {
  const ChannelWalk walk(params, image.shape());
  const int64_t size = walk.image_size(), in_size = walk.columns_size();
  const int64_t channels = image.dim(0) * image.dim(1);
  dispatch_dtype<kNumeric>(image.dtype, "col2im", [&]<class T>(TypeTag<T>) {
    using Sum = ComputeType<T>;
    // Half types are added up in float.
    Sum* sums = nullptr;
    if constexpr (std::is_same_v<T, Sum>) {
      sums = image.as<T>();
    } else {
      sums = context.workspace_of<Sum>(channels * size);
    }
    parallel_for(
        channels, static_cast<double>(in_size),
        [&](int64_t first, int64_t last) {
          for (int64_t c = first; c < last; ++c) {
            const T* from = columns.as<T>() + c * in_size;
            Sum* to = sums + c * size;
            std::fill_n(to, size, Sum{0});
            walk.run(
                [&](int64_t at, int64_t column, int64_t n, int64_t stride) {
                  for (int64_t i = 0; i < n; ++i)
                    to[at + i * stride] += convert<Sum>(from[column + i]);
                },
                [](int64_t, int64_t) {});
            if constexpr (!std::is_same_v<T, Sum>) {
              for (int64_t i = 0; i < size; ++i) image.as<T>()[c * size + i] = convert<T>(to[i]);
            }
          }
        },
        1);
  });
}

void check_window(const ColumnWindow& params, Infer& infer) {
  if (params.spatial() < 1) infer.fail("given no kernel, expected its size in each dimension");
  check_window_list("kernel", params.kernel, 1, params.spatial(), infer);
  check_window_list("stride", params.stride, 1, params.spatial(), infer);
  check_window_list("dilate", params.dilate, 1, params.spatial(), infer);
  check_window_list("pad", params.pad, 0, params.spatial(), infer);
}

// Places of the kernel in an image with these spatial dimensions.
int64_t count_places(const ColumnWindow& params, std::span<const int64_t> size, Infer& infer) {
  int64_t places = 1;
  for (int i = 0; i < params.spatial(); ++i) {
    const int64_t along = params.places(i, size[static_cast<std::size_t>(i)]);
    if (along < 1 || size[static_cast<std::size_t>(i)] < 1)
      infer.in(0).fail(fmt::format("an image that holds the kernel in spatial dimension {}", i));
    places *= along;
  }
  return places;
}

void infer_columns(const ColumnWindow& params, Infer& infer) {
  check_window(params, infer);
  InferArg image = infer.in(0);
  image.same_dtype(infer.out(0));
  if (!image.known()) return;
  if (image.ndim() != params.spatial() + 2)
    image.fail(fmt::format("{} dimensions: batch, channels and as many as the kernel has",
                           params.spatial() + 2));
  const int64_t places = count_places(params, image.shape().dims().subspan(2), infer);
  infer.out(0).set_shape({image.dim(0), image.dim(1) * params.kernel.size(), places});
}

void infer_image(const ColumnWindow& params, Infer& infer) {
  check_window(params, infer);
  if (params.output_size.ndim() != params.spatial()) {
    infer.fail(fmt::format("given output_size {}, expected as many numbers as kernel {} has",
                           to_string(params.output_size), to_string(params.kernel)));
  }
  InferArg columns = infer.in(0);
  columns.same_dtype(infer.out(0));
  if (!columns.known()) return;
  const int64_t places = count_places(params, params.output_size.dims(), infer);
  if (columns.ndim() != 3 || columns.dim(1) % params.kernel.size() != 0 ||
      columns.dim(2) != places) {
    columns.fail(fmt::format("shape (batch, a multiple of {}, {})", params.kernel.size(), places));
  }
  Shape image{columns.dim(0), columns.dim(1) / params.kernel.size()};
  for (const int64_t size : params.output_size) image.push_back(size);
  infer.out(0).set_shape(image);
}

void declare_window(OpBuilder<ColumnWindow>& op) {
  op.param("kernel", &ColumnWindow::kernel, "Size of the kernel.");
  op.param("stride", &ColumnWindow::stride, Shape::scalar(),
           "Distance of its places; 1 by default.");
  op.param("dilate", &ColumnWindow::dilate, Shape::scalar(),
           "Distance of what it sees; 1 by default.");
  op.param("pad", &ColumnWindow::pad, Shape::scalar(), "Zeros around the image; none by default.");
}

Attrs without_output_size(const Attrs& attrs) {
  Attrs result;
  for (const auto& attr : attrs)
    if (attr.first != "output_size") result.push_back(attr);
  return result;
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<ColumnWindow> im2col("im2col");
  im2col.doc("What a kernel sees at each of its places, as columns.")
      .input("data", "Images of shape (batch, channels, spatial dimensions...).");
  declare_window(im2col);
  im2col.dtypes(kNumeric)
      .infer(infer_columns)
      .cpu([](const ColumnWindow& p, KernelContext& context) {
        to_columns(p, context.in(0), context.out(0));
      })
      .grad([](const ColumnWindow&, Grad& grad) {
        return Gradients{apply("_backward_im2col", {grad.dout(0), grad.in(0)}, grad.attrs())};
      });

  OpBuilder<ColumnWindow> back("_backward_im2col");
  back.doc("Gradient of im2col.")
      .input("head_grad", "Gradient of the columns.")
      .input("data", "The images; only their shape matters.");
  declare_window(back);
  back.type_only(1)
      .dtypes(kNumeric)
      .infer([](const ColumnWindow&, Infer& infer) {
        infer.out(0).same_shape(infer.in(1));
        infer.out(0).same_dtype(infer.in(0));
      })
      .cpu([](const ColumnWindow& p, KernelContext& context) {
        to_image(p, context.in(0), context.out(0), context);
      })
      .grad([](const ColumnWindow&, Grad& grad) {
        return Gradients{apply("im2col", {grad.dout(0)}, grad.attrs()), Value()};
      });

  OpBuilder<ColumnWindow> col2im("col2im");
  col2im.doc("Images to which columns add up.")
      .input("data", "Columns as im2col gives them.")
      .param("output_size", &ColumnWindow::output_size, "Spatial dimensions of the images.");
  declare_window(col2im);
  col2im.dtypes(kNumeric)
      .infer(infer_image)
      .cpu([](const ColumnWindow& p, KernelContext& context) {
        to_image(p, context.in(0), context.out(0), context);
      })
      .grad([](const ColumnWindow&, Grad& grad) {
        return Gradients{apply("im2col", {grad.dout(0)}, without_output_size(grad.attrs()))};
      });
  return true;
}();

}  // namespace
}  // namespace mxnet
