// SPDX-License-Identifier: Apache-2.0
// What each mode shows, and the walk over rows along the last dimension.
#include "op/shape/pad_maps.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "base/repeat_bytes.h"
#include "op/loops/as_type.h"
#include "op/loops/convert.h"
#include "op/moving/row_copy.h"
#include "op/moving/rows.h"
#include "op/run/dispatch.h"
#include "op/run/element_size.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

// What position `at`, left or right of an input of `size` elements, shows.
int64_t shown(int64_t at, int64_t size, PadMode mode) {
  switch (mode) {
    case PadMode::kEdge:
      return std::clamp<int64_t>(at, 0, size - 1);
    case PadMode::kReflect: {  // there and back without repeating the ends
      if (size == 1) return 0;
      const int64_t period = 2 * (size - 1), within = modulo(at, period);
      return within < size ? within : period - within;
    }
    case PadMode::kSymmetric: {  // there and back with the ends repeated
      const int64_t within = modulo(at, 2 * size);
      return within < size ? within : 2 * size - 1 - within;
    }
    default:
      return PadMaps::kOutside;
  }
}

// The map of one dimension where kernels read it.
class AxisMap {
 public:
  AxisMap(const PadMaps& maps, int dim, int64_t extent, int64_t count, KernelContext& context)
      : extent_(extent), count_{count} {
    const HostNumbers numbers(context, count);
    for (int64_t i = 0; i < count; ++i) numbers.data()[i] = maps.at(dim, i);
    // Read only.
    map_ = {const_cast<int64_t*>(numbers.on_device(context, count_[0])), &count_, DType::kInt64};
  }
  AxisMap(const AxisMap&) = delete;
  AxisMap& operator=(const AxisMap&) = delete;
  Positions positions() const { return Positions(map_, extent_, OutOfRange::kClip, "pad"); }

 private:
  const int64_t extent_;
  const Shape count_;
  Tensor map_;
};

// On a GPU one dimension after the other: rows of the inner ones are picked by its map.
void pad_on_gpu(const PadMaps& maps, const Tensor& in, const Tensor& out, double constant,
                KernelContext& context) {
  const std::size_t element = dtype_size(out.dtype);
  if (maps.mode() == PadMode::kConstant || out.ndim() == 0) {
    if (out.ndim() > 0) fill_tensor(context, out, constant);
    return copy_strided(context, interior_plan(maps, in.shape(), out.shape()), in.data, out.data,
                        element);
  }
  Shape shape = in.shape();
  const void* from = in.data;
  for (int i = 0; i < out.ndim(); ++i) {
    const bool last = i + 1 == out.ndim();
    const int64_t extent = shape[i];
    const AxisMap map(maps, i, extent, out.dim(i), context);
    shape[i] = out.dim(i);
    void* const to =
        last ? out.data : context.workspace(static_cast<std::size_t>(shape.size()) * element);
    gather_rows(from, shape.size(0, i), extent,
                shape.size(i + 1, shape.ndim()) * static_cast<int64_t>(element), map.positions(),
                to, context);
    from = to;
  }
}

// The reverse, from the last dimension to the first, in the type of the sums.
void sum_padded_on_gpu(const PadMaps& maps, const Tensor& dy, const Tensor& dx,
                       KernelContext& context) {
  const DType wide = kIntegers.contains(dx.dtype) ? DType::kInt64 : DType::kFloat64;
  const auto scratch = [&](const Shape& shape) {
    return Tensor{context.workspace_of<int64_t>(shape.size()), &shape, wide};
  };
  Tensor from = scratch(dy.shape());
  convert_tensor(dy, from, context);
  std::array<Shape, Shape::kMaxDims> shapes;
  for (int i = dx.ndim() - 1; i >= 0; --i) {
    Shape& shape = shapes[static_cast<std::size_t>(i)] = from.shape();
    shape[i] = dx.dim(i);
    const AxisMap map(maps, i, shape[i], dy.dim(i), context);
    const Tensor to = scratch(shape);
    mxnet::sum_rows(from, shape.size(0, i), shape[i], shape.size(i + 1, shape.ndim()),
                    map.positions(), to, context);
    from = to;
  }
  convert_tensor(from, dx, context);
}

// Offsets of the rows of the input by row of the result, rows being along the last dimension. Goes
// from row to row like the hands of a clock: divisions would take longer than short rows. Not
// thread-safe; one for each thread.
class RowWalk {
 public:
  // At `row` of the result.
  RowWalk(const PadMaps& maps, const Shape& in, const Shape& out, int64_t row)
      : maps_(maps), in_(in), out_(out), steps_(in) {
    for (int i = out.ndim() - 2; i >= 0; --i) {
      at_[static_cast<std::size_t>(i)] = row % out[i];
      row /= out[i];
    }
    find_base();
  }

