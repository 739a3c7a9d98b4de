// SPDX-License-Identifier: Apache-2.0
// Kernels of GridGenerator, BilinearSampler and SpatialTransformer (op/spatial/grid.h).
#include "op/spatial/grid.h"
#include "plugin/cuda/axes.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/scatter.cuh"

namespace mxnet {
namespace cuda {
namespace {

// A number of a grid: (image, x or y) together, line, column.
template <class T>
struct AffineGrid {
  const T* theta;
  T* grid;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    grid[i] = affine_place(theta + at[0] * 3, grid_place<T>(at[2], axes.size(2)),
                           grid_place<T>(at[1], axes.size(1)));
  }
};

template <class T>
void make_grid(NativeStream* stream, const T* theta, const SampleShape& shape, T* grid) {
  for_each(stream, "GridGenerator", shape.batch * 2 * shape.out_area(),
           AffineGrid<T>{theta, grid, Axes<3>(shape.batch * 2, shape.out_height, shape.out_width)});
}

// Gradients of the three numbers that make one coordinate.
template <class T>
struct AffineGridSlope {
  struct Sums {
    T of[3];
  };
  const T* dgrid;
  T* dtheta;
  int64_t height, width;
  MX_DEVICE Sums part(int64_t r, int lane, int lanes) const {
    const T* d = dgrid + r * height * width;
    Sums sums{};
    for (int64_t i = lane; i < height * width; i += lanes) {
      sums.of[0] += d[i] * grid_place<T>(i % width, width);
      sums.of[1] += d[i] * grid_place<T>(i / width, height);
      sums.of[2] += d[i];
    }
    return sums;
  }
  MX_DEVICE Sums merge(const Sums& a, const Sums& b) const {
    return {{a.of[0] + b.of[0], a.of[1] + b.of[1], a.of[2] + b.of[2]}};
  }
  MX_DEVICE void finish(int64_t r, const Sums& sums) const {
    for (int k = 0; k < 3; ++k) dtheta[r * 3 + k] = sums.of[k];
  }
};

template <class T>
void grid_to_theta(NativeStream* stream, const T* dgrid, const SampleShape& shape, T* dtheta) {
  for_each_group(stream, "GridGenerator", shape.batch * 2, true,
                 AffineGridSlope<T>{dgrid, dtheta, shape.out_height, shape.out_width});
}

// Flow to grid, or (kSlope) gradient of the grid to that of the flow.
template <class T, bool kSlope>
struct WarpGrid {
  const T* from;
  T* to;
  Axes<4> axes;  // image, x or y, line, column
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<4> at = axes(i);
    const int along = at[1] == 1 ? 2 : 3;
    const T slope = warp_slope<T>(axes.size(along));
    to[i] = kSlope ? from[i] * slope : warp_place(from[i], at[along], slope);
  }
};

template <bool kSlope>
void warp(KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const Shape& shape = context.in(0).shape();
    for_each(arrays.stream(), "GridGenerator", shape.size(),
             WarpGrid<T, kSlope>{arrays.in(0), arrays.out(0),
                                 Axes<4>(shape[0], shape[1], shape[2], shape[3])});
  });
}

// A grid (batch, 2, height, width) as one by which an image without pixels is sampled.
SampleShape grid_shape(const Shape& grid) { return {Shape{grid[0], 0, 0, 0}, grid[2], grid[3]}; }

void grid_generator(const GridParams& params, KernelContext& context) {
  if (params.transform_type == Transform::kWarp) return warp<false>(context);
  compute(context.in(0).dtype, context, [&](auto& arrays, auto) {
    make_grid(arrays.stream(), arrays.in(0), grid_shape(context.out(0).shape()), arrays.out(0));
  });
}

void grid_generator_slope(const GridParams& params, KernelContext& context) {
  if (params.transform_type == Transform::kWarp) return warp<true>(context);
  compute(context.in(0).dtype, context, [&](auto& arrays, auto) {
    grid_to_theta(arrays.stream(), arrays.in(0), grid_shape(context.in(0).shape()), arrays.out(0));
  });
}

