// SPDX-License-Identifier: Apache-2.0
// A box of evenly spaced elements as the plan of a strided copy.
#include "op/index/slice_box.h"

#include <algorithm>

#include "op/run/primitives.h"

namespace mxnet {
namespace {

// A position within [low, high] from one that may count from the end.
int64_t clamped(int64_t position, int64_t size, int64_t low, int64_t high) {
  if (position < 0) position += size;
  return std::clamp(position, low, high);
}

}  // namespace

SliceRange python_range(std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step,
                        int64_t size) {
  if (step > 0) {
    const int64_t first = begin ? clamped(*begin, size, 0, size) : 0;
    const int64_t last = end ? clamped(*end, size, 0, size) : size;
    return {first, step, last > first ? (last - first - 1) / step + 1 : 0};
  }
  const int64_t first = begin ? clamped(*begin, size, -1, size - 1) : size - 1;
  const int64_t last = end ? clamped(*end, size, -1, size - 1) : -1;
  return {first, step, first > last ? (first - last - 1) / -step + 1 : 0};
}

SliceBox::SliceBox(const Shape& whole) : whole_(whole) {
  for (int i = 0; i < whole.ndim(); ++i) set(i, {0, 1, whole[i]});
}

void SliceBox::set(int i, SliceRange range) { ranges_[static_cast<std::size_t>(i)] = range; }

Shape SliceBox::shape() const {
  Shape shape = whole_;
  for (int i = 0; i < shape.ndim(); ++i) shape[i] = ranges_[static_cast<std::size_t>(i)].count;
  return shape;
}

int SliceBox::outermost() const {
  int i = 0;
  while (i < whole_.ndim() - 1 && whole_[i] == 1) ++i;
  return i;
}

bool SliceBox::steps_forward() const {
  return whole_.ndim() > 0 && ranges_[static_cast<std::size_t>(outermost())].step > 0;
}

SliceBox::Part SliceBox::part(int64_t first, int64_t last) const {
  const int i = outermost();
  const SliceRange& range = ranges_[static_cast<std::size_t>(i)];
  // How many places of the box lie before one of the array.
  const auto before = [&range](int64_t place) {
    const int64_t ahead = std::max<int64_t>(place - range.begin, 0);
    return std::min((ahead + range.step - 1) / range.step, range.count);
  };
  const int64_t skipped = before(first), end = before(last);
  Part part{*this, 0};
  part.box.set(i, {range.begin + skipped * range.step, range.step, end - skipped});
  const Shape shape = this->shape();
  part.skipped = skipped * shape.size(i + 1, shape.ndim());
  return part;
}

StridedPlan SliceBox::plan() const {
  const RowMajorSteps whole_steps(whole_), part_steps(shape());
  StridedPlan plan;
  for (int i = 0; i < whole_.ndim(); ++i) {
    const SliceRange& range = ranges_[static_cast<std::size_t>(i)];
    plan.in_offset += range.begin * whole_steps[i];
    plan.add(range.count, range.step * whole_steps[i], part_steps[i]);
  }
  return plan;
}

void SliceBox::read(const void* whole, void* part, std::size_t bytes,
                    KernelContext& context) const {
  copy_strided(context, plan(), whole, part, bytes);
}

void SliceBox::write(void* whole, const void* part, std::size_t bytes,
                     KernelContext& context) const {
  copy_strided(context, plan().reversed(), part, whole, bytes);
}

void SliceBox::fill(void* whole, const void* value, std::size_t bytes,
                    KernelContext& context) const {
  const StridedPlan box = plan();
  StridedPlan same;
  same.out_offset = box.in_offset;
  for (const StridedPlan::Dim& dim : box.dims()) same.add(dim.size, 0, dim.in_step);
  copy_strided(context, same, value, whole, bytes);
}

}  // namespace mxnet
