// SPDX-License-Identifier: Apache-2.0
// Arithmetic of strides; a lone row or column lies anywhere.
#include "op/matrix/matrix_form.h"

#include <algorithm>

namespace mxnet::contraction {

int64_t product(Dims dims, const Labels& labels) {
  int64_t n = 1;
  for (std::size_t l : labels) n *= dims[l];
  return n;
}

int64_t reached(Dims dims, const Strides& strides) {
  int64_t n = 1;
  for (std::size_t l = 0; l < dims.size(); ++l) n *= strides[l] != 0 ? dims[l] : 1;
  return n;
}

std::optional<int64_t> joined_stride(Dims dims, const Labels& labels, const Strides& strides,
                                     int64_t lone) {
  std::optional<int64_t> step;
  int64_t next = 0;
  for (std::size_t i = labels.size(); i-- > 0;) {
    const std::size_t l = labels[i];
    if (dims[l] == 1) continue;
    if (step && strides[l] != next) return std::nullopt;
    if (!step) step = strides[l];
    next = strides[l] * dims[l];
  }
  return step ? step : lone;
}

void sort_by(const Strides& strides, Labels* labels) {
  const auto before = [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; };
  // Of a few labels: std::stable_sort would ask for memory, and be more code than this file.
  for (auto l = labels->begin(); l != labels->end(); ++l)
    std::rotate(std::upper_bound(labels->begin(), l, *l, before), l, l + 1);
}

Strides packed_strides(Dims dims, std::initializer_list<const Labels*> groups) {
  Strides strides(dims.size(), 0);
  int64_t step = 1;
  for (auto group = groups.end(); group != groups.begin();) {
    --group;
    for (std::size_t i = (*group)->size(); i-- > 0;) {
      strides[(**group)[i]] = step;
      step *= dims[(**group)[i]];
    }
  }
  return strides;
}

std::optional<MatrixForm> matrix_form(Dims dims, const Labels& rows, const Labels& columns,
                                      const Strides& strides) {
  const int64_t m = product(dims, rows), n = product(dims, columns);
  const auto row = joined_stride(dims, rows, strides, n);
  const auto column = joined_stride(dims, columns, strides, 1);
  if (!row || !column) return std::nullopt;
  if (*column == 1 && *row >= n) return MatrixForm{false, *row};
  const int64_t across = n == 1 ? m : *column;  // a lone column lies anywhere
  if (*row == 1 && across >= m) return MatrixForm{true, across};
  return std::nullopt;
}

Roles roles_of(Dims dims, const Strides& a, const Strides& b, const Strides& out) {
  Roles roles;
  for (std::size_t l = 0; l < dims.size(); ++l) {
    const bool in_a = a[l] != 0, in_b = b[l] != 0, in_out = out[l] != 0;
    if (dims[l] == 1) continue;
    if (in_out) {
      (in_a && in_b ? roles.batch : in_b ? roles.columns : roles.rows).push_back(l);
    } else if (in_a && in_b) {
      roles.summed.push_back(l);
    }
  }
  for (Labels* labels : {&roles.batch, &roles.rows, &roles.columns}) sort_by(out, labels);
  sort_by(a, &roles.summed);
  return roles;
}

}  // namespace mxnet::contraction