// A number of the result: image, channel, place. What threads beside each other read of the grid
// lies side by side.
template <class T>
struct SampleImages {
  SampleShape shape;
  const T *data, *grid;
  T* out;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    const T* plane = data + (at[0] * axes.size(1) + at[1]) * shape.area();
    out[i] = shape.sample(grid, at[0], at[2]).value(plane);
  }
};
template <class T>
struct SampleSlope {
  SampleShape shape;
  const T *grid, *dout;
  T* ddata;
  Axes<3> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<3> at = axes(i);
    T* plane = ddata + (at[0] * axes.size(1) + at[1]) * shape.area();
    const BilinearSample<T> sample = shape.sample(grid, at[0], at[2]);
    for (int k = 0; k < 4; ++k)
      if (sample.at[k] >= 0) atomic_add(plane + sample.at[k], sample.weight[k] * dout[i]);
  }
};
// A place of the grid: image, place.
template <class T>
struct SampleGridSlope {
  SampleShape shape;
  const T *data, *grid, *dout;
  T* dgrid;
  Axes<2> axes;
  MX_DEVICE void operator()(int64_t i) const {
    const Coordinates<2> at = axes(i);
    const BilinearSample<T> sample = shape.sample(grid, at[0], at[1]);
    const int64_t area = shape.out_area();
    T dx = 0, dy = 0;
    for (int64_t c = at[0] * shape.channels; c < (at[0] + 1) * shape.channels; ++c) {
      const T d = dout[c * area + at[1]];
      dx += d * sample.value_slope_x(data + c * shape.area());
      dy += d * sample.value_slope_y(data + c * shape.area());
    }
    T* to = dgrid + at[0] * 2 * area + at[1];
    to[0] = dx * static_cast<T>(shape.width - 1) / 2;
    to[area] = dy * static_cast<T>(shape.height - 1) / 2;
  }
};

template <class T>
void sample(NativeStream* stream, const SampleShape& shape, const T* data, const T* grid, T* out) {
  const Axes<3> axes(shape.batch, shape.channels, shape.out_area());
  for_each(stream, "BilinearSampler", axes.size(), SampleImages<T>{shape, data, grid, out, axes});
}

// `ddata` is zeros.
template <class T>
void sample_slope(NativeStream* stream, const SampleShape& shape, const T* data, const T* grid,
                  const T* dout, T* ddata, T* dgrid) {
  const Axes<3> axes(shape.batch, shape.channels, shape.out_area());
  scatter(stream, "BilinearSampler", shape.batch * shape.channels, shape.out_area(),
          SampleSlope<T>{shape, grid, dout, ddata, axes});
  for_each(
      stream, "BilinearSampler", shape.batch * shape.out_area(),
      SampleGridSlope<T>{shape, data, grid, dout, dgrid, Axes<2>(shape.batch, shape.out_area())});
}

void bilinear_sampler(const SamplerParams&, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto) {
    const Shape& grid = context.in(1).shape();
    sample(arrays.stream(), SampleShape(context.in(0).shape(), grid[2], grid[3]), arrays.in(0),
           arrays.in(1), arrays.out(0));
  });
}

// Inputs: gradient of the output, data, grid.
void bilinear_sampler_slope(const SamplerParams&, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto) {
    const Shape& grid = context.in(2).shape();
    const SampleShape shape(context.in(1).shape(), grid[2], grid[3]);
    auto* const ddata = arrays.zeroed_out(0);
    sample_slope(arrays.stream(), shape, arrays.in(1), arrays.in(2), arrays.in(0), ddata,
                 arrays.out(1));
  });
}

void spatial_transformer(const TransformerParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const SampleShape shape(context.in(0).shape(), params.target_shape[0], params.target_shape[1]);
    T* const grid = context.workspace_of<T>(shape.batch * 2 * shape.out_area());
    make_grid(arrays.stream(), arrays.in(1), shape, grid);
    sample<T>(arrays.stream(), shape, arrays.in(0), grid, arrays.out(0));
  });
}

// Inputs: gradient of the output, data, loc.
void spatial_transformer_slope(const TransformerParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const SampleShape shape(context.in(1).shape(), params.target_shape[0], params.target_shape[1]);
    T* const grid = context.workspace_of<T>(shape.batch * 2 * shape.out_area());
    T* const dgrid = context.workspace_of<T>(shape.batch * 2 * shape.out_area());
    make_grid(arrays.stream(), arrays.in(2), shape, grid);
    T* const ddata = arrays.zeroed_out(0);
    sample_slope<T>(arrays.stream(), shape, arrays.in(1), grid, arrays.in(0), ddata, dgrid);
    grid_to_theta(arrays.stream(), dgrid, shape, arrays.out(1));
  });
}

}  // namespace

void add_sampling(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<GridParams, grid_generator>("GridGenerator"));
  rows->push_back(kernel_row<GridParams, grid_generator_slope>("_backward_GridGenerator"));
  rows->push_back(kernel_row<SamplerParams, bilinear_sampler>("BilinearSampler"));
  rows->push_back(kernel_row<SamplerParams, bilinear_sampler_slope>("_backward_BilinearSampler"));
  rows->push_back(kernel_row<TransformerParams, spatial_transformer>("SpatialTransformer"));
  rows->push_back(
      kernel_row<TransformerParams, spatial_transformer_slope>("_backward_SpatialTransformer"));
}

}  // namespace cuda
}  // namespace mxnet
