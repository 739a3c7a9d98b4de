// SPDX-License-Identifier: Apache-2.0
// Distinct elements, or slices along an axis, in ascending order. NaN is above all. Zeros of both
// signs are one element, but with an axis or more results than the elements neighbours are told
// apart by their bytes, as existing programs have it.
#include "op/index/unique.h"

#include <algorithm>
#include <numeric>

#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/element_size.h"
#include "op/run/read_back.h"
#include "op/sorting/key_loops.h"
#include "op/sorting/sorted_positions.h"

namespace mxnet {
namespace {

template <class T>
bool less(T a, T b) {
  using C = ComputeType<T>;
  const C x = convert<C>(a), y = convert<C>(b);
  if constexpr (std::is_floating_point_v<C>) {
    if (x != x || y != y) return x == x && y != y;
  }
  return x < y;
}

// Slice s as elements at(s, 0..width) of data seen as (outer, slices, inner).
template <class T>
struct Slices {
  const T* data;
  int64_t outer, count, inner;
  int64_t width() const { return outer * inner; }
  T at(int64_t s, int64_t k) const { return data[(k / inner * count + s) * inner + k % inner]; }
  // Negative, zero or positive as a is below, equal to or above b.
  int compare(int64_t a, int64_t b) const {
    if (outer == 1 && inner == 1) return less(data[a], data[b]) ? -1 : less(data[b], data[a]);
    for (int64_t k = 0; k < width(); ++k) {
      if (less(at(a, k), at(b, k))) return -1;
      if (less(at(b, k), at(a, k))) return 1;
    }
    return 0;
  }
};

// The bits of such elements, an unsigned number each.
template <class U>
struct SliceBits : Slices<U> {
  bool same(int64_t a, int64_t b) const {
    for (int64_t k = 0; k < this->width(); ++k)
      if (this->at(a, k) != this->at(b, k)) return false;
    return true;
  }
};

// Slices in ascending order, the first of equals in front. Elements are sorted by their bits,
// slices by comparisons.
template <class T>
void sort_slices(const Slices<T>& slices, int64_t* order, KernelContext& context) {
  const int64_t n = slices.count;
  if (slices.width() == 1 && n <= int64_t{UINT32_MAX}) {
    using K = SortKey<T>;
    auto* const room = context.workspace_of<Keyed<K>>(positions_room<K>(n));
    if (n > 0) std::copy_n(sorted_positions(slices.data, n, K{0}, room), n, order);
    return;
  }
  std::iota(order, order + n, int64_t{0});
  std::sort(order, order + n, [&](int64_t a, int64_t b) {
    const int c = slices.compare(a, b);
    return c < 0 || (c == 0 && a < b);
  });
}

// What comes of slices in this `order`: their values no longer matter, only their bits.
template <class U>
void unique_slices(const UniqueParams& params, const SliceBits<U>& slices, const int64_t* order,
                   const Shape& in_shape, int axis, KernelContext& context) {
  const int64_t n = slices.count;
  int64_t* starts = context.workspace_of<int64_t>(n + 1);  // of groups, in `order`
  int64_t groups = 0;
  for (int64_t i = 0; i < n; ++i)
    if (i == 0 || !slices.same(order[i - 1], order[i])) starts[groups++] = i;
  starts[groups] = n;

  Shape shape = in_shape;
  shape[axis] = groups;
  U* to = context.make_out(0, shape).template as<U>();
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t k = 0; k < slices.width(); ++k) {
      to[(k / slices.inner * groups + g) * slices.inner + k % slices.inner] =
          slices.at(order[starts[g]], k);
    }
  }
  int next = 1;
  if (params.return_index) {
    auto* index = context.make_out(next++, {groups}).template as<int64_t>();
    for (int64_t g = 0; g < groups; ++g) index[g] = order[starts[g]];
  }
  if (params.return_inverse) {
    auto* inverse = context.make_out(next++, {n}).template as<int64_t>();
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t i = starts[g]; i < starts[g + 1]; ++i) inverse[order[i]] = g;
  }
  if (params.return_counts) {
    auto* counts = context.make_out(next++, {groups}).template as<int64_t>();
    for (int64_t g = 0; g < groups; ++g) counts[g] = starts[g + 1] - starts[g];
  }
}

