// SPDX-License-Identifier: Apache-2.0
// im2col and col2im (op/shape/column_image.h): a thread for each number of the result, so that no
// two meet, and sums come in one order.
#include "op/run/element_size.h"
#include "op/shape/column_image.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace {

// The window along one spatial dimension.
struct Span {
  Divider size, kernel, places;
  int64_t stride, dilate, pad;
};
struct Columns {
  int spatial;
  Span spans[Shape::kMaxDims];
  int64_t image_size, kernel_size, places;

  // `image` has two dimensions before the spatial ones.
  Columns(const ColumnWindow& window, const Shape& image)
      : spatial(window.spatial()), image_size(1), kernel_size(1), places(1) {
    for (int i = 0; i < spatial; ++i) {
      const int64_t size = image[i + 2], along = window.places(i, size);
      spans[i] = {Divider(size),       Divider(window.kernel[i]), Divider(along),
                  window.stride_of(i), window.dilate_of(i),       window.pad_of(i)};
      image_size *= size;
      kernel_size *= window.kernel[i];
      places *= along;
    }
  }
  // What position k of the kernel sees at a place; -1 outside of the image.
  MX_DEVICE int64_t seen(int64_t k, int64_t place) const {
    int64_t offset = 0, step = 1;
    for (int i = spatial - 1; i >= 0; --i) {
      const Span& span = spans[i];
      const int64_t next_k = span.kernel.quotient(k), next_place = span.places.quotient(place);
      const int64_t at = (place - next_place * span.places.by()) * span.stride +
                         (k - next_k * span.kernel.by()) * span.dilate - span.pad;
      if (at < 0 || at >= span.size.by()) return -1;
      offset += at * step;
      step *= span.size.by();
      k = next_k;
      place = next_place;
    }
    return offset;
  }
  // The place at which position k of the kernel sees a pixel; -1 where there is none.
  MX_DEVICE int64_t place_of(int64_t k, int64_t pixel) const {
    int64_t place = 0, step = 1;
    for (int i = spatial - 1; i >= 0; --i) {
      const Span& span = spans[i];
      const int64_t next_k = span.kernel.quotient(k), next_pixel = span.size.quotient(pixel);
      const int64_t start = pixel - next_pixel * span.size.by() -
                            (k - next_k * span.kernel.by()) * span.dilate + span.pad;
      if (start < 0 || start % span.stride != 0 || start / span.stride >= span.places.by())
        return -1;
      place += start / span.stride * step;
      step *= span.places.by();
      k = next_k;
      pixel = next_pixel;
    }
    return place;
  }
};

// Only moves elements, of sizeof(T) bytes: zeros are bytes of 0 in every type.
template <class T>
struct ToColumns {
  Columns columns;
  const T* image;
  T* out;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / columns.places, channel = row / columns.kernel_size;
    const int64_t at = columns.seen(row - channel * columns.kernel_size, i - row * columns.places);
    out[i] = at < 0 ? T() : image[channel * columns.image_size + at];
  }
};
void to_columns(const ColumnWindow& window, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const Columns columns(window, in.shape());
  dispatch_size(in.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each(context.stream()->native(), "im2col", out.size(),
             ToColumns<T>{columns, in.as<T>(), out.as<T>()});
  });
}

template <class T>
struct ToImage {
  Columns columns;
  const T* from;
  T* image;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t channel = i / columns.image_size, pixel = i - channel * columns.image_size;
    Compute<T> sum(0);
    for (int64_t k = 0; k < columns.kernel_size; ++k) {
      const int64_t place = columns.place_of(k, pixel);
      if (place < 0) continue;
      sum = row_words::plus(
          sum, widen(from[(channel * columns.kernel_size + k) * columns.places + place]));
    }
    image[i] = narrow<T>(sum);
  }
};
void to_image(const ColumnWindow& window, KernelContext& context) {
  const Tensor& out = context.out(0);
  const Columns columns(window, out.shape());
  for_dtype<kNumeric.bits_>(out.dtype, "col2im", [&](auto type) {
    using T = decltype(type);
    for_each(context.stream()->native(), "col2im", out.size(),
             ToImage<T>{columns, context.in(0).as<T>(), out.as<T>()});
  });
}

}  // namespace

void add_columns(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<ColumnWindow, to_columns>("im2col"));
  rows->push_back(kernel_row<ColumnWindow, to_image>("_backward_im2col"));
  rows->push_back(kernel_row<ColumnWindow, to_image>("col2im"));
}

}  // namespace cuda
}  // namespace mxnet
