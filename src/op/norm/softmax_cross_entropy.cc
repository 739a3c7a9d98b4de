// SPDX-License-Identifier: Apache-2.0
// softmax_cross_entropy: the loss of a classifier as a number, without losing small probabilities.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "base/error.h"
#include "op/norm/norm_loops.h"
#include "op/norm/row_sums.h"
#include "op/norm/softmax_kernel.h"
#include "op/op_builder.h"
#include "op/reducing/reduce_engine.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr int64_t kRows = 64;  // whose labels are read, and logarithms taken, at once

void infer_entropy(InferArg data, InferArg label) {
  label.same_dtype(data);
  if (data.rank_known() && data.ndim() != 2) data.fail("rank 2");
  if (label.rank_known() && label.ndim() != 1) label.fail("rank 1");
  if (data.rank_known()) label.set_shape({data.dim(0)});
}

// The class of each row. Checked before rows are dealt to threads: what is thrown may not leave a
// parallel loop.
const int64_t* checked_classes(const Tensor& label, int64_t classes, KernelContext& context) {
  int64_t* result = context.workspace_of<int64_t>(label.size());
  double buffer[kRows];
  for (int64_t begin = 0; begin < label.size(); begin += kRows) {
    const int64_t n = std::min(kRows, label.size() - begin);
    const double* given = read_elements(label, begin, n, 1, buffer);
    for (int64_t i = 0; i < n; ++i) {
      if (!(given[i] > -1.0 && given[i] < static_cast<double>(classes))) {
        throw Error(ErrorCode::kValue, "softmax_cross_entropy",
                    fmt::format("given label {} in row {}, expected one of {} classes", given[i],
                                begin + i, classes));
      }
      result[begin + i] = static_cast<int64_t>(given[i]);
    }
  }
  return result;
}

// Sum over rows of log(sum of exponentials) - score of the label.
void entropy_forward(const NoParams&, KernelContext& context) {
  const Tensor &data = context.in(0), &label = context.in(1);
  const RowLayout rows = rows_along(data.shape(), 1);
  const int64_t* classes = checked_classes(label, rows.length, context);
  double* losses = context.workspace_of<double>(rows.outer);
  with_row_type(data.dtype, [&](auto zero) {
    using C = decltype(zero);
    const NormLoops<C>& loops = norm_loops<C>();
    const bool wide = accumulate_wide();
    parallel_for(
        rows.outer, 8.0 * static_cast<double>(rows.length),
        [&](int64_t first, int64_t last) {
          RowReader<C> read(data, rows, last);
          alignas(64) double logs[kRows] = {};
          for (int64_t begin = first; begin < last; begin += kRows) {
            const int64_t n = std::min(kRows, last - begin);
            double* loss = losses + begin;
            for (int64_t i = 0; i < n; ++i) {
              const C* x = read(begin + i);
              const C shift = loops.max(x, rows.length);
              logs[i] = sum_blocks<C>(rows.length, wide, [&](int64_t at, int64_t count) {
                return loops.exp_sum(x + at, nullptr, count, shift, C(1));
              });
              loss[i] = static_cast<double>(x[classes[begin + i]]) - static_cast<double>(shift);
            }
            norm_loops<double>().negative_logs(logs, n);  // the largest adds 1 to each sum
            for (int64_t i = 0; i < n; ++i) loss[i] = -logs[i] - loss[i];
          }
        },
        1);
  });
  double loss = 0;
  for (int64_t r = 0; r < rows.outer; ++r) loss += losses[r];
  write_element(context.out(0), 0, loss);
}

// Inputs: gradient, data, labels.
void entropy_backward(const NoParams&, KernelContext& context) {
  const Tensor &data = context.in(1), &label = context.in(2), &dx = context.out(0);
  const double scale = read_element(context.in(0), 0);
  const RowLayout rows = rows_along(data.shape(), 1);
  SoftmaxCall call;
  call.rows = rows;
  const int64_t* classes = checked_classes(label, rows.length, context);
  with_row_type(data.dtype, [&](auto zero) {
    using C = decltype(zero);
    // In the type of computing: halves are rounded once.
    const Tensor p{context.workspace_of<C>(data.size()), data.shape_ptr,
                   std::is_same_v<C, float> ? DType::kFloat32 : DType::kFloat64};
    softmax_forward(call, data, p, context);
    parallel_for(
        rows.outer, 2.0 * static_cast<double>(rows.length),
        [&](int64_t first, int64_t last) {
          for (int64_t r = first; r < last; ++r) {
            C* row = p.as<C>() + r * rows.length;
            row[classes[r]] -= C(1);
            norm_loops<C>().scale(row, rows.length, static_cast<C>(scale));
            write_elements(dx, r * rows.length, rows.length, 1, row);
          }
        },
        1);
  });
}

MX_OP(softmax_cross_entropy, NoParams)
.doc("Sum over all rows of the cross entropy between softmax and the label.")
    .input("data", "Scores, a row for each example.")
    .input("label", "Classes.")
    .lenient()
    .dtypes(kFloating)
    .infer([](const NoParams&, Infer& infer) {
      infer_entropy(infer.in(0), infer.in(1));
      infer.out(0).set_shape({1}).same_dtype(infer.in(0));
    })
    .cpu(entropy_forward)
    .grad([](const NoParams&, Grad& grad) {
      const Value dx =
          apply("_backward_softmax_cross_entropy", {grad.dout(0), grad.in(0), grad.in(1)});
      return Gradients{dx, Value()};
    });

MX_OP(_backward_softmax_cross_entropy, NoParams)
.doc("Gradient of softmax_cross_entropy.")
    .input("head_grad", "Gradient of the loss.")
    .input("data", "Scores.")
    .input("label", "Classes.")
    .dtypes(kFloating)
    .infer([](const NoParams&, Infer& infer) {
      infer_entropy(infer.in(1), infer.in(2));
      infer.in(0).set_shape({1}).same_dtype(infer.in(1));
      infer.in(1).same_as(infer.out(0));
    })
    .cpu(entropy_backward);

}  // namespace
}  // namespace mxnet
