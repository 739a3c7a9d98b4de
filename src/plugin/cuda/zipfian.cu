// SPDX-License-Identifier: Apache-2.0
// Rows of different classes with log-uniform frequencies (op/random/zipfian.cc). A row has a thread
// and a Philox sequence of its own; what it has found so far stands in a table of its own.
#include "op/random/zipfian.h"

#include <cmath>

#include "op/run/plugin_random.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/philox_draws.h"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

constexpr int32_t kEmpty = -1;

struct DrawClasses {
  uint64_t key;
  double log_range;
  int32_t range_max;
  int64_t columns, places;  // of a row, and of its table: a power of two
  int32_t* tables;
  int64_t *classes, *tries;

  // Whether the class is a new one, which it is no longer then.
  MX_DEVICE bool enter(int32_t* table, int32_t drawn) const {
    const auto last = static_cast<uint64_t>(places - 1);
    // Neighbours are drawn together most often: the golden ratio takes them apart.
    uint64_t at = (static_cast<uint64_t>(drawn) * 0x9E3779B97F4A7C15u >> 32) & last;
    for (; table[at] != kEmpty; at = (at + 1) & last)
      if (table[at] == drawn) return false;
    table[at] = drawn;
    return true;
  }
  MX_DEVICE void operator()(int64_t row) const {
    PhiloxDraws draws(key, row);
    int64_t count = 0;
    for (int64_t found = 0; found < columns; ++count) {
      const int64_t drawn = zipfian_class(draws.template uniform<double>(), log_range, range_max);
      if (enter(tables + row * places, static_cast<int32_t>(drawn)))
        classes[row * columns + found++] = drawn;
    }
    tries[row] = count;
  }
};

void draw_classes(const ZipfianParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const int64_t rows = out.dim(0), columns = out.dim(1);
  const uint64_t key = draw_plugin_key(context.device());
  if (rows == 0) return;
  int64_t places = 1;
  while (places < 2 * columns) places *= 2;  // at most half full, so that looking is short
  NativeStream* const stream = context.stream()->native();
  const Shape shape{rows * places};
  auto* const tables = context.workspace_of<int32_t>(shape[0]);
  fill(stream, {tables, &shape, DType::kInt32}, kEmpty);
  for_each(stream, "_sample_unique_zipfian", rows,
           DrawClasses{key, std::log(static_cast<double>(params.range_max)), params.range_max,
                       columns, places, tables, out.as<int64_t>(), context.out(1).as<int64_t>()});
}

}  // namespace

void add_zipfian(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<ZipfianParams, draw_classes>("_sample_unique_zipfian"));
}

}  // namespace cuda
}  // namespace mxnet