  // PadMaps::kOutside for a row of constants.
  int64_t input_offset() const {
    const int last = out_.ndim() - 2;
    if (last < 0 || base_ == PadMaps::kOutside) return base_;
    const int64_t at = shown_at(last);
    return at == PadMaps::kOutside ? at : base_ + at * steps_[last];
  }
  // How many rows from here on follow each other in the input, too, or lie all outside.
  int64_t together() const {
    const int last = out_.ndim() - 2;
    if (last < 0) return 1;
    const int64_t at = at_[static_cast<std::size_t>(last)];
    const int64_t begin = maps_.before(last), end = begin + in_[last];
    if (base_ == PadMaps::kOutside) return out_[last] - at;
    if (at >= begin && at < end) return end - at;
    if (maps_.mode() != PadMode::kConstant) return 1;
    return (at < begin ? begin : out_[last]) - at;
  }
  // REQUIRES: rows <= together().
  void next(int64_t rows = 1) {
    int i = out_.ndim() - 2;
    if (i < 0) return;
    at_[static_cast<std::size_t>(i)] += rows;
    if (at_[static_cast<std::size_t>(i)] < out_[i]) return;
    for (; i > 0 && at_[static_cast<std::size_t>(i)] == out_[i]; --i) {
      at_[static_cast<std::size_t>(i)] = 0;
      ++at_[static_cast<std::size_t>(i) - 1];
    }
    if (at_[0] < out_[0]) find_base();
  }

 private:
  int64_t shown_at(int i) const { return maps_.at(i, at_[static_cast<std::size_t>(i)]); }
  // What all dimensions but the last two add up to.
  void find_base() {
    base_ = 0;
    for (int i = out_.ndim() - 3; i >= 0 && base_ != PadMaps::kOutside; --i) {
      const int64_t at = shown_at(i);
      base_ = at == PadMaps::kOutside ? at : base_ + at * steps_[i];
    }
  }

  const PadMaps& maps_;
  const Shape &in_, &out_;
  const RowMajorSteps steps_;
  std::array<int64_t, Shape::kMaxDims> at_{};
  int64_t base_ = 0;
};

// `rows` rows of `width` elements; steps in elements.
template <class T>
void move_rows(const T* in, int64_t in_step, T* out, int64_t out_step, int64_t width,
               int64_t rows) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  if (in_step == width && out_step == width) {  // one row
    std::copy_n(in, rows * width, out);
    return;
  }
  if (width * kBytes >= 16) {
    return copy_rows(reinterpret_cast<const char*>(in), in_step * kBytes,
                     reinterpret_cast<char*>(out), out_step * kBytes, width * kBytes, rows);
  }
  for (int64_t row = 0; row < rows; ++row)
    std::copy_n(in + row * in_step, width, out + row * out_step);
}

// A constant's bytes, again and again, as many as space_rows takes.
using Pattern = std::array<char, kGapPattern>;

void fill(char* begin, char* end, const Pattern& pattern) {
  static_assert(kGapPattern == kPatternBytes);
  const int64_t bytes = end - begin;
  std::memcpy(begin, pattern.data(), static_cast<std::size_t>(std::min(bytes, kGapPattern)));
  if (bytes > kGapPattern) repeat_bytes(begin, bytes);
}

constexpr int64_t kVector = 16;

// Rows of the input that follow each other, with `gap` bytes of the constant between them. Returns
// the end of the last one.
char* space(const char* from, char* to, int64_t width, int64_t rows, int64_t gap,
            const Pattern& pattern) {
  if (gap == 0) return std::copy_n(from, rows * width, to);
  char* const end = to + rows * (width + gap) - gap;
  if (width >= kVector) {
    space_rows(from, to, width, rows, pattern.data(), gap);
    return end;
  }
  // Whole vectors, as long as they lie in both: what is too much is written over.
  const char* const from_end = from + rows * width;
  for (; rows > 1; --rows, from += width, to += width + gap) {
    if (gap <= kVector && from_end - from >= kVector && end - to >= width + kVector) {
      std::memcpy(to, from, kVector);
      std::memcpy(to + width, pattern.data(), kVector);
    } else {
      std::copy_n(from, width, to);
      fill(to + width, to + width + gap, pattern);
    }
  }
  return std::copy_n(from, width, to);
}

