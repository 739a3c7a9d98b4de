// SPDX-License-Identifier: Apache-2.0
// How well patches of two images agree, for displacements in a square neighbourhood.
#include <algorithm>

#include "op/computed.h"
#include "op/op_builder.h"
#include "op/op_cost.h"
#include "op/parallel.h"
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

void correlation_cpu(const CorrelationParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *a = arrays.in(0), *b = arrays.in(1);
    T* out = arrays.out(0);
    const CorrelationGeometry g(params, context.in(0).shape());
    const int64_t area = g.height * g.width, out_area = g.out_height * g.out_width;
    const T weight = static_cast<T>(g.weight());
    parallel_for(
        g.batch * g.out_channels(), 2.0 / g.weight() * static_cast<double>(out_area),
        [&](int64_t first, int64_t last) {
          for (int64_t r = first; r < last; ++r) {
            T* to = out + r * out_area;
            std::fill_n(to, out_area, T{0});
            for (int64_t c = 0; c < g.channels; ++c) {
              const int64_t plane = (r / g.out_channels() * g.channels + c) * area;
              for (int64_t at = 0; at < out_area; ++at) {
                g.pairs(r % g.out_channels(), at / g.out_width, at % g.out_width,
                        [&](int64_t i, int64_t j) {
                          to[at] += g.agreement(g.value(a + plane, i), g.value(b + plane, j));
                        });
              }
            }
            for (int64_t i = 0; i < out_area; ++i) to[i] *= weight;
          }
        },
        1);
  });
}

// Inputs: gradient of the output, data1, data2.
void correlation_backward_cpu(const CorrelationParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *dout = arrays.in(0), *a = arrays.in(1), *b = arrays.in(2);
    T *da = arrays.out(0), *db = arrays.out(1);
    const CorrelationGeometry g(params, context.in(1).shape());
    const int64_t area = g.height * g.width, out_area = g.out_height * g.out_width;
    const T weight = static_cast<T>(g.weight());
    parallel_for(
        g.batch * g.channels, 4.0 / g.weight() * static_cast<double>(out_area * g.out_channels()),
        [&](int64_t first, int64_t last) {
          for (int64_t r = first; r < last; ++r) {
            const int64_t plane = r * area;
            std::fill_n(da + plane, area, T{0});
            std::fill_n(db + plane, area, T{0});
            for (int64_t c = 0; c < g.out_channels(); ++c) {
              const T* from = dout + (r / g.channels * g.out_channels() + c) * out_area;
              for (int64_t at = 0; at < out_area; ++at) {
                const T d = from[at] * weight;
                g.pairs(c, at / g.out_width, at % g.out_width, [&](int64_t i, int64_t j) {
                  const T x = g.value(a + plane, i), y = g.value(b + plane, j);
                  if (i >= 0) da[plane + i] += d * g.slope_a(x, y);
                  if (j >= 0) db[plane + j] += d * g.slope_b(x, y);
                });
              }
            }
          }
        },
        1);
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
