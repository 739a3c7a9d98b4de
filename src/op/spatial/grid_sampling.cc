// SPDX-License-Identifier: Apache-2.0
// GridGenerator, BilinearSampler and the two together: SpatialTransformer.
#include <fmt/format.h>

#include <optional>

#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/spatial/grid.h"
#include "op/spatial/sample_by_grid.h"

namespace mxnet {
namespace {

void check_target(const Shape& target, Infer& infer) {
  if (target.ndim() != 2 || target[0] <= 0 || target[1] <= 0)
    infer.fail("given target_shape " + to_string(target) + ", expected two positive numbers");
}

// What the generator is given (theta, or a flow) and what it makes.
void infer_grid(const GridParams& params, Infer& infer, InferArg data, InferArg grid) {
  infer.one_dtype();
  if (params.transform_type == Transform::kWarp) {
    data.set_shape(Shape{-1, 2, -1, -1}).same_shape(grid);
    return;
  }
  check_target(params.target_shape, infer);
  data.set_shape(Shape{-1, 6});
  grid.set_shape(Shape{data.dim(0), 2, params.target_shape[0], params.target_shape[1]});
  data.set_dim(0, grid.dim(0));
}

void grid_cpu(const GridParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = arrays.in(0);
    T* out = arrays.out(0);
    const Shape& shape = context.out(0).shape();
    const int64_t height = shape[2], width = shape[3];
    if (params.transform_type == Transform::kAffine)
      return affine_grid(data, shape[0], height, width, out);
    const T across = warp_slope<T>(width), down = warp_slope<T>(height);
    for (int64_t r = 0; r < shape[0] * 2 * height; ++r) {
      const bool is_y = r / height % 2 == 1;
      const int64_t i = r % height;
      for (int64_t j = 0; j < width; ++j) {
        const int64_t at = r * width + j;
        out[at] = is_y ? warp_place(data[at], i, down) : warp_place(data[at], j, across);
      }
    }
  });
}

void grid_backward_cpu(const GridParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T* dgrid = arrays.in(0);
    T* dx = arrays.out(0);
    const Shape& shape = context.in(0).shape();
    const int64_t height = shape[2], width = shape[3], area = height * width;
    if (params.transform_type == Transform::kAffine)
      return affine_grid_backward(dgrid, shape[0], height, width, dx);
    for (int64_t i = 0; i < shape.size(); ++i)
      dx[i] = dgrid[i] * warp_slope<T>(i / area % 2 == 1 ? height : width);
  });
}

OpBuilder<GridParams> grid_params(const char* name) {
  OpBuilder<GridParams> op(name);
  op.choice("transform_type", &GridParams::transform_type,
            {{"affine", Transform::kAffine}, {"warp", Transform::kWarp}}, nullptr,
            "affine: data is a 2 x 3 matrix each; warp: a flow in pixels.")
      .param("target_shape", &GridParams::target_shape, Shape{0, 0},
             "Height and width of the grid of an affine transform.")
      .dtypes(kFloating);
  return op;
}

[[maybe_unused]] const bool grid_defined = [] {
  grid_params("GridGenerator")
      .doc("Grids for BilinearSampler, (batch, 2, height, width): x and y from -1 to 1.")
      .input("data", "Transforms, (batch, 6), or flows, (batch, 2, height, width).")
      .infer([](const GridParams& params, Infer& infer) {
        infer_grid(params, infer, infer.in(0), infer.out(0));
      })
      .cpu(grid_cpu)
      .grad([](const GridParams&, Grad& grad) {
        return Gradients{apply("_backward_GridGenerator", {grad.dout(0)}, grad.attrs())};
      });
  grid_params("_backward_GridGenerator")
      .doc("Gradient of GridGenerator.")
      .input("dgrid", "Gradient of the grid.")
      .infer([](const GridParams& params, Infer& infer) {
        infer_grid(params, infer, infer.out(0), infer.in(0));
      })
      .cpu(grid_backward_cpu);
  return true;
}();

void infer_sampler(Infer& infer, InferArg data, InferArg grid, InferArg out) {
  infer.one_dtype();
  data.set_shape(Shape{-1, -1, -1, -1});
  grid.set_shape(Shape{data.dim(0), 2, -1, -1});
  out.set_shape(Shape{data.dim(0), data.dim(1), grid.dim(2), grid.dim(3)});
}

void sampler_cpu(const SamplerParams&, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto) {
    const Shape& grid = context.in(1).shape();
    sample_by_grid(SampleShape(context.in(0).shape(), grid[2], grid[3]), arrays.in(0), arrays.in(1),
                   arrays.out(0));
  });
}

// Inputs: gradient of the output, data, grid.
void sampler_backward_cpu(const SamplerParams&, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto) {
    const Shape& grid = context.in(2).shape();
    sample_by_grid_backward(SampleShape(context.in(1).shape(), grid[2], grid[3]), arrays.in(1),
                            arrays.in(2), arrays.in(0), arrays.out(0), arrays.out(1));
  });
}

constexpr const char* kCudnnDoc = "Of GPUs: whether not to use cuDNN.";

