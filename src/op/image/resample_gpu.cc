// SPDX-License-Identifier: Apache-2.0
// Places and weights are those of the CPU, worked out on the host: the GPU is handed lists of them.
#include <algorithm>
#include <bit>

#include "op/image/resample.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/read_back.h"

namespace mxnet::image {
namespace {

// Old places, and weights in the bits that GpuResample says.
struct Lists {
  std::vector<int64_t> old, weight;
};

Lists real_lists(const Taps& taps) {
  Lists lists{taps.old, {}};
  for (const float weight : taps.weight)
    lists.weight.push_back(std::bit_cast<int64_t>(static_cast<double>(weight)));
  return lists;
}
Lists whole_lists(const std::vector<int64_t>& old, const std::vector<int32_t>& weight) {
  return {old, {weight.begin(), weight.end()}};
}
// Each new pixel has `from / to` old ones.
Lists average_lists(int64_t from, int64_t to) {
  Lists lists;
  for (int64_t i = 0; i < from / to * to; ++i) lists.old.push_back(i);
  lists.weight.assign(lists.old.size(), 1);
  return lists;
}

struct Work {
  GpuResample::How how;
  Lists rows, columns;
  float share = 0;
};

Work work_of(Interpolation how, bool bytes, int64_t channels, int64_t height, int64_t width,
             int64_t new_height, int64_t new_width) {
  using How = GpuResample::How;
  if (bytes && how == Interpolation::kLinear) {
    const WholeTaps rows = linear_taps(height, new_height, false);
    const WholeTaps columns = linear_taps(width, new_width, true);
    return {How::kWhole, whole_lists(rows.old, rows.weight),
            whole_lists(columns.old, columns.weight)};
  }
  if (bytes && how == Interpolation::kArea && height % new_height == 0 && width % new_width == 0) {
    const int64_t down = height / new_height, across = width / new_width;
    return {halves_go_up(down, across, channels) ? How::kHalvesUp : How::kAverage,
            average_lists(height, new_height), average_lists(width, new_width),
            1.0F / static_cast<float>(down * across)};
  }
  const bool shrinks = new_height <= height && new_width <= width;
  const Taps rows = make_taps(how, height, new_height, shrinks);
  const Taps columns = make_taps(how, width, new_width, shrinks);
  if (rows.width == 1 && columns.width == 1)
    return {How::kPick, real_lists(rows), real_lists(columns)};
  if (bytes && rows.interpolates && columns.interpolates)
    return {How::kWhole, whole_lists(rows.old, whole_weights(rows)),
            whole_lists(columns.old, whole_weights(columns))};
  return {How::kReal, real_lists(rows), real_lists(columns)};
}

}  // namespace

void resample_on_gpu(Interpolation how, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const int n = in.ndim();
  const int64_t height = in.dim(n - 3), width = in.dim(n - 2), channels = in.dim(n - 1);
  const int64_t new_height = out.dim(n - 3), new_width = out.dim(n - 2);
  const Work work =
      work_of(how, in.dtype == DType::kUInt8, channels, height, width, new_height, new_width);
  const std::vector<int64_t>* const lists[] = {&work.rows.old, &work.rows.weight, &work.columns.old,
                                               &work.columns.weight};
  std::size_t count = 0;
  for (const auto* list : lists) count += list->size();
  const HostNumbers numbers(context, static_cast<int64_t>(count));
  int64_t* to = numbers.data();
  for (const auto* list : lists) to = std::copy(list->begin(), list->end(), to);
  const int64_t* at = numbers.on_device(context, static_cast<int64_t>(count));
  const auto axis = [&](int64_t from, int64_t size, const Lists& of) {
    const auto each = static_cast<int64_t>(of.old.size());
    const GpuResample::Axis result{from, size, each / size, at, at + each};
    at += 2 * each;
    return result;
  };
  const GpuResample::Axis rows = axis(height, new_height, work.rows);
  const GpuResample::Axis columns = axis(width, new_width, work.columns);
  gpu_table(context)->resample(context.stream()->native(), {.how = work.how,
                                                            .rows = rows,
                                                            .columns = columns,
                                                            .channels = channels,
                                                            .share = work.share,
                                                            .in = in,
                                                            .out = out});
}

}  // namespace mxnet::image
