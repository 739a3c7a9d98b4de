// SPDX-License-Identifier: Apache-2.0
// Numbers that are made of their own positions: windows, powers in even steps, indices of places
// and positions of indices. One kernel serves all types.
#include "op/create/space.h"
#include "op/create/window.h"
#include "op/index/ravel.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"

namespace mxnet {
namespace cuda {
namespace {

template <class F>
struct Series {
  F number;
  Stored out;
  MX_DEVICE void operator()(int64_t i) const { out(i, number(i)); }
};
template <class F>
void write_series(KernelContext& context, const char* name, const F& number) {
  const Tensor& out = context.out(0);
  for_each(context.stream()->native(), name, out.size(), Series<F>{number, {out.data, out.dtype}});
}

template <const Cosines& kWindow>
void window(const void*, KernelContext& context) {
  const Tensor& out = context.out(0);
  write_series(context, "window", Window{kWindow, pi_of_window(out.dtype), out.size()});
}

struct Powers {
  EvenSteps exponent;
  double base;
  MX_DEVICE double operator()(int64_t i) const { return row_words::power(base, exponent(i)); }
};
void logspace(const SpaceParams& params, KernelContext& context) {
  write_series(context, "_npi_logspace", Powers{EvenSteps(params), params.base});
}

// Dimensions of a grid as kernels take them.
struct Grid {
  int ndim = 0;
  int64_t sizes[Shape::kMaxDims];

  Grid(const Shape& shape, int first) {
    for (int d = first; d < shape.ndim(); ++d) sizes[ndim++] = shape[d];
  }
  // The index along `axis` of place `at`.
  MX_DEVICE int64_t index(int64_t at, int axis) const {
    for (int d = ndim - 1; d > axis; --d) at /= sizes[d];
    return axis == 0 ? at : at % sizes[axis];
  }
};

struct GridIndices {
  Grid grid;
  int64_t places;
  MX_DEVICE int64_t operator()(int64_t i) const {
    return grid.index(i % places, static_cast<int>(i / places));
  }
};
void indices(const void*, KernelContext& context) {
  const Shape& shape = context.out(0).shape();  // axes, then the grid
  if (shape.size() == 0) return;
  write_series(context, "_npi_indices", GridIndices{Grid(shape, 1), shape.size(1, shape.ndim())});
}

struct ChosenIndices {
  Grid grid;
  int parts;
  int axes[Shape::kMaxDims];
  MX_DEVICE int64_t operator()(int64_t i) const { return grid.index(i / parts, axes[i % parts]); }
};
void index_array(const IndexArrayParams& params, KernelContext& context) {
  const Shape& shape = context.in(0).shape();
  ChosenIndices chosen{Grid(shape, 0), static_cast<int>(context.out(0).shape().back()), {}};
  for (int p = 0; p < chosen.parts; ++p) chosen.axes[p] = params.axis(p, shape.ndim());
  write_series(context, "_contrib_index_array", chosen);
}

struct Diagonal {
  int64_t length;
  MX_DEVICE int64_t operator()(int64_t i) const { return i % length; }
};
void diagonal_indices(const void*, KernelContext& context) {
  write_series(context, "_npi_diag_indices_from", Diagonal{context.out(0).dim(1)});
}

struct PlaceOfIndices {
  Grid grid;
  Integers indices;
  int64_t count;
  MX_DEVICE int64_t operator()(int64_t i) const {
    int64_t position = 0;
    for (int d = 0; d < grid.ndim; ++d)
      position = position * grid.sizes[d] + indices(d * count + i);
    return position;
  }
};
void ravel(const RavelParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  write_series(context, "_ravel_multi_index",
               PlaceOfIndices{Grid(params.shape, 0), {in.data, in.dtype}, context.out(0).size()});
}

struct IndicesOfPlace {
  Grid grid;
  Integers places;
  int64_t count;
  MX_DEVICE int64_t operator()(int64_t i) const {
    return grid.index(places(i % count), static_cast<int>(i / count));
  }
};
void unravel(const RavelParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  write_series(context, "_unravel_index",
               IndicesOfPlace{Grid(params.shape, 0), {in.data, in.dtype}, in.size()});
}

}  // namespace

void add_series(std::vector<GpuKernelRow>* rows) {
  rows->push_back({"_npi_blackman", window<kBlackman>, nullptr});
  rows->push_back({"_npi_hamming", window<kHamming>, nullptr});
  rows->push_back({"_npi_hanning", window<kHanning>, nullptr});
  rows->push_back(kernel_row<SpaceParams, logspace>("_npi_logspace"));
  rows->push_back({"_npi_indices", indices, nullptr});
  rows->push_back(kernel_row<IndexArrayParams, index_array>("_contrib_index_array"));
  rows->push_back({"_npi_diag_indices_from", diagonal_indices, nullptr});
  rows->push_back(kernel_row<RavelParams, ravel>("_ravel_multi_index"));
  rows->push_back(kernel_row<RavelParams, unravel>("_unravel_index"));
}

}  // namespace cuda
}  // namespace mxnet
