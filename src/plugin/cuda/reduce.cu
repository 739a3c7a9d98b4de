// SPDX-License-Identifier: Apache-2.0
// Kernels of the reduction rows (op/reducing/reduce_loops.h) along any axes. A thread, a warp or a
// block makes each output, or, of few, each of its slices, which are merged in a fixed order:
// results repeat from run to run. All rows share a kernel for each pair of types: which one it is
// costs a branch that all threads take alike, once for several elements, where one a row would cost
// minutes of nvcc.
#include "op/reducing/evaluate.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace {

template <class A>
MX_DEVICE A lowest() {
  if constexpr (std::is_floating_point_v<A>)
    return -static_cast<A>(INFINITY);
  else
    return static_cast<A>(INT64_MIN);
}
template <class A>
MX_DEVICE A highest() {
  if constexpr (std::is_floating_point_v<A>)
    return static_cast<A>(INFINITY);
  else
    return static_cast<A>(INT64_MAX);
}
template <class A>
MX_DEVICE A add(A a, A b) {
  return row_words::plus(a, b);
}
template <class A>
MX_DEVICE A subtract(A a, A b) {
  return row_words::minus(a, b);
}
using row_words::multiply;
template <class A>
MX_DEVICE A larger_one(A a, A b) {
  return ((b > a) | (b != b)) ? b : a;
}
template <class A>
MX_DEVICE A smaller_one(A a, A b) {
  return ((b < a) | (b != b)) ? b : a;
}

#define MX_ROW(name, identity_, element, merge_)          \
  template <class A>                                      \
  struct Row_##name {                                     \
    using V = A;                                          \
    static A identity() { return identity_; }             \
    MX_DEVICE static A take(A x) {                        \
      [[maybe_unused]] const A c = A(0);                  \
      return element;                                     \
    }                                                     \
    MX_DEVICE static A merge(A a, A b) { return merge_; } \
  };
MX_REDUCTIONS(MX_ROW)
#undef MX_ROW

// A row that is chosen while the program runs.
template <class A>
struct AnyRow {
  Reduction row;
  A identity;

  explicit AnyRow(Reduction row_) : row(row_), identity(0) {
    switch (row) {
#define MX_CASE(name, ...)                \
  case Reduction::name:                   \
    identity = Row_##name<A>::identity(); \
    break;
      MX_REDUCTIONS(MX_CASE)
#undef MX_CASE
    }
  }
  // `value` and what elements bring, one after the other.
  template <int kCount>
  MX_DEVICE A with(A value, const A (&elements)[kCount]) const {
    switch (row) {
#define MX_CASE(name, ...)                                                   \
  case Reduction::name:                                                      \
    for (int k = 0; k < kCount; ++k)                                         \
      value = Row_##name<A>::merge(value, Row_##name<A>::take(elements[k])); \
    break;
      MX_REDUCTIONS(MX_CASE)
#undef MX_CASE
    }
    return value;
  }
  MX_DEVICE A merge(A a, A b) const {
    switch (row) {
#define MX_CASE(name, ...) \
  case Reduction::name:    \
    return Row_##name<A>::merge(a, b);
      MX_REDUCTIONS(MX_CASE)
#undef MX_CASE
    }
    return a;
  }
};

// What is done to a merged value before it is stored.
template <class A>
struct Ending {
  Finish finish;
  int64_t count;
  bool has_initial, empty_product;
  A initial;
};

template <class A>
MX_DEVICE A ended(const AnyRow<A>& row, A value, const Ending<A>& ending) {
  if (ending.has_initial) value = row.merge(value, ending.initial);
  if (ending.empty_product) value = A(0);
  if (ending.finish == Finish::kMean) {
    if constexpr (std::is_integral_v<A>)
      value = ending.count == 0 ? A(0) : value / static_cast<A>(ending.count);
    else
      value = value / static_cast<A>(ending.count);
  } else if (ending.finish == Finish::kRoot) {
    value = static_cast<A>(::sqrt(static_cast<double>(value)));
  }
  return value;
}

// Number i is slice i / outputs of output i % outputs. Slices are interleaved: what neighbouring
// threads read lies together, whether they have neighbouring outputs or one.
template <class A, class T>
struct Reduce {
  AnyRow<A> row;
  const T* x;
  A* y;  // outputs, or, where there are more slices than one, slices of each output
  Walk<1> kept, reduced;
  int64_t extent, slices;
  Divider outputs;
  Ending<A> ending;
  bool packed;  // the elements of an output are whole packs

