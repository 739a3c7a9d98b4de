// SPDX-License-Identifier: Apache-2.0
// One line after the other, dimension by dimension, each on what the one before has padded.
#include "op/shape/pad_extremes.h"

#include <algorithm>

#include "op/reducing/evaluate.h"
#include "op/run/dispatch.h"
#include "op/run/primitives.h"
#include "op/shape/axes.h"

namespace mxnet {
namespace {

// Whether a replaces b; NaN is larger and smaller than all, as in NumPy.
template <class T>
bool wins(T a, T b, bool largest) {
  using C = ComputeType<T>;
  const C x = static_cast<C>(a), y = static_cast<C>(b);
  if (x != x) return true;
  return largest ? x > y : x < y;
}

// Pads one line along a dimension: what lies in [before, before + size) is there already.
template <class T>
void pad_line(void* at, int64_t step, const PadWidth& width, int64_t size, bool largest) {
  T* const line = static_cast<T*>(at);
  T best = line[width.before * step];
  for (int64_t i = 1; i < size; ++i) {
    const T value = line[(width.before + i) * step];
    if (wins(value, best, largest)) best = value;
  }
  for (int64_t i = 0; i < width.before; ++i) line[i * step] = best;
  for (int64_t i = 0; i < width.after; ++i) line[(width.before + size + i) * step] = best;
}
using PadLine = void (*)(void* at, int64_t step, const PadWidth& width, int64_t size, bool largest);

// All lines along `dim`. Dimensions before it are padded already and are walked in full, those
// after it only where the input lies.
void pad_dim(PadLine pad_line, int dim, const std::vector<PadWidth>& widths, bool largest,
             const Shape& in, const Tensor& out) {
  const auto bytes = static_cast<int64_t>(dtype_size(out.dtype));
  const RowMajorSteps steps(out.shape());
  StridedPlan lines;
  for (int i = 0; i < in.ndim(); ++i) {
    const bool inside = i > dim;
    if (inside) lines.out_offset += widths[static_cast<std::size_t>(i)].before * steps[i];
    if (i != dim) lines.add(inside ? in[i] : out.dim(i), 0, steps[i]);
  }
  const auto dims = lines.dims();
  int64_t count = 1;
  for (const StridedPlan::Dim& d : dims) count *= d.size;
  for (int64_t line = 0; line < count; ++line) {
    int64_t rest = line, offset = lines.out_offset;
    for (std::size_t i = dims.size(); i-- > 0;) {
      offset += rest % dims[i].size * dims[i].out_step;
      rest /= dims[i].size;
    }
    pad_line(out.as<char>() + offset * bytes, steps[dim], widths[static_cast<std::size_t>(dim)],
             in[dim], largest);
  }
}

// On a GPU an array grows dimension by dimension: into a larger one go what there is, and its
// extremes along the dimension before and after it.
void pad_on_gpu(const std::vector<PadWidth>& widths, bool largest, const Tensor& in,
                const Tensor& out, KernelContext& context) {
  const std::size_t element = dtype_size(in.dtype);
  std::vector<Shape> shapes(widths.size() + 1, in.shape());
  Tensor from = in;
  for (int dim = 0; dim < in.ndim(); ++dim) {
    const PadWidth& width = widths[static_cast<std::size_t>(dim)];
    Shape extreme = from.shape(), &grown = shapes[static_cast<std::size_t>(dim) + 1];
    extreme[dim] = 1;
    grown = from.shape();
    grown[dim] = out.dim(dim);
    const Tensor extremes{context.workspace(static_cast<std::size_t>(extreme.size()) * element),
                          &extreme, in.dtype};
    reduce_to({.reduction = largest ? Reduction::max : Reduction::min}, from, AxisSet{1} << dim,
              extremes, context);
    const bool last = dim + 1 == in.ndim();
    const Tensor to{
        last ? out.data : context.workspace(static_cast<std::size_t>(grown.size()) * element),
        &grown, in.dtype};
    const RowMajorSteps steps(grown);
    const auto put = [&](const Tensor& part, int64_t first, int64_t count) {
      if (count == 0) return;
      const RowMajorSteps part_steps(part.shape());
      StridedPlan plan;
      plan.out_offset = first * steps[dim];
      for (int i = 0; i < in.ndim(); ++i) {
        const bool repeated = i == dim && part.dim(i) == 1;
        plan.add(i == dim ? count : part.dim(i), repeated ? 0 : part_steps[i], steps[i]);
      }
      copy_strided(context, plan, part.data, to.data, element);
    };
    const int64_t size = from.dim(dim);
    put(extremes, 0, width.before);
    put(from, width.before, size);
    put(extremes, width.before + size, width.after);
    from = to;
  }
}

}  // namespace

void pad_extremes(const std::vector<PadWidth>& widths, bool largest, const Tensor& in,
                  const Tensor& out, KernelContext& context) {
  if (out.size() == 0) return;
  if (gpu_table(context) != nullptr && in.ndim() > 0)
    return pad_on_gpu(widths, largest, in, out, context);
  const PadMaps maps(in.shape(), widths, PadMode::kConstant);
  copy_strided(context, interior_plan(maps, in.shape(), out.shape()), in.data, out.data,
               dtype_size(in.dtype));
  if (gpu_table(context) != nullptr) return;  // no dimension: that was all
  const PadLine line =
      dispatch_dtype(in.dtype, "pad", []<class T>(TypeTag<T>) -> PadLine { return pad_line<T>; });
  for (int dim = 0; dim < in.ndim(); ++dim) {
    const PadWidth& width = widths[static_cast<std::size_t>(dim)];
    if (width.before + width.after > 0) pad_dim(line, dim, widths, largest, in.shape(), out);
  }
}

}  // namespace mxnet
