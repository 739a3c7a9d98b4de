// SPDX-License-Identifier: Apache-2.0
// Deformable convolutions (op/spatial/deformable_convolution.h): samples become columns, image by
// image, and the rest is a product.
#include "op/spatial/deformable_convolution.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/scatter.cuh"

namespace mxnet {
namespace cuda {
namespace {

// A place of the kernel at a place of the result, in all its channels.
template <class T>
struct ToColumns {
  DeformedImage<T> image;
  T* columns;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t area = image.g.out_area();
    image.to_columns(i / area, i % area, columns);
  }
};
template <class T>
struct AtomicAdd {
  MX_DEVICE void operator()(T* sum, T value) const { atomic_add(sum, value); }
};
template <class T>
struct FromColumns {
  DeformedImage<T> image;
  const T* dcolumns;
  T *ddata, *doffset, *dmask;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t area = image.g.out_area();
    image.from_columns(i / area, i % area, dcolumns, ddata, doffset, dmask, AtomicAdd<T>{});
  }
};
// What is added to each row of `area` numbers.
template <class T>
struct AddToRows {
  const T* bias;
  T* out;
  int64_t area, rows;
  MX_DEVICE void operator()(int64_t i) const { out[i] += bias[i / area % rows]; }
};

// The groups of a convolution as a batch of products: filters x rows x area of the result.
struct GroupSizes {
  int64_t groups, filters, rows, area;
  explicit GroupSizes(const DeformableGeometry& g)
      : groups(g.groups),
        filters(g.filters / g.groups),
        rows(g.rows() / g.groups),
        area(g.out_area()) {}
};

// A product of a group: m x k numbers by k x n. All groups' factors and products lie one after
// another.
struct GroupProduct {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
};
template <class T>
void multiply_groups(NativeStream* stream, int64_t groups, const GroupProduct& of, const T* a,
                     const T* b, T* product, KernelContext& context) {
  gemm(stream,
       {.dtype = dtype_of<T>,
        .transpose_a = of.transpose_a,
        .transpose_b = of.transpose_b,
        .m = of.m,
        .n = of.n,
        .k = of.k,
        .a = a,
        .lda = of.transpose_a ? of.m : of.k,
        .step_a = of.m * of.k,
        .b = b,
        .ldb = of.transpose_b ? of.k : of.n,
        .step_b = of.k * of.n,
        .c = product,
        .ldc = of.n,
        .step_c = of.m * of.n,
        .batch = groups},
       context);
}

template <class T>
void columns_of(NativeStream* stream, const DeformedImage<T>& image, T* columns) {
  for_each(stream, "DeformableConvolution", image.g.places() * image.g.out_area(),
           ToColumns<T>{image, columns});
}

template <bool modulated>
void deformable(const DeformableParams& params, KernelContext& context) {
  const DeformableSlots slots = slots_of<modulated>(params);
  const DeformableGeometry g(params, modulated, context.in(0).shape());
  const GroupSizes sizes(g);
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    NativeStream* const stream = arrays.stream();
    const T *data = arrays.in(0), *offset = arrays.in(1), *weight = arrays.in(slots.weight());
    const T* mask = modulated ? arrays.in(slots.mask()) : nullptr;
    T* const out = arrays.out(0);
    T* const columns = context.workspace_of<T>(g.rows() * sizes.area);
    for (int64_t n = 0; n < g.batch; ++n) {
      columns_of(stream, deformed_image(g, n, data, offset, mask), columns);
      multiply_groups(stream, sizes.groups, {false, false, sizes.filters, sizes.area, sizes.rows},
                      weight, columns, out + n * g.filters * sizes.area, context);
    }
    if (slots.bias_used)
      for_each(stream, "DeformableConvolution", context.out(0).size(),
               AddToRows<T>{arrays.in(slots.bias()), out, sizes.area, g.filters});
  });
}

// Inputs: gradient of the output, then those of the forward operator.
template <bool modulated>
void deformable_slope(const DeformableParams& params, KernelContext& context) {
  const DeformableSlots slots = slots_of<modulated>(params);
  const DeformableGeometry g(params, modulated, context.in(1).shape());
  const GroupSizes sizes(g);
  compute(context.in(0).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    NativeStream* const stream = arrays.stream();
    const T *dout = arrays.in(0), *data = arrays.in(1), *offset = arrays.in(2);
    const T* mask = modulated ? arrays.in(1 + slots.mask()) : nullptr;
    const T* weight = arrays.in(1 + slots.weight());
    T* const ddata = arrays.zeroed_out(0);
    T* const doffset = arrays.out(1);
    T* const dmask = modulated ? arrays.out(slots.mask()) : nullptr;
    T* const dweight = arrays.zeroed_out(slots.weight());
    const Shape& of_weight = context.out(slots.weight()).shape();
    const Tensor sum{dweight, &of_weight, dtype_of<T>};
    const Tensor part{context.workspace_of<T>(of_weight.size()), &of_weight, dtype_of<T>};
    T* const columns = context.workspace_of<T>(g.rows() * sizes.area);
    const int64_t numbers = g.places() * sizes.area;
    for (int64_t n = 0; n < g.batch; ++n) {
      const DeformedImage<T> image = deformed_image(g, n, data, offset, mask);
      const T* d = dout + n * g.filters * sizes.area;
      columns_of(stream, image, columns);
      multiply_groups(stream, sizes.groups, {false, true, sizes.filters, sizes.rows, sizes.area}, d,
                      columns, static_cast<T*>(part.data), context);
      accumulate(stream, sum, part);
      multiply_groups(stream, sizes.groups, {true, false, sizes.rows, sizes.area, sizes.filters},
                      weight, d, columns, context);
      // What places of a deformable group add to belongs to it alone.
      scatter(stream, "DeformableConvolution", g.deformable_groups, g.kernel_area() * sizes.area,
              FromColumns<T>{image, columns, ddata + n * g.channels * g.area(),
                             doffset + n * 2 * numbers,
                             dmask == nullptr ? nullptr : dmask + n * numbers});
    }
    if (!slots.bias_used) return;
    const Shape& maps = context.in(0).shape();
    sum_channels(stream, {const_cast<T*>(dout), &maps, dtype_of<T>}, false,
                 {arrays.out(slots.bias()), &context.out(slots.bias()).shape(), dtype_of<T>},
                 context);
  });
}

}  // namespace

void add_deformable(std::vector<GpuKernelRow>* rows) {
  using P = DeformableParams;
  rows->push_back(kernel_row<P, deformable<false>>("_contrib_DeformableConvolution"));
  rows->push_back(kernel_row<P, deformable<true>>("_contrib_ModulatedDeformableConvolution"));
  rows->push_back(
      kernel_row<P, deformable_slope<false>>("_backward__contrib_DeformableConvolution"));
  rows->push_back(
      kernel_row<P, deformable_slope<true>>("_backward__contrib_ModulatedDeformableConvolution"));
}

}  // namespace cuda
}  // namespace mxnet
