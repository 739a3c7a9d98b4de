// SPDX-License-Identifier: Apache-2.0
// Distinct elements or slices in ascending order (op/index/unique.cc): places in order, marks where
// something else begins, and running sums of these, of which the host reads the last.
#include "op/index/unique.h"

#include <cstring>
#include <utility>

#include "op/run/element_size.h"
#include "op/sorting/sort_key.h"
#include "plugin/cuda/dnn/trial_memory.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/host_values.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

constexpr char kTag[] = "_npi_unique";

// Slice s has the elements at(s, 0 .. width) of data seen as (outer, count, inner).
struct Slices {
  int64_t outer, count, inner;
  MX_DEVICE int64_t width() const { return outer * inner; }
  MX_DEVICE int64_t at(int64_t s, int64_t k) const {
    return (k / inner * count + s) * inner + k % inner;
  }
};

// Element k of all slices, as they are in order so far.
template <class E>
struct TakeColumn {
  Slices slices;
  const E* data;
  const int64_t* order;
  int64_t k;
  E* column;
  MX_DEVICE void operator()(int64_t i) const { column[i] = data[slices.at(order[i], k)]; }
};
struct FollowPlaces {
  const int64_t *order, *places;
  int64_t* next;
  MX_DEVICE void operator()(int64_t i) const { next[i] = order[places[i]]; }
};

// 1 where a slice is not the one before it. By bytes, or by what decides about the order: then
// zeros of both signs are one, and so is whatever is no number.
template <class T>
struct MarkFirsts {
  Slices slices;
  const T* data;
  const int64_t* order;
  int64_t* marks;
  bool by_bytes;
  MX_DEVICE bool differ(int64_t a, int64_t b) const {
    if (!by_bytes) return to_key(data[a], SortKey<T>{0}) != to_key(data[b], SortKey<T>{0});
    SortKey<T> x, y;
    memcpy(&x, data + a, sizeof(x));
    memcpy(&y, data + b, sizeof(y));
    return x != y;
  }
  MX_DEVICE void operator()(int64_t i) const {
    bool is_first = i == 0;
    for (int64_t k = 0; !is_first && k < slices.width(); ++k)
      is_first = differ(slices.at(order[i - 1], k), slices.at(order[i], k));
    marks[i] = is_first ? 1 : 0;
  }
};

// Where each group begins, and behind the last one where all ends.
struct FindStarts {
  const int64_t *marks, *sums;
  int64_t* starts;
  int64_t count;
  MX_DEVICE void operator()(int64_t i) const {
    if (marks[i] != 0) starts[sums[i] - 1] = i;
    if (i == count - 1) starts[sums[i]] = count;
  }
};

template <class E>
struct TakeGroups {
  Slices slices;
  const E* data;
  const int64_t *order, *starts;
  int64_t groups;
  E* out;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t k = i % slices.inner, g = i / slices.inner % groups,
                  o = i / slices.inner / groups;
    out[i] = data[slices.at(order[starts[g]], o * slices.inner + k)];
  }
};
struct TakeFirsts {
  const int64_t *order, *starts;
  int64_t* index;
  MX_DEVICE void operator()(int64_t g) const { index[g] = order[starts[g]]; }
};
struct NameGroups {
  const int64_t *order, *sums;
  int64_t* inverse;
  MX_DEVICE void operator()(int64_t i) const { inverse[order[i]] = sums[i] - 1; }
};
struct CountGroups {
  const int64_t* starts;
  int64_t* counts;
  MX_DEVICE void operator()(int64_t g) const { counts[g] = starts[g + 1] - starts[g]; }
};

// Scratch memory of what runs several times on one stream: each run has that of the one before.
class SharedScratch final : public KernelResources {
 public:
  explicit SharedScratch(const KernelContext& context) : context_(context) {}
  void rewind() { memory_.rewind(); }
  void* workspace(std::size_t bytes) override {
    return memory_.take(bytes, [&](std::size_t more) { return context_.workspace(more); });
  }
  Tensor make_out(int i, const Shape& shape) override { return context_.make_out(i, shape); }

 private:
  const KernelContext& context_;
  TrialMemory memory_;
};

// One call of the operator.
class Unique {
 public:
  Unique(KernelContext& context, const Slices& slices)
      : context_(context),
        stream_(context.stream()->native()),
        in_(context.in(0)),
        slices_(slices),
        line_{slices.count} {}