// The values alone: neither positions nor bytes matter, only that NaN and zero keep the bits of the
// first one.
template <class T>
void unique_values(const T* data, int64_t n, KernelContext& context) {
  using K = SortKey<T>;
  K* keys = context.workspace_of<K>(std::max<int64_t>(2 * n, 1));
  keys_of(data, keys, n, K{0});
  sort_keys(keys, keys + n, n);
  // No branch: whether a key differs from the last one cannot be foreseen.
  int64_t groups = n > 0;
  for (int64_t i = 1; i < n; ++i) {
    const K key = keys[i];
    const bool differs = key != keys[i - 1];
    keys[groups] = key;
    groups += differs;
  }
  [[maybe_unused]] const K zero = to_key(T(0), K{0});
  if constexpr (kSortsAsReal<T>) {
    // -0, the neighbour of 0, becomes one with it.
    K* const negative = std::lower_bound(keys, keys + groups, static_cast<K>(zero - 1));
    if (negative != keys + groups && *negative + 1 == zero) {
      *negative = zero;
      groups = std::unique(negative, keys + groups) - keys;
    }
  }
  T* to = context.make_out(0, {groups}).template as<T>();
  values_of(keys, to, groups, K{0});
  if constexpr (kSortsAsReal<T>) {
    const K nan = static_cast<K>(~K{0});
    for (const K special : {zero, nan}) {
      const K* at = std::lower_bound(keys, keys + groups, special);
      if (at == keys + groups || *at != special) continue;
      to[at - keys] =
          *std::find_if(data, data + n, [&](T x) { return to_key(x, K{0}) == special; });
    }
  }
}

void unique_cpu(const UniqueParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const bool values = !params.axis;
  if (values && !params.return_index && !params.return_inverse && !params.return_counts) {
    return dispatch_dtype(in.dtype, "unique", [&]<class T>(TypeTag<T>) {
      unique_values(in.as<const T>(), in.size(), context);
    });
  }
  const Shape shape = values ? Shape{in.size()} : in.shape();
  const int axis = values ? 0 : normalize_axis(*params.axis, in.ndim(), "unique");
  const int64_t outer = shape.size(0, axis), n = shape[axis];
  const int64_t inner = shape.size(axis + 1, shape.ndim());
  int64_t* const order = context.workspace_of<int64_t>(std::max<int64_t>(n, 1));
  dispatch_dtype(in.dtype, "unique", [&]<class T>(TypeTag<T>) {
    sort_slices<T>({in.as<const T>(), outer, n, inner}, order, context);
  });
  dispatch_size(in.dtype, [&]<class U>(U /*bits*/) {
    unique_slices<U>(params, {{in.as<const U>(), outer, n, inner}}, order, shape, axis, context);
  });
}

MX_OP(_npi_unique, UniqueParams)
.doc("Distinct elements in ascending order, and where they come from.")
    .input("data", "The array.")
    .param("return_index", &UniqueParams::return_index, false,
           "Whether to return where each comes first.")
    .param("return_inverse", &UniqueParams::return_inverse, false,
           "Whether to return which one each element is.")
    .param("return_counts", &UniqueParams::return_counts, false,
           "Whether to return how often each comes.")
    .param("axis", &UniqueParams::axis, std::nullopt, "Slices along an axis; None: elements.")
    .outputs([](const UniqueParams& p) {
      return 1 + p.return_index + p.return_inverse + p.return_counts;
    })
    .shape_from_values()
    .infer([](const UniqueParams& params, Infer& infer) {
      infer.in(0).same_dtype(infer.out(0));
      for (int o = 1; o < infer.num_out(); ++o) infer.out(o).set_dtype(DType::kInt64);
      if (params.axis && infer.in(0).rank_known()) infer.axis(*params.axis, infer.in(0));
    })
    .cpu(unique_cpu)
    .zero_grad();

// On GPUs, for the number of elements.
[[maybe_unused]] const bool waits = mark_waiting({"_npi_unique"});

}  // namespace
}  // namespace mxnet
