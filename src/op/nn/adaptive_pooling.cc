// SPDX-License-Identifier: Apache-2.0
// Averages over as many windows as are asked for, and their gradients.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "op/nn/adaptive_pooling.h"
#include "op/nn/plain_arrays.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

// The planes of images and of maps.
struct Planes {
  AdaptiveWindows rows, columns;
  int64_t count, image, map;
  Planes(const Shape& images, const Shape& maps)
      : rows{images[2], maps[2]},
        columns{images[3], maps[3]},
        count(images[0] * images[1]),
        image(images[2] * images[3]),
        map(maps[2] * maps[3]) {}

  template <class F>
  void for_each(const F& fn) const {
    parallel_for(
        count, static_cast<double>(image + map),
        [&](int64_t first, int64_t last) {
          std::vector<double> line(static_cast<std::size_t>(columns.size));
          for (int64_t plane = first; plane < last; ++plane) fn(plane, line.data());
        },
        1);
  }
};

template <class T>
void average(const Planes& planes, const T* images, T* maps) {
  const AdaptiveWindows &rows = planes.rows, &columns = planes.columns;
  planes.for_each([&](int64_t plane, double* line) {
    const T* from = images + plane * planes.image;
    T* to = maps + plane * planes.map;
    for (int64_t r = 0; r < rows.count; ++r) {
      std::fill_n(line, columns.size, 0.0);
      for (int64_t y = rows.begin(r); y < rows.end(r); ++y)
        for (int64_t x = 0; x < columns.size; ++x) line[x] += from[y * columns.size + x];
      for (int64_t c = 0; c < columns.count; ++c) {
        double sum = 0;
        for (int64_t x = columns.begin(c); x < columns.end(c); ++x) sum += line[x];
        const int64_t area = (rows.end(r) - rows.begin(r)) * (columns.end(c) - columns.begin(c));
        *to++ = static_cast<T>(sum / static_cast<double>(area));
      }
    }
  });
}

template <class T>
void spread(const Planes& planes, const T* dmaps, T* dimages) {
  const AdaptiveWindows &rows = planes.rows, &columns = planes.columns;
  planes.for_each([&](int64_t plane, double* line) {
    const T* from = dmaps + plane * planes.map;
    T* to = dimages + plane * planes.image;
    std::fill_n(to, planes.image, T{0});
    for (int64_t r = 0; r < rows.count; ++r) {
      std::fill_n(line, columns.size, 0.0);
      for (int64_t c = 0; c < columns.count; ++c, ++from) {
        const int64_t area = (rows.end(r) - rows.begin(r)) * (columns.end(c) - columns.begin(c));
        const double share = static_cast<double>(*from) / static_cast<double>(area);
        for (int64_t x = columns.begin(c); x < columns.end(c); ++x) line[x] += share;
      }
      for (int64_t y = rows.begin(r); y < rows.end(r); ++y)
        for (int64_t x = 0; x < columns.size; ++x)
          to[y * columns.size + x] += static_cast<T>(line[x]);
    }
  });
}

void average_cpu(const AdaptiveParams&, KernelContext& context) {
  const Planes planes(context.in(0).shape(), context.out(0).shape());
  with_plain_arrays(context, false, [&](auto& arrays) {
    average(planes, arrays.in(context.in(0)), arrays.out(context.out(0)));
  });
}

void spread_cpu(const AdaptiveParams&, KernelContext& context) {
  const Planes planes(context.out(0).shape(), context.in(0).shape());
  with_plain_arrays(context, false, [&](auto& arrays) {
    spread(planes, arrays.in(context.in(0)), arrays.out(context.out(0)));
  });
}

void infer_average(const AdaptiveParams& params, Infer& infer) {
  infer.one_dtype();
  const Shape& size = params.output_size;
  if (size.ndim() > 2 || std::ranges::any_of(size, [](int64_t n) { return n < 0; }))
    infer.fail(fmt::format("given output_size {}, expected one or two numbers", to_string(size)));
  const InferArg data = infer.in(0);
  if (!data.rank_known()) return;
  if (data.ndim() != 4) data.fail("four dimensions: batch, channels, height and width");
  if (data.dim(2) == 0 || data.dim(3) == 0) data.fail("images that are not empty");
  infer.out(0).set_shape({data.dim(0), data.dim(1), params.height(), params.width()});
}

MX_OP(_contrib_AdaptiveAvgPooling2D, AdaptiveParams)
.doc("Averages of as many windows as `output_size` says, spread evenly over each image.")
    .input("data", "Images: batch, channels, height, width.")
    .param("output_size", &AdaptiveParams::output_size, Shape::scalar(),
           "Height and width of the output, or one number for both; 1 by default.")
    .dtypes(kFloating)
    .infer(infer_average)
    .cpu(average_cpu)
    .grad([](const AdaptiveParams&, Grad& grad) {
      return Gradients{apply("_backward_contrib_AdaptiveAvgPooling2D", {grad.dout(0), grad.in(0)},
                             grad.attrs())};
    });

MX_OP(_backward_contrib_AdaptiveAvgPooling2D, AdaptiveParams)
.doc("Gradient of _contrib_AdaptiveAvgPooling2D.")
    .input("dout", "Gradient of the output.")
    .input("data", "Input of the forward call; only its shape matters.")
    .type_only(1)
    .param("output_size", &AdaptiveParams::output_size, Shape::scalar(), "As in the forward call.")
    .dtypes(kFloating)
    .infer([](const AdaptiveParams& params, Infer& infer) {
      infer.one_dtype();
      infer.follow(infer_average, params, {infer.in(1)}, {infer.in(0)});
      infer.out(0).same_shape(infer.in(1));
    })
    .cpu(spread_cpu)
    .grad([](const AdaptiveParams&, Grad& grad) {
      return Gradients{apply("_contrib_AdaptiveAvgPooling2D", {grad.dout(0)}, grad.attrs()),
                       Value()};
    });

}  // namespace
}  // namespace mxnet