  MX_DEVICE A part(int64_t i, int lane, int lanes) const {
    const int64_t slice = slice_of(i), k = slice * lanes + lane, step = lanes * slices;
    const T* const from = first_of(i, slice);
    if (packed) return of_packs(reinterpret_cast<const Pack<T, kPackSize<T>>*>(from), k, step);
    return of_elements(from, k, step);
  }
  MX_DEVICE int64_t slice_of(int64_t i) const { return slices == 1 ? 0 : outputs.quotient(i); }
  MX_DEVICE const T* first_of(int64_t i, int64_t slice) const {
    int64_t base[1];
    kept.offsets(i - slice * outputs.by(), base);
    return x + base[0];
  }
  // Every `step`-th element from number k on.
  MX_DEVICE A of_elements(const T* from, int64_t k, int64_t step) const {
    constexpr int kAtOnce = sizeof(T) < 4 ? 8 : 4;  // loads that a thread has on their way
    A value = row.identity;
    for (; k + (kAtOnce - 1) * step < extent; k += kAtOnce * step) {
      A elements[kAtOnce];
#pragma unroll
      for (int e = 0; e < kAtOnce; ++e) elements[e] = element(from, k + e * step);
      value = row.with(value, elements);
    }
    for (; k < extent; k += step) {
      const A elements[1] = {element(from, k)};
      value = row.with(value, elements);
    }
    return value;
  }
  // Every `step`-th pack from number k on.
  MX_DEVICE A of_packs(const Pack<T, kPackSize<T>>* from, int64_t k, int64_t step) const {
    constexpr int kSize = kPackSize<T>, kAtOnce = 2;
    const int64_t count = extent / kSize;
    A value = row.identity;
    for (; k < count; k += kAtOnce * step) {
      A elements[kAtOnce][kSize];
      const bool two = k + step < count;
      const Pack<T, kSize> first = from[k], second = from[two ? k + step : k];
#pragma unroll
      for (int e = 0; e < kSize; ++e) {
        elements[0][e] = static_cast<A>(widen(first.values[e]));
        elements[1][e] = static_cast<A>(widen(second.values[e]));
      }
      value = row.with(value, elements[0]);
      if (two) value = row.with(value, elements[1]);
    }
    return value;
  }
  MX_DEVICE A element(const T* from, int64_t k) const {
    int64_t at[1];
    reduced.offsets(k, at);
    return static_cast<A>(widen(from[at[0]]));
  }
  MX_DEVICE A merge(A a, A b) const { return row.merge(a, b); }
  MX_DEVICE void finish(int64_t i, A value) const {
    if (slices == 1) {
      y[i] = ended(row, value, ending);
      return;
    }
    const int64_t slice = outputs.quotient(i);
    y[(i - slice * outputs.by()) * slices + slice] = value;
  }
  // One thread a number: where neighbouring outputs are neighbours in memory.
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t slice = slice_of(i);
    finish(i, of_elements(first_of(i, slice), slice, slices));
  }
};

template <class A>
struct MergeSlices {
  AnyRow<A> row;
  const A* x;
  A* y;
  int64_t slices;
  Ending<A> ending;

  MX_DEVICE A part(int64_t i, int lane, int lanes) const {
    A value = row.identity;
    for (int64_t s = lane; s < slices; s += lanes) value = row.merge(value, x[i * slices + s]);
    return value;
  }
  MX_DEVICE A merge(A a, A b) const { return row.merge(a, b); }
  MX_DEVICE void finish(int64_t i, A value) const { y[i] = ended(row, value, ending); }
};

struct Walks {
  Walk<1> kept, reduced;
  int64_t outputs = 1, extent = 1;
  bool columns = false;  // the innermost dimension is kept
};
Walks walks_of(const Shape& shape, uint32_t axes) {
  Walks w;
  int64_t steps[Shape::kMaxDims];
  int64_t step = 1;
  for (int d = shape.ndim() - 1; d >= 0; --d) {
    steps[d] = step;
    step *= shape[d];
  }
  for (int d = 0; d < shape.ndim(); ++d) {
    const bool reduced = (axes >> d & 1) != 0;
    (reduced ? w.reduced : w.kept).add(shape[d], {steps[d]});
    (reduced ? w.extent : w.outputs) *= shape[d];
    if (shape[d] != 1) w.columns = !reduced;
  }
  return w;
}

// Whether the elements of each output are whole packs of `size`, in an array that is aligned to
// packs.
bool packs(const Walks& w, int64_t size) {
  if (w.reduced.ndim != 1 || w.reduced.steps[0][0] != 1 || w.extent % size != 0) return false;
  for (int d = 0; d < w.kept.ndim; ++d)
    if (w.kept.steps[d][0] % size != 0) return false;
  return true;
}

// How one reduction is spread over the device.
struct Spreading {
  bool threads;    // else a group of threads has a number
  bool wide;       // such a group is a block
  int64_t slices;  // of each output
};
Spreading spreading_of(const Walks& w) {
  constexpr int64_t kShort = 8, kLong = 2048;  // what a thread, and a warp, take at most alone
  // Threads that have work, about as many as the largest devices hold at once: memory is kept busy
  // by nothing else. And what a thread has to do at least to be worth another launch.
  constexpr int64_t kBusy = int64_t{1} << 18, kLeast = 16;
  Spreading result{w.columns || w.extent < kShort, w.extent >= kLong, 1};
  const int64_t lanes = result.threads ? 1 : result.wide ? kThreads : kWarp;
  const int64_t wanted = w.outputs == 0 ? 1 : kBusy / (w.outputs * lanes);
  const int64_t most = w.extent / (kLeast * lanes);
  result.slices = wanted < most ? wanted : most;
  if (result.slices < 2) result.slices = 1;
  return result;
}