// All rows from `first` to `last` of the result, in order: between runs of rows of the input is the
// constant.
void pad_constant(const PadMaps& maps, const Tensor& in, const Tensor& out, const Pattern& pattern,
                  int64_t first, int64_t last) {
  const auto element = static_cast<int64_t>(dtype_size(in.dtype));
  const int last_dim = out.ndim() - 1;
  const int64_t length = out.dim(last_dim) * element, width = in.dim(last_dim) * element;
  const int64_t before = maps.before(last_dim) * element;
  RowWalk walk(maps, in.shape(), out.shape(), first);
  char* done = out.as<char>() + first * length;
  for (int64_t row = first, rows = 1; row < last; row += rows, walk.next(rows)) {
    rows = std::min(walk.together(), last - row);
    const int64_t offset = walk.input_offset();
    if (offset == PadMaps::kOutside) continue;
    char* const to = out.as<char>() + row * length + before;
    fill(done, to, pattern);
    done = space(in.as<char>() + offset * element, to, width, rows, length - width, pattern);
  }
  fill(done, out.as<char>() + last * length, pattern);
}

// The same where borders show elements of the input.
template <class T>
void pad_shown(const PadMaps& maps, const Tensor& in, const Tensor& out, int64_t first,
               int64_t last) {
  const int last_dim = out.ndim() - 1;
  const int64_t length = out.dim(last_dim), width = in.dim(last_dim);
  const int64_t before = maps.before(last_dim);
  RowWalk walk(maps, in.shape(), out.shape(), first);
  for (int64_t row = first, rows = 1; row < last; row += rows, walk.next(rows)) {
    rows = std::min(walk.together(), last - row);
    const T* from = in.as<T>() + walk.input_offset();
    T* to = out.as<T>() + row * length;
    move_rows(from, width, to + before, length, width, rows);
    const auto show = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = from[maps.at(last_dim, i)];
    };
    for (int64_t i = 0; i < rows; ++i, from += width, to += length) {
      show(0, before);
      show(before + width, length);
    }
  }
}

// body(first, last) of rows of the result, shared among threads.
template <class F>
void each_rows(const Tensor& out, const F& body) {
  constexpr double kShortRow = 6.0;  // elementary operations, however few bytes it has
  const int64_t length = out.dim(out.ndim() - 1);
  const auto bytes = static_cast<double>(length) * static_cast<double>(dtype_size(out.dtype));
  parallel_for(out.size() / length, std::max(kShortRow, cost_of_moving(2.0 * bytes)), body, 1);
}

// Slice by slice of the leading dimensions that have no padding, whose sums stay in the cache.
template <class T>
void sum_rows(const PadMaps& maps, const Tensor& dy, const Tensor& dx) {
  // Integers wrap around.
  using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
  int lead = 0;
  while (lead < dy.ndim() - 1 && dy.dim(lead) == dx.dim(lead)) ++lead;
  const int64_t slices = dx.shape().size(0, lead), size = dx.size() / slices;
  const int last_dim = dy.ndim() - 1;
  const int64_t length = dy.dim(last_dim), rows = dy.size() / slices / length;
  // What lies inside is in its own order.
  const int64_t before = maps.before(last_dim), inside = dx.dim(last_dim);
  parallel_for(
      slices, static_cast<double>(rows * length),
      [&](int64_t first, int64_t last) {
        std::vector<Sum> sums(static_cast<std::size_t>(size));
        RowWalk walk(maps, dx.shape(), dy.shape(), first * rows);
        const T* from = dy.as<T>() + first * rows * length;
        for (int64_t slice = first; slice < last; ++slice) {
          std::fill(sums.begin(), sums.end(), Sum{0});
          for (int64_t row = 0; row < rows; ++row, walk.next(), from += length) {
            Sum* const to = sums.data() + (walk.input_offset() - slice * size);
            const auto add_border = [&](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i)
                to[maps.at(last_dim, i)] += convert<Sum>(from[i]);
            };
            add_border(0, before);
            for (int64_t i = 0; i < inside; ++i) to[i] += convert<Sum>(from[before + i]);
            add_border(before + inside, length);
          }
          T* const result = dx.as<T>() + slice * size;
          for (int64_t i = 0; i < size; ++i)
            result[i] = convert<T>(sums[static_cast<std::size_t>(i)]);
        }
      },
      1);
}

// The same borders with less dimensions: one without any is part of the one before it, so that more
// rows are together, where it is the last but one. The last one stays, whose length rows have.
struct Merged {
  static constexpr int64_t kMostBorder = 4096;  // positions, each of which has a place in the map

