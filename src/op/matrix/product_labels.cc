// SPDX-License-Identifier: Apache-2.0
// What the labels of two arrays are in each of the products.
#include "op/matrix/product_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace mxnet {
namespace {

// first, first + 1, ...
[[gnu::noinline]] LabelList counted(int first, int count) {
  LabelList labels(static_cast<std::size_t>(count));
  std::iota(labels.begin(), labels.end(), first);
  return labels;
}
[[gnu::noinline]] LabelList joined(LabelList a, std::span<const int> b) {
  a.append(b.data(), b.data() + b.size());
  return a;
}
[[gnu::noinline]] LabelLists lists_of(LabelList a, LabelList b, LabelList out) {
  LabelLists lists;
  lists.in.reserve(2);
  lists.in.push_back(std::move(a));
  lists.in.push_back(std::move(b));
  lists.out = std::move(out);
  return lists;
}

LabelLists tensordot_labels(std::span<const Shape> shapes, std::span<const int64_t> a_axes,
                            std::span<const int64_t> b_axes) {
  if (a_axes.size() != b_axes.size()) {
    throw LabelError{fmt::format("given {} axes of a and {} of b, expected equally many",
                                 a_axes.size(), b_axes.size())};
  }
  const int summed = static_cast<int>(a_axes.size());
  LabelLists lists;
  int next = summed;
  const std::span<const int64_t> axes[2] = {a_axes, b_axes};
  for (std::size_t side = 0; side < 2; ++side) {
    LabelList& labels =
        lists.in.emplace_back(static_cast<std::size_t>(std::max(shapes[side].ndim(), 0)), -1);
    for (int i = 0; i < summed; ++i) {
      const int axis = normalize_axis(axes[side][static_cast<std::size_t>(i)], shapes[side].ndim(),
                                      "_npi_tensordot");
      if (labels[static_cast<std::size_t>(axis)] >= 0)
        throw LabelError{fmt::format("given axis {} twice, expected different axes", axis)};
      labels[static_cast<std::size_t>(axis)] = i;
    }
    for (int& label : labels) {
      if (label >= 0) continue;
      label = next++;
      lists.out.push_back(label);
    }
  }
  return lists;
}

}  // namespace

LabelLists dot_labels(const DotParams& params, std::span<const Shape> shapes) {
  const int m = shapes[0].ndim() - 1, n = shapes[1].ndim() - 1;
  if (m < 0 || n < 0) throw LabelError{"one dimension or more", m < 0 ? 0 : 1};
  const LabelList k{0}, rows = counted(1, m), columns = counted(1 + m, n);
  // Of two vectors: shape (1,).
  LabelList out = m + n == 0 ? counted(1, 1) : joined(rows, columns);
  return lists_of(params.transpose_a ? joined(k, rows) : joined(rows, k),
                  params.transpose_b ? joined(columns, k) : joined(k, columns), std::move(out));
}

LabelLists batch_dot_labels(const DotParams& params, std::span<const Shape> shapes) {
  const int ndim = shapes[0].ndim();
  if (ndim < 3) throw LabelError{"three dimensions or more", 0};
  if (shapes[1].ndim() != ndim) throw LabelError{fmt::format("{} dimensions", ndim), 1};
  const LabelList batch = counted(3, ndim - 2);
  const std::array<int, 2> a{0, 2}, a_turned{2, 0}, b{2, 1}, b_turned{1, 2}, out{0, 1};
  return lists_of(joined(batch, params.transpose_a ? a_turned : a),
                  joined(batch, params.transpose_b ? b_turned : b), joined(batch, out));
}

LabelLists np_dot_labels(const PlainParams&, std::span<const Shape> shapes) {
  const int m = shapes[0].ndim() - 1, n = shapes[1].ndim();
  if (m < 0 || n == 0)
    return lists_of(counted(0, m + 1), counted(0, n), counted(0, std::max(m + 1, n)));
  const LabelList rows = counted(1, m);
  LabelList right = counted(1 + m, n - 1);
  LabelList out = joined(rows, right);
  right.push_back(0);
  if (n > 1) std::swap(right.back(), right.end()[-2]);
  return lists_of(joined(rows, std::array{0}), std::move(right), std::move(out));
}

LabelLists matmul_labels(const PlainParams&, std::span<const Shape> shapes) {
  const int a = shapes[0].ndim(), b = shapes[1].ndim();
  if (a == 0 || b == 0) {
    throw LabelError{"at least one dimension (a scalar is multiplied by `*`)", a == 0 ? 0 : 1};
  }
  // Batch labels are counted from the right: the last one is 3.
  const auto batch = [](int count) {
    LabelList labels = counted(3, std::max(count, 0));
    std::reverse(labels.begin(), labels.end());
    return labels;
  };
  const std::array<int, 2> left{0, 2}, right{2, 1};
  LabelList out = batch(std::max(a, b) - 2);
  if (a > 1) out.push_back(0);
  if (b > 1) out.push_back(1);
  LabelLists lists = lists_of(a == 1 ? counted(2, 1) : joined(batch(a - 2), left),
                              b == 1 ? counted(2, 1) : joined(batch(b - 2), right), std::move(out));
  lists.broadcast_from = 3;
  return lists;
}

LabelLists tensordot_axes_labels(const TensordotParams& params, std::span<const Shape> shapes) {
  return tensordot_labels(shapes, params.a_axes_summed.dims(), params.b_axes_summed.dims());
}

LabelLists tensordot_int_labels(const TensordotIntParams& params, std::span<const Shape> shapes) {
  if (params.axes < 0 || params.axes > std::min(shapes[0].ndim(), shapes[1].ndim())) {
    throw LabelError{fmt::format("given axes = {} for shapes {} and {}, expected as many in both",
                                 params.axes, to_string(shapes[0]), to_string(shapes[1]))};
  }
  std::vector<int64_t> a_axes(static_cast<std::size_t>(params.axes)), b_axes(a_axes);
  std::iota(a_axes.begin(), a_axes.end(), shapes[0].ndim() - params.axes);
  std::iota(b_axes.begin(), b_axes.end(), 0);
  return tensordot_labels(shapes, a_axes, b_axes);
}

}  // namespace mxnet
