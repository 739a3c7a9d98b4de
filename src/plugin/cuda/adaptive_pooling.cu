// SPDX-License-Identifier: Apache-2.0
// AdaptiveAvgPooling2D (op/nn/adaptive_pooling.h). Sums are gathered, in the order of the CPU's.
#include "op/nn/adaptive_pooling.h"

#include "plugin/cuda/axes.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"

namespace mxnet {
namespace cuda {
namespace {

// A number of the map: plane, line, column. Columns are summed first, as on the CPU.
template <class T>
struct AdaptiveAverage {
  AdaptiveWindows rows, columns;
  const T* images;
  T* maps;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    const T* plane = images + at[0] * rows.size * columns.size;
    const int64_t top = rows.begin(at[1]), bottom = rows.end(at[1]);
    const int64_t left = columns.begin(at[2]), right = columns.end(at[2]);
    double sum = 0;
    for (int64_t x = left; x < right; ++x) {
      double column = 0;
      for (int64_t y = top; y < bottom; ++y)
        column += static_cast<double>(widen(plane[y * columns.size + x]));
      sum += column;
    }
    maps[i] = narrow<T>(
        static_cast<Compute<T>>(sum / static_cast<double>((bottom - top) * (right - left))));
  }
};
// A pixel: plane, line, column. It has a share of every window over it.
template <class T>
struct AdaptiveShare {
  AdaptiveWindows rows, columns;
  AdaptiveWindows over_line, over_column;
  const T* dmaps;
  T* dimages;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    const T* plane = dmaps + at[0] * rows.count * columns.count;
    Compute<T> sum = 0;
    for (int64_t r = over_line.begin(at[1]); r < over_line.end(at[1]); ++r) {
      double line = 0;
      for (int64_t c = over_column.begin(at[2]); c < over_column.end(at[2]); ++c) {
        const int64_t area = (rows.end(r) - rows.begin(r)) * (columns.end(c) - columns.begin(c));
        line +=
            static_cast<double>(widen(plane[r * columns.count + c])) / static_cast<double>(area);
      }
      sum += static_cast<Compute<T>>(line);
    }
    dimages[i] = narrow<T>(sum);
  }
};

void adaptive_pooling(const AdaptiveParams&, KernelContext& context) {
  const Shape &in = context.in(0).shape(), &out = context.out(0).shape();
  for_dtype<kFloating.bits_>(context.in(0).dtype, "AdaptiveAvgPooling2D", [&](auto element) {
    using T = decltype(element);
    for_each(context.stream()->native(), "AdaptiveAvgPooling2D", out.size(),
             AdaptiveAverage<T>{{in[2], out[2]},
                                {in[3], out[3]},
                                context.in(0).as<T>(),
                                context.out(0).as<T>(),
                                Axes<3>(out[0] * out[1], out[2], out[3])});
  });
}

void adaptive_pooling_slope(const AdaptiveParams&, KernelContext& context) {
  const Shape &in = context.out(0).shape(), &out = context.in(0).shape();
  const AdaptiveWindows rows{in[2], out[2]}, columns{in[3], out[3]};
  for_dtype<kFloating.bits_>(context.in(0).dtype, "AdaptiveAvgPooling2D", [&](auto element) {
    using T = decltype(element);
    for_each(context.stream()->native(), "AdaptiveAvgPooling2D", in.size(),
             AdaptiveShare<T>{rows, columns, rows.over_pixels(), columns.over_pixels(),
                              context.in(0).as<T>(), context.out(0).as<T>(),
                              Axes<3>(in[0] * in[1], in[2], in[3])});
  });
}

}  // namespace

void add_adaptive_pooling(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<AdaptiveParams, adaptive_pooling>("_contrib_AdaptiveAvgPooling2D"));
  rows->push_back(
      kernel_row<AdaptiveParams, adaptive_pooling_slope>("_backward_contrib_AdaptiveAvgPooling2D"));
}

}  // namespace cuda
}  // namespace mxnet
