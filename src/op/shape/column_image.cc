// SPDX-License-Identifier: Apache-2.0
// im2col lays what a convolution's kernel sees at each place in a column of its own; col2im adds
// the columns up again. Each is the other's gradient. Any number of spatial dimensions.
#include "op/shape/column_image.h"

#include <fmt/format.h>

#include "base/error.h"
#include "op/loops/convert.h"
#include "op/moving/row_copy.h"
#include "op/op_builder.h"
#include "op/rows/row_math.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"
#include "op/windows/window_list.h"

namespace mxnet {
namespace {

// Of the places along a dimension those whose pixel lies inside of the image, and that of the
// first.
struct Seen {
  int64_t first, end, pixel;
  bool empty() const { return first >= end; }
};

// What a kernel position sees at the places of one plane of the two last dimensions: `rows` lines
// of the image, and where they come in the columns.
struct Block {
  int64_t plane;       // of the columns: all of its places
  bool has_outside;    // some of which lie outside of the image
  int64_t at, column;  // of the first element in the image and in the columns
  int64_t rows, row_step;
  int64_t count, stride;  // of each row

  // fn(image index, columns index) of the elements at the beginning of each row.
  template <class F>
  void each_row(int64_t line, const F& fn) const {
    for (int64_t r = 0; r < rows; ++r) fn(at + r * row_step, column + r * line);
  }
};

// Walks one channel of one image: image (size...) and the columns of it, (kernel positions,
// places). Its loops are compiled once for all types of elements.
class ChannelWalk {
 public:
  // `image` has two dimensions before the spatial ones.
  [[gnu::noinline]] ChannelWalk(const ColumnWindow& params, const Shape& image)
      : params_(params), last_(params.spatial() - 1) {
    for (int i = 0; i <= last_; ++i) {
      size_.push_back(image[i + 2]);
      places_.push_back(params.places(i, image[i + 2]));
    }
    plane_ = line() * (last_ > 0 ? places_[last_ - 1] : 1);
    planes_ = places_.size() / plane_;
  }
  int64_t image_size() const { return size_.size(); }
  int64_t columns_size() const { return params_.kernel.size() * places_.size(); }
  int64_t line() const { return places_[last_]; }
  int64_t plane() const { return plane_; }

  void restart() { k_ = p_ = column_ = 0; }
  // The next one; false at the end.
  [[gnu::noinline]] bool next(Block* block) {
    if (p_ == planes_) {
      p_ = 0;
      ++k_;
    }
    if (k_ == params_.kernel.size()) return false;
    const int64_t above = k_ / params_.kernel[last_];
    if (p_ == 0) {
      along_ = seen(last_, k_ % params_.kernel[last_]);
      down_ = last_ > 0 ? seen(last_ - 1, above % params_.kernel[last_ - 1]) : Seen{0, 1, 0};
    }
    const int64_t offset = plane_offset(above, p_);
    const bool none = offset < 0 || along_.empty() || down_.empty();
    block->plane = column_;
    block->rows = none ? 0 : down_.end - down_.first;
    block->count = along_.end - along_.first;
    block->has_outside = block->rows * block->count < plane_;
    block->at = offset + down_.pixel * size_[last_] + along_.pixel;
    block->column = column_ + down_.first * line() + along_.first;
    block->row_step = last_ > 0 ? params_.stride_of(last_ - 1) * size_[last_] : 0;
    block->stride = params_.stride_of(last_);
    ++p_;
    column_ += plane_;
    return true;
  }

 private:
  // Places p with 0 <= start + p * stride < size.
  Seen seen(int i, int64_t position) const {
    const int64_t start = position * params_.dilate_of(i) - params_.pad_of(i);
    const int64_t stride = params_.stride_of(i), size = size_[i], places = places_[i];
    const int64_t first = start >= 0 ? 0 : std::min(places, (-start + stride - 1) / stride);
    const int64_t end = start >= size ? 0 : std::min(places, (size - 1 - start) / stride + 1);
    return {first, end, start + first * stride};
  }

  // Of the image's plane that plane `p` of places sees at kernel position `k`, counted without the
  // last dimension; -1 outside.
  int64_t plane_offset(int64_t k, int64_t p) const {
    if (last_ < 2) return 0;
    k /= params_.kernel[last_ - 1];
    int64_t offset = 0, step = size_[last_] * size_[last_ - 1];
    for (int i = last_ - 2; i >= 0; --i) {
      const int64_t at = p % places_[i] * params_.stride_of(i) +
                         k % params_.kernel[i] * params_.dilate_of(i) - params_.pad_of(i);
      if (at < 0 || at >= size_[i]) return -1;
      p /= places_[i];
      k /= params_.kernel[i];
      offset += at * step;
      step *= size_[i];
    }
    return offset;
  }

