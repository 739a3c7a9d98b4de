// SPDX-License-Identifier: Apache-2.0
// Greedy matching of rows with columns, the best scores first.
#include "op/detect/matching.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/stable_order.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet::detect {
namespace {

template <class T>
void match(const MatchingParams& params, const T* scores, int64_t rows, int64_t columns, T* row,
           T* column) {
  std::fill_n(row, rows, T{-1});
  std::fill_n(column, columns, T{-1});
  std::vector<double> goodness(scores, scores + rows * columns);
  if (params.is_ascend) std::ranges::transform(goodness, goodness.begin(), std::negate{});
  const T threshold = static_cast<T>(params.threshold);
  int64_t found = 0;
  for (const std::size_t place : places_by_descending(goodness)) {
    const auto at = static_cast<int64_t>(place);
    const int64_t r = at / columns, c = at % columns;
    if (row[r] != T{-1} || column[c] != T{-1}) continue;
    const bool good = params.is_ascend ? scores[at] < threshold : scores[at] > threshold;
    if (!good) break;
    row[r] = static_cast<T>(c);
    column[c] = static_cast<T>(r);
    // Existing programs get one more than they ask for.
    if (params.topk > 0 && ++found > params.topk) break;
  }
}

MX_OP(_contrib_bipartite_matching, MatchingParams)
.doc(
    "Greedy matching of rows with columns by score: the column of each row and the row of "
    "each column, -1 without.")
    .input("data", "Scores, (..., rows, columns).")
    .param("is_ascend", &MatchingParams::is_ascend, false, "Whether small scores are good ones.")
    .param("threshold", &MatchingParams::threshold, "Scores must be better than this.")
    .param("topk", &MatchingParams::topk, -1,
           "Number of matches, if positive, after which one more is the last.")
    .outputs([](const MatchingParams&) { return 2; })
    .dtypes(kFloating)
    .infer([](const MatchingParams&, Infer& infer) {
      infer.one_dtype();
      if (!infer.in(0).known()) return;
      const Shape& shape = infer.in(0).shape();
      if (shape.ndim() < 2) infer.in(0).fail("two or more dimensions");
      std::vector<int64_t> rows(shape.begin(), shape.end() - 1), columns = rows;
      columns.back() = shape.back();
      infer.out(0).set_shape(Shape(std::span<const int64_t>(rows)));
      infer.out(1).set_shape(Shape(std::span<const int64_t>(columns)));
    })
    .cpu([](const MatchingParams& params, KernelContext& context) {
      compute(context.in(0).dtype, context, [&](auto& arrays, auto) {
        const auto* scores = arrays.in(0);
        auto *row = arrays.out(0), *column = arrays.out(1);
        const Shape& shape = context.in(0).shape();
        const int64_t rows = shape[shape.ndim() - 2], columns = shape.back();
        const int64_t area = rows * columns;
        parallel_for(
            shape.size(0, shape.ndim() - 2), 32.0 * static_cast<double>(area),
            [&](int64_t first, int64_t last) {
              for (int64_t i = first; i < last; ++i)
                match(params, scores + i * area, rows, columns, row + i * rows,
                      column + i * columns);
            },
            1);
      });
    })
    .zero_grad();

}  // namespace
}  // namespace mxnet::detect
