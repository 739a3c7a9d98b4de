// SPDX-License-Identifier: Apache-2.0
// Walking a box: dimensions that are taken whole merge into contiguous runs.
#include "op/index/slice_box.h"

#include <algorithm>
#include <cstring>

#include "op/element_size.h"
#include "op/parallel.h"
#include "op/primitives.h"

namespace mxnet {
namespace {

// A position within [low, high] from one that may count from the end.
int64_t clamped(int64_t position, int64_t size, int64_t low, int64_t high) {
  if (position < 0) position += size;
  return std::clamp(position, low, high);
}

// `count` elements of W bytes between two evenly spaced places; a step of 0 repeats one element.
template <class W>
void move_elements(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t count) {
  const W* source = static_cast<const W*>(from);
  W* target = static_cast<W*>(to);
  for (int64_t i = 0; i < count; ++i) target[i * to_step] = source[i * from_step];
}

using MoveElements = void (*)(const void*, int64_t, void*, int64_t, int64_t);
MoveElements mover(std::size_t element_bytes) {
  MoveElements move = nullptr;
  dispatch_bytes(element_bytes, [&]<class T>(T) { move = move_elements<T>; });
  return move;
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

// The box in units of contiguous runs: `lines` of them, `inner` in the innermost loop.
struct SliceBox::Walk {
  struct Dim {
    int64_t count, step;  // in elements of the whole array
  };
  int64_t offset = 0;  // of the first element
  int64_t run = 1;     // contiguous elements
  int64_t lines = 1;
  std::array<Dim, Shape::kMaxDims> dims;  // innermost first
  int ndim = 0;
};

SliceBox::SliceBox(const Shape& whole) : whole_(whole) {
  for (int i = 0; i < whole.ndim(); ++i) set(i, {0, 1, whole[i]});
}

void SliceBox::set(int i, SliceRange range) { ranges_[static_cast<std::size_t>(i)] = range; }

Shape SliceBox::shape() const {
  Shape shape = whole_;
  for (int i = 0; i < shape.ndim(); ++i) shape[i] = ranges_[static_cast<std::size_t>(i)].count;
  return shape;
}

SliceBox::Walk SliceBox::walk() const {
  Walk walk;
  int64_t stride = 1;
  bool contiguous = true;  // nothing but whole dimensions inside of this one
  for (int i = whole_.ndim() - 1; i >= 0; --i) {
    const SliceRange& range = ranges_[static_cast<std::size_t>(i)];
    walk.offset += range.begin * stride;
    const bool whole = range.step == 1 && range.count == whole_[i];
    if (contiguous && (range.step == 1 || range.count == 1)) {
      walk.run *= range.count;
    } else if (range.count != 1) {
      walk.dims[static_cast<std::size_t>(walk.ndim++)] = {range.count, range.step * stride};
      walk.lines *= range.count;
    }
    contiguous = contiguous && whole;
    stride *= whole_[i];
  }
  return walk;
}

// move(offset in the whole, offset in the part, run, count, step): `count` runs, `step` elements of
// the whole apart and side by side in the part.
template <class Move>
void SliceBox::for_runs(const Move& move) const {
  const Walk w = walk();
  if (w.run == 0 || w.lines == 0) return;
  if (w.lines == 1) {
    parallel_for(w.run, 0.5, [&](int64_t first, int64_t last) {
      move(w.offset + first, first, last - first, 1, 0);
    });
    return;
  }
  const int64_t inner = w.dims[0].count, step = w.dims[0].step;
  parallel_for(w.lines, 1.0 + 0.5 * static_cast<double>(w.run), [&](int64_t first, int64_t last) {
    for (int64_t line = first; line < last;) {
      int64_t rest = line / inner, at = w.offset + line % inner * step;
      for (int i = 1; i < w.ndim; ++i) {
        const auto& dim = w.dims[static_cast<std::size_t>(i)];
        at += rest % dim.count * dim.step;
        rest /= dim.count;
      }
      const int64_t count = std::min(last - line, inner - line % inner);
      move(at, line * w.run, w.run, count, step);
      line += count;
    }
  });
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
  if (gpu_table(context) != nullptr) return copy_strided(context, plan(), whole, part, bytes);
  const MoveElements move = mover(bytes);
  const auto* from = static_cast<const char*>(whole);
  auto* to = static_cast<char*>(part);
  const auto size = static_cast<int64_t>(bytes);
  for_runs([&](int64_t at, int64_t part_at, int64_t run, int64_t count, int64_t step) {
    if (run == 1) return move(from + at * size, step, to + part_at * size, 1, count);
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(to + (part_at + i * run) * size, from + (at + i * step) * size,
                  static_cast<std::size_t>(run * size));
    }
  });
}

void SliceBox::write(void* whole, const void* part, std::size_t bytes,
                     KernelContext& context) const {
  if (gpu_table(context) != nullptr)
    return copy_strided(context, plan().reversed(), part, whole, bytes);
  const MoveElements move = mover(bytes);
  const auto* from = static_cast<const char*>(part);
  auto* to = static_cast<char*>(whole);
  const auto size = static_cast<int64_t>(bytes);
  for_runs([&](int64_t at, int64_t part_at, int64_t run, int64_t count, int64_t step) {
    if (run == 1) return move(from + part_at * size, 1, to + at * size, step, count);
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(to + (at + i * step) * size, from + (part_at + i * run) * size,
                  static_cast<std::size_t>(run * size));
    }
  });
}

void SliceBox::fill(void* whole, const void* value, std::size_t bytes,
                    KernelContext& context) const {
  if (gpu_table(context) != nullptr) {
    const StridedPlan box = plan();
    StridedPlan same;
    same.out_offset = box.in_offset;
    for (const StridedPlan::Dim& dim : box.dims()) same.add(dim.size, 0, dim.in_step);
    return copy_strided(context, same, value, whole, bytes);
  }
  const MoveElements move = mover(bytes);
  auto* to = static_cast<char*>(whole);
  const auto size = static_cast<int64_t>(bytes);
  for_runs([&](int64_t at, int64_t, int64_t run, int64_t count, int64_t step) {
    for (int64_t i = 0; i < count; ++i) move(value, 0, to + (at + i * step) * size, 1, run);
  });
}

}  // namespace mxnet
