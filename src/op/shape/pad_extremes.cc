// SPDX-License-Identifier: Apache-2.0
// Dimension by dimension, each on what the one before has padded.
#include "op/shape/pad_extremes.h"

#include "op/reducing/evaluate.h"
#include "op/run/primitives.h"
#include "op/shape/axes.h"

namespace mxnet {
namespace {

// The array grows dimension by dimension, up to the last that is padded: into a larger one go what
// there is, and its extremes along the dimension before and after it.
void grow(const std::vector<PadWidth>& widths, int last, bool largest, const Tensor& in,
          const Tensor& out, KernelContext& context) {
  const std::size_t element = dtype_size(in.dtype);
  std::vector<Shape> shapes(widths.size() + 1, in.shape());
  Tensor from = in;
  for (int dim = 0; dim <= last; ++dim) {
    const PadWidth& width = widths[static_cast<std::size_t>(dim)];
    if (width.before + width.after == 0) continue;
    Shape extreme = from.shape(), &grown = shapes[static_cast<std::size_t>(dim) + 1];
    extreme[dim] = 1;
    grown = from.shape();
    grown[dim] = out.dim(dim);
    const Tensor extremes{context.workspace(static_cast<std::size_t>(extreme.size()) * element),
                          &extreme, in.dtype};
    reduce_to({.reduction = largest ? Reduction::max : Reduction::min}, from, AxisSet{1} << dim,
              extremes, context);
    const Tensor to{dim == last
                        ? out.data
                        : context.workspace(static_cast<std::size_t>(grown.size()) * element),
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
  int last = in.ndim() - 1;
  while (last >= 0 && widths[static_cast<std::size_t>(last)].before == 0 &&
         widths[static_cast<std::size_t>(last)].after == 0)
    --last;
  if (last >= 0) return grow(widths, last, largest, in, out, context);
  const PadMaps maps(in.shape(), widths, PadMode::kConstant);
  copy_strided(context, interior_plan(maps, in.shape(), out.shape()), in.data, out.data,
               dtype_size(in.dtype));
}

}  // namespace mxnet
