// SPDX-License-Identifier: Apache-2.0
// Copies of parts, by blocks of rows that stay in cache.
#include "op/shape/joining.h"

#include <algorithm>

#include "op/parallel.h"
#include "op/primitives.h"

namespace mxnet {
namespace {

// Bytes of the whole that are worked on at a time: parts that are narrow columns of it take turns
// on lines that are still in the second-level cache.
constexpr int64_t kBlockBytes = 256 << 10;

}  // namespace

void copy_parts(const Tensor& whole, int axis, std::span<const Tensor> parts, PartsCopy direction,
                KernelContext& context) {
  if (whole.size() == 0) return;
  const int64_t rows = whole.shape().size(0, axis);
  const int64_t row = whole.size() / rows;
  const std::size_t element = dtype_size(whole.dtype);
  const auto copy_rows = [&](int64_t first, int64_t last) {
    int64_t at = 0;
    for (const Tensor& part : parts) {
      const int64_t length = part.size() / rows;
      StridedPlan plan;
      plan.in_offset = first * length;
      plan.out_offset = first * row + at;
      plan.add(last - first, length, row);
      plan.add(length, 1, 1);
      if (direction == PartsCopy::kJoin) {
        copy_strided(context, plan, part.data, whole.data, element);
      } else {
        copy_strided(context, plan.reversed(), whole.data, part.data, element);
      }
      at += length;
    }
  };
  const int64_t block = std::max<int64_t>(1, kBlockBytes / (row * static_cast<int64_t>(element)));
  const int64_t blocks = (rows + block - 1) / block;
  // Long rows: each part is split over threads. A GPU splits everything by itself.
  if (blocks < 4 || gpu_table(context) != nullptr) return copy_rows(0, rows);
  const double cost = static_cast<double>(block * row);
  parallel_for(
      blocks, cost,
      [&](int64_t first, int64_t last) {
        for (int64_t b = first; b < last; ++b)
          copy_rows(b * block, std::min(rows, (b + 1) * block));
      },
      1);
}

}  // namespace mxnet