  Merged(const PadMaps& maps, const Shape& given, const Shape& padded) {
    std::array<int64_t, Shape::kMaxDims> in, out;
    std::size_t count = 0;
    for (int i = 0; i < given.ndim(); ++i) {
      const int64_t before = maps.before(i), after = padded[i] - given[i] - before;
      PadWidth* const outer = widths.empty() ? nullptr : &widths.back();
      if (outer != nullptr && i + 1 < given.ndim() && given[i] == padded[i] &&
          (outer->before + outer->after) * given[i] <= kMostBorder) {
        in[count - 1] *= given[i];
        out[count - 1] *= given[i];
        *outer = {outer->before * given[i], outer->after * given[i]};
        continue;
      }
      widths.push_back({before, after});
      in[count] = given[i];
      out[count++] = padded[i];
    }
    from = Shape(std::span(in.data(), count));
    to = Shape(std::span(out.data(), count));
  }
  std::vector<PadWidth> widths;
  Shape from, to;
};

}  // namespace

PadMaps::PadMaps(const Shape& in, const std::vector<PadWidth>& widths, PadMode mode) : mode_(mode) {
  for (int d = 0; d < in.ndim(); ++d) {
    const PadWidth& width = widths[static_cast<std::size_t>(d)];
    Dim& dim = dims_.emplace_back(Dim{width.before, in[d], {}});
    for (int64_t i = -width.before; i < 0; ++i) dim.borders.push_back(shown(i, in[d], mode));
    for (int64_t i = 0; i < width.after; ++i) dim.borders.push_back(shown(in[d] + i, in[d], mode));
  }
}

Shape padded_shape(const Shape& in, const std::vector<PadWidth>& widths) {
  Shape out = in;
  for (int d = 0; d < in.ndim(); ++d) {
    const PadWidth& width = widths[static_cast<std::size_t>(d)];
    if (out[d] >= 0) out[d] += width.before + width.after;
  }
  return out;
}

StridedPlan interior_plan(const PadMaps& maps, const Shape& in, const Shape& out) {
  const RowMajorSteps in_steps(in), out_steps(out);
  StridedPlan plan;
  for (int d = 0; d < in.ndim(); ++d) {
    plan.out_offset += maps.before(d) * out_steps[d];
    plan.add(in[d], in_steps[d], out_steps[d]);
  }
  return plan;
}

void pad_elements(const PadMaps& maps, const Tensor& in, const Tensor& out, double constant,
                  KernelContext& context) {
  if (out.size() == 0) return;
  if (gpu_table(context) != nullptr) return pad_on_gpu(maps, in, out, constant, context);
  if (out.ndim() == 0) {
    std::memcpy(out.data, in.data, dtype_size(in.dtype));
    return;
  }
  if (maps.mode() != PadMode::kConstant) {
    return dispatch_size(in.dtype, [&]<class T>(T) {
      each_rows(out,
                [&](int64_t first, int64_t last) { pad_shown<T>(maps, in, out, first, last); });
    });
  }
  Pattern pattern;
  dispatch_dtype(in.dtype, "pad", [&]<class T>(TypeTag<T>) {
    const T value = convert<T>(constant);
    for (std::size_t i = 0; i < pattern.size(); i += sizeof(T))
      std::memcpy(pattern.data() + i, &value, sizeof(T));
  });
  const auto pad = [&](const PadMaps& about, const Tensor& from, const Tensor& to) {
    each_rows(to, [&](int64_t first, int64_t last) {
      pad_constant(about, from, to, pattern, first, last);
    });
  };
  const int last_but_one = out.ndim() - 2;
  if (last_but_one < 1 || in.dim(last_but_one) != out.dim(last_but_one)) return pad(maps, in, out);
  const Merged merged(maps, in.shape(), out.shape());
  pad(PadMaps(merged.from, merged.widths, PadMode::kConstant), {in.data, &merged.from, in.dtype},
      {out.data, &merged.to, out.dtype});
}

void sum_padded(const PadMaps& maps, const Tensor& dy, const Tensor& dx, KernelContext& context) {
  if (dx.size() == 0) return;
  if (maps.mode() == PadMode::kConstant || dy.ndim() == 0) {
    return copy_strided(context, interior_plan(maps, dx.shape(), dy.shape()).reversed(), dy.data,
                        dx.data, dtype_size(dx.dtype));
  }
  if (gpu_table(context) != nullptr) return sum_padded_on_gpu(maps, dy, dx, context);
  dispatch_dtype<kNumeric>(dy.dtype, "pad gradient",
                           [&]<class T>(TypeTag<T>) { sum_rows<T>(maps, dy, dx); });
}

Attrs without_constant(const Attrs& attrs) {
  Attrs result;
  for (const auto& attr : attrs)
    if (attr.first != "constant_value") result.push_back(attr);
  return result;
}

}  // namespace mxnet