  const ColumnWindow& params_;
  const int last_;
  Shape size_ = Shape::scalar(), places_ = Shape::scalar();
  int64_t plane_, planes_;
  // The next block: kernel position, plane, where its columns begin; of that position what is seen.
  int64_t k_ = 0, p_ = 0, column_ = 0;
  Seen along_{}, down_{};
};

// Rows that copy_rows() takes.
constexpr int64_t kShortestRow = 16;

// T has the size of the elements: they are only moved, and zeros are bytes of 0 in every type.
template <class T>
void columns_of(const ColumnWindow& params, const Tensor& image, const Tensor& columns) {
  const ChannelWalk whole(params, image.shape());
  const int64_t size = whole.image_size(), out_size = whole.columns_size();
  parallel_for(
      image.dim(0) * image.dim(1), static_cast<double>(out_size),
      [&](int64_t first, int64_t last) {
        ChannelWalk walk(params, image.shape());
        for (int64_t c = first; c < last; ++c) {
          const T* from = image.as<T>() + c * size;
          T* to = columns.as<T>() + c * out_size;
          Block block;
          for (walk.restart(); walk.next(&block);) {
            if (block.has_outside) std::fill_n(to + block.plane, walk.plane(), T{});
            constexpr int64_t kBytes = sizeof(T);
            if (block.stride == 1 && block.count * kBytes >= kShortestRow) {
              copy_rows(reinterpret_cast<const char*>(from + block.at), block.row_step * kBytes,
                        reinterpret_cast<char*>(to + block.column), walk.line() * kBytes,
                        block.count * kBytes, block.rows);
              continue;
            }
            block.each_row(walk.line(), [&](int64_t at, int64_t column) {
              for (int64_t i = 0; i < block.count; ++i)
                to[column + i] = from[at + i * block.stride];
            });
          }
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
  const ChannelWalk whole(params, image.shape());
  const int64_t size = whole.image_size(), in_size = whole.columns_size();
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
          ChannelWalk walk(params, image.shape());
          for (int64_t c = first; c < last; ++c) {
            const T* from = columns.as<T>() + c * in_size;
            Sum* to = sums + c * size;
            std::fill_n(to, size, Sum{0});
            Block block;
            for (walk.restart(); walk.next(&block);) {
              block.each_row(walk.line(), [&](int64_t at, int64_t column) {
                for (int64_t i = 0; i < block.count; ++i) {
                  Sum& sum = to[at + i * block.stride];
                  sum = row_math::plus(sum, convert<Sum>(from[column + i]));
                }
              });
            }
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

// Places of the kernel in an image with these spatial dimensions; `given` says them.
int64_t count_places(const ColumnWindow& params, std::span<const int64_t> size, InferArg given) {
  int64_t places = 1;
  for (int i = 0; i < params.spatial(); ++i) {
    const int64_t along = params.places(i, size[static_cast<std::size_t>(i)]);
    if (along < 1 || size[static_cast<std::size_t>(i)] < 1)
      given.fail(fmt::format("an image that holds the kernel in spatial dimension {}", i));
    places *= along;
  }
  return places;
}

// Of the columns of an image whose shape is known.
Shape columns_shape(const ColumnWindow& params, InferArg image) {
  if (image.ndim() != params.spatial() + 2)
    image.fail(fmt::format("{} dimensions: batch, channels and as many as the kernel has",
                           params.spatial() + 2));
  const int64_t places = count_places(params, image.shape().dims().subspan(2), image);
  return {image.dim(0), image.dim(1) * params.kernel.size(), places};
}

void infer_columns(const ColumnWindow& params, Infer& infer) {
  check_window(params, infer);
  InferArg image = infer.in(0);
  image.same_dtype(infer.out(0));
  if (image.known()) infer.out(0).set_shape(columns_shape(params, image));
}

void infer_image_gradient(const ColumnWindow& params, Infer& infer) {
  check_window(params, infer);
  infer.out(0).same_shape(infer.in(1));
  infer.out(0).same_dtype(infer.in(0));
  if (infer.in(1).known()) infer.in(0).set_shape(columns_shape(params, infer.in(1)));
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
  const int64_t places = count_places(params, params.output_size.dims(), columns);
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
      .infer(infer_image_gradient)
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