MX_OP(BilinearSampler, SamplerParams)
.doc("Samples data at the places of a grid; zero outside of it.")
    .input("data", "Images, (batch, channels, height, width).")
    .input("grid", "Places, (batch, 2, height, width): x and y from -1 to 1.")
    .param("cudnn_off", &SamplerParams::cudnn_off, std::nullopt, kCudnnDoc)
    .dtypes(kFloating)
    .infer([](const SamplerParams&, Infer& infer) {
      infer_sampler(infer, infer.in(0), infer.in(1), infer.out(0));
    })
    .cpu(sampler_cpu)
    .grad([](const SamplerParams&, Grad& grad) {
      const Value first =
          apply("_backward_BilinearSampler", {grad.dout(0), grad.in(0), grad.in(1)}, grad.attrs());
      return Gradients{first, output(first, 1)};
    });

MX_OP(_backward_BilinearSampler, SamplerParams)
.doc("Gradient of BilinearSampler.")
    .input("dout", "Gradient of the samples.")
    .input("data", "Images.")
    .input("grid", "Places.")
    .param("cudnn_off", &SamplerParams::cudnn_off, std::nullopt, kCudnnDoc)
    .outputs([](const SamplerParams&) { return 2; })
    .dtypes(kFloating)
    .infer([](const SamplerParams&, Infer& infer) {
      infer_sampler(infer, infer.in(1), infer.in(2), infer.in(0));
      infer.out(0).same_shape(infer.in(1));
      infer.out(1).same_shape(infer.in(2));
    })
    .cpu(sampler_backward_cpu);

void infer_transformer(const TransformerParams& params, Infer& infer, InferArg data, InferArg loc,
                       InferArg out) {
  infer.one_dtype();
  check_target(params.target_shape, infer);
  data.set_shape(Shape{-1, -1, -1, -1});
  loc.set_shape(Shape{data.dim(0), 6});
  out.set_shape(Shape{data.dim(0), data.dim(1), params.target_shape[0], params.target_shape[1]});
}

void transformer_cpu(const TransformerParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const SampleShape shape(context.in(0).shape(), params.target_shape[0], params.target_shape[1]);
    T* grid = context.workspace_of<T>(shape.batch * 2 * shape.out_area());
    affine_grid(arrays.in(1), shape.batch, shape.out_height, shape.out_width, grid);
    sample_by_grid(shape, arrays.in(0), grid, arrays.out(0));
  });
}

// Inputs: gradient of the output, data, loc.
void transformer_backward_cpu(const TransformerParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const SampleShape shape(context.in(1).shape(), params.target_shape[0], params.target_shape[1]);
    T* grid = context.workspace_of<T>(shape.batch * 2 * shape.out_area());
    T* dgrid = context.workspace_of<T>(shape.batch * 2 * shape.out_area());
    affine_grid(arrays.in(2), shape.batch, shape.out_height, shape.out_width, grid);
    sample_by_grid_backward(shape, arrays.in(1), grid, arrays.in(0), arrays.out(0), dgrid);
    affine_grid_backward(dgrid, shape.batch, shape.out_height, shape.out_width, arrays.out(1));
  });
}

OpBuilder<TransformerParams> transformer_params(const char* name) {
  OpBuilder<TransformerParams> op(name);
  op.param("target_shape", &TransformerParams::target_shape, Shape{0, 0},
           "Height and width of the result.")
      .choice("transform_type", &TransformerParams::transform_type,
              {{"affine", Transform::kAffine}}, nullptr, "Kind of the transform.")
      .choice("sampler_type", &TransformerParams::sampler_type, {{"bilinear", Sampler::kBilinear}},
              nullptr, "Kind of the sampling.")
      .param("cudnn_off", &TransformerParams::cudnn_off, std::nullopt, kCudnnDoc)
      .dtypes(kFloating);
  return op;
}

[[maybe_unused]] const bool transformer_defined = [] {
  transformer_params("SpatialTransformer")
      .doc("Images under affine transforms of the places of the result, zero outside.")
      .input("data", "Images, (batch, channels, height, width).")
      .input("loc", "Transforms, (batch, 6).")
      .infer([](const TransformerParams& params, Infer& infer) {
        infer_transformer(params, infer, infer.in(0), infer.in(1), infer.out(0));
      })
      .cpu(transformer_cpu)
      .grad([](const TransformerParams&, Grad& grad) {
        const Value first = apply("_backward_SpatialTransformer",
                                  {grad.dout(0), grad.in(0), grad.in(1)}, grad.attrs());
        return Gradients{first, output(first, 1)};
      });
  transformer_params("_backward_SpatialTransformer")
      .doc("Gradient of SpatialTransformer.")
      .input("dout", "Gradient of the result.")
      .input("data", "Images.")
      .input("loc", "Transforms.")
      .outputs([](const TransformerParams&) { return 2; })
      .infer([](const TransformerParams& params, Infer& infer) {
        infer_transformer(params, infer, infer.in(1), infer.in(2), infer.in(0));
        infer.out(0).same_shape(infer.in(1));
        infer.out(1).same_shape(infer.in(2));
      })
      .cpu(transformer_backward_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet
