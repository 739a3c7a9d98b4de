// SPDX-License-Identifier: Apache-2.0
// How well patches of two images agree, for displacements in a square neighbourhood.
#include <algorithm>
#include <type_traits>

#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/op_cost.h"
#include "op/run/parallel.h"
#include "op/spatial/correlation.h"

namespace mxnet {
namespace {

void infer_correlation(const CorrelationParams& params, Infer& infer, InferArg data1,
                       InferArg data2, InferArg out) {
  infer.one_dtype();
  data1.set_shape(Shape{-1, -1, -1, -1}).same_shape(data2);
  if (params.kernel_size % 2 == 0) infer.fail("given an even kernel_size, expected an odd one");
  if (params.stride1 == 0 || params.stride2 == 0)
    infer.fail("given stride1 or stride2 0, expected positive ones");
  if (!data1.known()) return;
  const CorrelationGeometry g(params, data1.shape());
  if (g.out_height < 1 || g.out_width < 1)
    data1.fail("images larger than the patches and displacements");
  out.set_shape(Shape{g.batch, g.out_channels(), g.out_height, g.out_width});
}

// The planes of all images with zeros around them, so that no patch leaves them.
template <class T>
class PaddedPlanes {
 public:
  PaddedPlanes(const CorrelationGeometry& g, T* memory) : g_(g), memory_(memory) {}
  static int64_t size(const CorrelationGeometry& g) {
    return g.batch * g.channels * (g.height + 2 * g.pad) * (g.width + 2 * g.pad);
  }

  int64_t row_size() const { return g_.width + 2 * g_.pad; }
  int64_t plane_size() const { return (g_.height + 2 * g_.pad) * row_size(); }
  T* plane(int64_t i) const { return memory_ + i * plane_size(); }
  // Element (0, 0) of the image.
  T* image(int64_t i) const { return plane(i) + g_.pad * row_size() + g_.pad; }

  void clear(int64_t i) const { std::fill_n(plane(i), plane_size(), T{0}); }
  void fill(int64_t i, const T* from) const {
    clear(i);
    for (int64_t y = 0; y < g_.height; ++y)
      std::copy_n(from + (i * g_.height + y) * g_.width, g_.width, image(i) + y * row_size());
  }
  void take(int64_t i, T* to) const {
    for (int64_t y = 0; y < g_.height; ++y)
      std::copy_n(image(i) + y * row_size(), g_.width, to + (i * g_.height + y) * g_.width);
  }

 private:
  const CorrelationGeometry& g_;
  T* const memory_;
};

// fn(row of the output, first pixel of data1's, first pixel of data2's) for all rows of pixels that
// meet in one output channel. Pixels count from a plane's first.
template <class T, class F>
void for_rows(const CorrelationGeometry& g, const PaddedPlanes<T>& planes, int64_t out_channel,
              const F& fn) {
  const int64_t size = planes.row_size(), first = g.start() + g.pad;
  const int64_t moved = g.down(out_channel) * size + g.right(out_channel);
  for (int64_t i = 0; i < g.out_height; ++i) {
    for (int64_t h = -g.radius; h <= g.radius; ++h) {
      for (int64_t w = -g.radius; w <= g.radius; ++w) {
        const int64_t at = (first + i * g.out_step + h) * size + first + w;
        fn(i, at, at + moved);
      }
    }
  }
}

// fn(j, j * step) for a row; neighbours are told apart, since they are vectors.
template <class F>
void for_pixels(int64_t n, int64_t step, const F& fn) {
  if (step == 1) {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) fn(j, j);
  } else {
    for (int64_t j = 0; j < n; ++j) fn(j, j * step);
  }
}

// Adds to the map of an output channel how well two planes agree.
template <bool multiply, class T>
void add_agreement(const CorrelationGeometry& g, const PaddedPlanes<T>& planes, int64_t out_channel,
                   const T* x, const T* y, T* map) {
  for_rows(g, planes, out_channel, [&](int64_t i, int64_t p, int64_t q) {
    T* const row = map + i * g.out_width;
    for_pixels(g.out_width, g.out_step, [&](int64_t j, int64_t at) {
      row[j] += Agreement<multiply>::value(x[p + at], y[q + at]);
    });
  });
}

// Adds to the slopes of two planes what they get from that of an output channel's map.
template <bool multiply, class T>
void add_slopes(const CorrelationGeometry& g, const PaddedPlanes<T>& planes, int64_t out_channel,
                const T* dmap, T weight, const T* x, const T* y, T* dx, T* dy) {
  for_rows(g, planes, out_channel, [&](int64_t i, int64_t p, int64_t q) {
    const T* const row = dmap + i * g.out_width;
    for_pixels(g.out_width, g.out_step, [&](int64_t j, int64_t at) {
      const T d = row[j] * weight, u = x[p + at], v = y[q + at];
      dx[p + at] += d * Agreement<multiply>::slope_a(u, v);
      dy[q + at] += d * Agreement<multiply>::slope_b(u, v);
    });
  });
}

template <class F>
void with_kind(const CorrelationGeometry& g, const F& fn) {
  g.multiply ? fn(std::true_type()) : fn(std::false_type());
}

void correlation_cpu(const CorrelationParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *a = arrays.in(0), *b = arrays.in(1);
    T* out = arrays.out(0);
    const CorrelationGeometry g(params, context.in(0).shape());
    const int64_t out_area = g.out_height * g.out_width, count = PaddedPlanes<T>::size(g);
    const T weight = static_cast<T>(g.weight());
    T* const memory = context.workspace_of<T>(2 * count);
    const PaddedPlanes<T> first_images(g, memory), second_images(g, memory + count);
    for (int64_t i = 0; i < g.batch * g.channels; ++i) {
      first_images.fill(i, a);
      second_images.fill(i, b);
    }
    with_kind(g, [&]<bool multiply>(std::bool_constant<multiply>) {
      parallel_for(
          g.batch * g.out_channels(), 0.25 / g.weight() * static_cast<double>(out_area),
          [&](int64_t first, int64_t last) {
            for (int64_t r = first; r < last; ++r) {
              T* const to = out + r * out_area;
              std::fill_n(to, out_area, T{0});
              for (int64_t c = 0; c < g.channels; ++c) {
                const int64_t plane = r / g.out_channels() * g.channels + c;
                add_agreement<multiply>(g, first_images, r % g.out_channels(),
                                        first_images.plane(plane), second_images.plane(plane), to);
              }
              for (int64_t i = 0; i < out_area; ++i) to[i] *= weight;
            }
          },
          1);
    });
  });
}