  // Slices in ascending order, the first of equals in front: by their last elements first, since
  // what is equal keeps its order.
  const int64_t* order() const {
    if (slices_.width() == 1) return sort(in_, numbers(), context_);
    int64_t *order = numbers(), *next = numbers(), *const places = numbers();
    count_up(stream_, 0, 1, 1, {order, &line_, DType::kInt64});
    const Tensor column{
        context_.workspace(static_cast<std::size_t>(slices_.count) * dtype_size(in_.dtype)), &line_,
        in_.dtype};
    SharedScratch scratch(context_);
    KernelContext each({}, {}, context_.device(), context_.stream(), false, scratch);
    for (int64_t k = slices_.width(); k-- > 0;) {
      scratch.rewind();
      dispatch_size(in_.dtype, [&](auto unit) {
        using E = decltype(unit);
        for_each(stream_, kTag, slices_.count,
                 TakeColumn<E>{slices_, in_.as<E>(), order, k, column.as<E>()});
      });
      sort(column, places, each);
      for_each(stream_, kTag, slices_.count, FollowPlaces{order, places, next});
      std::swap(order, next);
    }
    return order;
  }
  const int64_t* marks(const int64_t* order, bool by_bytes) const {
    int64_t* const marks = numbers();
    for_dtype(in_.dtype, kTag, [&](auto type) {
      using T = decltype(type);
      for_each(stream_, kTag, slices_.count,
               MarkFirsts<T>{slices_, in_.as<T>(), order, marks, by_bytes});
    });
    return marks;
  }
  const int64_t* sums(const int64_t* marks) const {
    int64_t* const sums = numbers();
    running_sum(stream_, {const_cast<int64_t*>(marks), &line_, DType::kInt64}, slices_.count, 1,
                false, false, {sums, &line_, DType::kInt64}, context_);
    return sums;
  }
  int64_t* numbers() const { return context_.workspace_of<int64_t>(slices_.count + 1); }
  NativeStream* stream() const { return stream_; }

 private:
  const int64_t* sort(const Tensor& line, int64_t* places, KernelContext& context) const {
    const Tensor out{places, &line_, DType::kInt64};
    GpuOrder call{1, slices_.count, 1, slices_.count, true, line};
    call.positions = &out;
    cuda::order(stream_, call, context);
    return places;
  }

  KernelContext& context_;
  NativeStream* const stream_;
  const Tensor& in_;
  const Slices slices_;
  const Shape line_;
};

void unique(const UniqueParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  Shape shape = in.shape();
  if (!params.axis) shape = Shape{in.size()};
  const int axis = params.axis ? normalize_axis(*params.axis, in.ndim(), "unique") : 0;
  const Slices slices{shape.size(0, axis), shape[axis], shape.size(axis + 1, shape.ndim())};
  const bool values_alone =
      !params.axis && !params.return_index && !params.return_inverse && !params.return_counts;
  const Unique call(context, slices);
  const int64_t* const order = slices.count > 0 ? call.order() : nullptr;
  const int64_t* const marks = slices.count > 0 ? call.marks(order, !values_alone) : nullptr;
  const int64_t* const sums = slices.count > 0 ? call.sums(marks) : nullptr;
  const int64_t groups = slices.count > 0 ? host_values(context, sums + slices.count - 1, 1)[0] : 0;
  NativeStream* const stream = call.stream();
  int64_t* const starts = call.numbers();
  for_each(stream, kTag, slices.count, FindStarts{marks, sums, starts, slices.count});
  shape[axis] = groups;
  const Tensor out = context.make_out(0, shape);
  dispatch_size(in.dtype, [&](auto unit) {
    using E = decltype(unit);
    for_each(stream, kTag, out.size(),
             TakeGroups<E>{slices, in.as<E>(), order, starts, groups, out.as<E>()});
  });
  int next = 1;
  const auto made = [&](int64_t count) {
    return context.make_out(next++, Shape{count}).as<int64_t>();
  };
  if (params.return_index) for_each(stream, kTag, groups, TakeFirsts{order, starts, made(groups)});
  if (params.return_inverse)
    for_each(stream, kTag, slices.count, NameGroups{order, sums, made(slices.count)});
  if (params.return_counts) for_each(stream, kTag, groups, CountGroups{starts, made(groups)});
}

// Places in order are 32 bits.
bool has_places(const void*, const Signature& signature) {
  return signature.in[0].size() <= UINT32_MAX;
}

}  // namespace

void add_unique(std::vector<GpuKernelRow>* rows) {
  GpuKernelRow row = kernel_row<UniqueParams, unique>("_npi_unique");
  row.accepts = has_places;
  rows->push_back(row);
}

}  // namespace cuda
}  // namespace mxnet
