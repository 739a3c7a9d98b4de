// SPDX-License-Identifier: Apache-2.0
// How far boxes overlap, each with each.
#include "op/detect/box_columns.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet::detect {
namespace {

void infer_box_iou(const BoxIouParams&, Infer& infer) {
  infer.one_dtype();
  std::vector<int64_t> dims;
  for (int i = 0; i < 2; ++i) {
    if (!infer.in(i).rank_known()) return;
    const Shape& shape = infer.in(i).shape();
    if (shape.ndim() < 1 || (shape.back() >= 0 && shape.back() != 4))
      infer.in(i).fail("boxes of four numbers");
    dims.insert(dims.end(), shape.begin(), shape.end() - 1);
  }
  infer.out(0).set_shape(Shape(std::span<const int64_t>(dims)));
}

void box_iou_cpu(const BoxIouParams& params, KernelContext& context) {
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *lhs = arrays.in(0), *rhs = arrays.in(1);
    T* out = arrays.out(0);
    const int64_t rows = context.in(0).size() / 4, columns = context.in(1).size() / 4;
    const BoxColumns<T> others(columns,
                               [&](int64_t j) { return read_box(rhs + j * 4, params.format); });
    parallel_for(
        rows, 2.0 * static_cast<double>(columns),
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i)
            others.iou(read_box(lhs + i * 4, params.format), 0, columns, out + i * columns);
        },
        1);
  });
}

MX_OP(_contrib_box_iou, BoxIouParams)
.doc("Intersection over union of each box of lhs with each of rhs.")
    .input("lhs", "Boxes, (..., 4).")
    .input("rhs", "Boxes, (..., 4).")
    .choice("format", &BoxIouParams::format,
            {{"corner", BoxFormat::kCorner}, {"center", BoxFormat::kCenter}}, "corner",
            "corner: left, top, right, bottom; center: x, y, width, height.")
    .dtypes(kFloating)
    .infer(infer_box_iou)
    .cpu(box_iou_cpu)
    .zero_grad();

}  // namespace
}  // namespace mxnet::detect