// Inputs: gradient of the output, data1, data2.
void correlation_backward_cpu(const CorrelationParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *dout = arrays.in(0), *a = arrays.in(1), *b = arrays.in(2);
    T *da = arrays.out(0), *db = arrays.out(1);
    const CorrelationGeometry g(params, context.in(1).shape());
    const int64_t out_area = g.out_height * g.out_width, count = PaddedPlanes<T>::size(g);
    const T weight = static_cast<T>(g.weight());
    T* const memory = context.workspace_of<T>(4 * count);
    const PaddedPlanes<T> first_images(g, memory), second_images(g, memory + count);
    const PaddedPlanes<T> first_slopes(g, memory + 2 * count), second_slopes(g, memory + 3 * count);
    with_kind(g, [&]<bool multiply>(std::bool_constant<multiply>) {
      parallel_for(
          g.batch * g.channels, 0.5 / g.weight() * static_cast<double>(out_area * g.out_channels()),
          [&](int64_t first, int64_t last) {
            for (int64_t r = first; r < last; ++r) {
              first_images.fill(r, a);
              second_images.fill(r, b);
              first_slopes.clear(r);
              second_slopes.clear(r);
              for (int64_t c = 0; c < g.out_channels(); ++c) {
                const T* dmap = dout + (r / g.channels * g.out_channels() + c) * out_area;
                add_slopes<multiply>(g, first_images, c, dmap, weight, first_images.plane(r),
                                     second_images.plane(r), first_slopes.plane(r),
                                     second_slopes.plane(r));
              }
              first_slopes.take(r, da);
              second_slopes.take(r, db);
            }
          },
          1);
    });
  });
}

OpBuilder<CorrelationParams> with_params(const char* name) {
  OpBuilder<CorrelationParams> op(name);
  op.param("kernel_size", &CorrelationParams::kernel_size, 1, "Side of a patch, odd.")
      .param("max_displacement", &CorrelationParams::max_displacement, 1,
             "Largest displacement along each axis.")
      .param("stride1", &CorrelationParams::stride1, 1, "Distance of patches in data1.")
      .param("stride2", &CorrelationParams::stride2, 1, "Distance of displacements.")
      .param("pad_size", &CorrelationParams::pad_size, 0, "Zeros around the images.")
      .param("is_multiply", &CorrelationParams::is_multiply, true,
             "Whether patches are multiplied; else their absolute difference is taken.")
      .dtypes(kFloating);
  return op;
}

[[maybe_unused]] const bool defined = [] {
  with_params("Correlation")
      .doc("Mean product (or absolute difference) of patches of data1 and displaced ones of data2.")
      .input("data1", "Images, (batch, channels, height, width).")
      .input("data2", "Images of the same shape.")
      .infer([](const CorrelationParams& params, Infer& infer) {
        infer_correlation(params, infer, infer.in(0), infer.in(1), infer.out(0));
      })
      .cpu(correlation_cpu)
      .grad([](const CorrelationParams&, Grad& grad) {
        const Value first =
            apply("_backward_Correlation", {grad.dout(0), grad.in(0), grad.in(1)}, grad.attrs());
        return Gradients{first, output(first, 1)};
      });
  with_params("_backward_Correlation")
      .doc("Gradient of Correlation.")
      .input("dout", "Gradient of the result.")
      .input("data1", "Images.")
      .input("data2", "Images.")
      .outputs([](const CorrelationParams&) { return 2; })
      .infer([](const CorrelationParams& params, Infer& infer) {
        infer_correlation(params, infer, infer.in(1), infer.in(2), infer.in(0));
        for (int i = 0; i < 2; ++i) infer.out(i).same_shape(infer.in(1));
      })
      .cpu(correlation_backward_cpu);
  return mark_products({"Correlation"});
}();

}  // namespace
}  // namespace mxnet