template <class A, class T>
void run(NativeStream* stream, const char* name, const ReduceCall& call, const Tensor& in,
         const Walks& w, const Tensor& out, KernelContext& context) {
  const int64_t count = w.extent - call.ddof > 0 ? w.extent - call.ddof : 0;
  const Ending<A> ending{call.finish, count, call.initial.has_value(),
                         call.reduction == Reduction::prod && count == 0 && !call.initial,
                         call.initial ? static_cast<A>(*call.initial) : A(0)};
  const Spreading by = spreading_of(w);
  const int64_t numbers = w.outputs * by.slices;
  A* const to = by.slices == 1 ? out.as<A>() : context.workspace_of<A>(numbers);
  const AnyRow<A> row(call.reduction);
  const Reduce<A, T> f{row,       in.as<T>(),
                       to,        w.kept,
                       w.reduced, w.extent,
                       by.slices, Divider(w.outputs),
                       ending,    !by.threads && is_aligned(in.data) && packs(w, kPackSize<T>)};
  if (by.threads)
    for_each(stream, name, numbers, f);
  else
    for_each_group(stream, name, numbers, by.wide, f);
  if (by.slices == 1) return;
  for_each_group(stream, name, w.outputs, by.slices > kThreads,
                 MergeSlices<A>{row, to, out.as<A>(), by.slices, ending});
}

#define MX_NAME(name, ...) #name,
constexpr const char* kNames[] = {MX_REDUCTIONS(MX_NAME)};
#undef MX_NAME

// `in` in a type that has kernels, converted first where its own has none.
Tensor as(NativeStream* stream, const Tensor& in, DType dtype, KernelContext& context) {
  if (in.dtype == dtype) return in;
  const auto bytes = static_cast<std::size_t>(in.size()) * dtype_size(dtype);
  const Tensor copy{context.workspace(bytes), in.shape_ptr, dtype};
  convert(stream, in, copy);
  return copy;
}

// The accumulators are those of reduce_to() on the CPU. What is finished in another type than the
// result's is converted at the end: outputs are few.
void reduce_row(NativeStream* stream, const char* name, const ReduceCall& call, const Tensor& in,
                const Walks& w, uint32_t axes, const Tensor& out, KernelContext& context) {
  const bool is_root = call.finish == Finish::kRoot;  // whose squares need twice its range
  const auto with = [&](auto accumulator, auto element, const Tensor& x) {
    using A = decltype(accumulator);
    Tensor result = out;
    if (out.dtype != dtype_of<A>) {
      result.dtype = dtype_of<A>;
      result.data = context.workspace(static_cast<std::size_t>(out.size()) * sizeof(A));
    }
    run<A, decltype(element)>(stream, name, call, x, w, result, context);
    if (is_root && x.dtype == DType::kFloat64) scale_roots(stream, name, x, axes, result, context);
    if (result.data != out.data) convert(stream, result, out);
  };
  if (!is_floating(in.dtype) && !is_floating(out.dtype)) {
    if (in.dtype == DType::kInt64) return with(int64_t{}, int64_t{}, in);
    return with(int64_t{}, int32_t{}, as(stream, in, DType::kInt32, context));
  }
  if (in.dtype == DType::kFloat16 && out.dtype != DType::kFloat64)
    return with(float{}, float16{}, in);
  if (in.dtype == DType::kBFloat16 && out.dtype != DType::kFloat64 && !is_root)
    return with(float{}, bfloat16{}, in);
  if (in.dtype != DType::kFloat32)
    return with(double{}, double{}, as(stream, in, DType::kFloat64, context));
  const bool selects = call.reduction == Reduction::max || call.reduction == Reduction::min;
  if (out.dtype == DType::kFloat64 || is_root || (call.wide && !selects))
    return with(double{}, float{}, in);
  with(float{}, float{}, in);
}

}  // namespace

void reduce(NativeStream* stream, const ReduceCall& asked, const Tensor& in, uint32_t axes,
            const Tensor& out, KernelContext& context) {
  const Walks w = walks_of(in.shape(), axes);
  ReduceCall call = asked;
  // Truth is whether the sum is not zero: a mean of integers would be truncated first.
  if (out.dtype == DType::kBool && call.finish == Finish::kMean) call.finish = Finish::kValue;
  reduce_row(stream, kNames[static_cast<int>(call.reduction)], call, in, w, axes, out, context);
}

}  // namespace cuda
}  // namespace mxnet
