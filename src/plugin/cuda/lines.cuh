// SPDX-License-Identifier: Apache-2.0
// Arrays as lines along one axis, and positions that an array of any type holds.
#pragma once
#include <cstdint>

#include "op/params/dense_and_sparse.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {

// Elements of a line are `inner` apart (RowLayout of loops/row_io.h, for kernels).
struct Lines {
  int64_t length, inner;

  Lines(int64_t length_, int64_t inner_)
      : length(length_), inner(inner_), by_length_(length_), by_inner_(inner_) {}
  MX_DEVICE int64_t first(int64_t line) const {
    const int64_t outer = by_inner_.quotient(line);
    return outer * length * inner + line - outer * inner;
  }
  // The line of element i of all, and its place in it.
  MX_DEVICE int64_t line_of(int64_t i) const {
    const int64_t row = by_inner_.quotient(i);
    return by_length_.quotient(row) * inner + i - row * inner;
  }
  MX_DEVICE int64_t place_of(int64_t i) const {
    const int64_t row = by_inner_.quotient(i);
    return row - by_length_.quotient(row) * length;
  }

 private:
  // A division of 64 bits is some hundred instructions: kernels would wait for it, not for memory.
  Divider by_length_, by_inner_;
};

// Elements of any type as Number. All threads read the same type, so that the branch costs next to
// nothing, and one kernel serves all types.
template <class Number>
struct Numbers {
  const void* data;
  DType dtype;
  MX_DEVICE Number operator()(int64_t j) const {
    switch (dtype) {
#define MX_CASE(name, type, tag) \
  case DType::tag:               \
    return narrow<Number>(widen(static_cast<const type*>(data)[j]));
      MX_DTYPES(MX_CASE)
#undef MX_CASE
      case DType::kUnknown:
        break;
    }
    return 0;
  }
};
using Integers = Numbers<int64_t>;

// Elements of any type, to be written as Conversion::to<type>(value) says.
template <class Conversion>
struct StoredAs {
  void* data;
  DType dtype;
  template <class C>
  MX_DEVICE void operator()(int64_t i, C value) const {
    switch (dtype) {
#define MX_CASE(name, type, tag)                                        \
  case DType::tag:                                                      \
    static_cast<type*>(data)[i] = Conversion::template to<type>(value); \
    break;
      MX_DTYPES(MX_CASE)
#undef MX_CASE
      case DType::kUnknown:
        break;
    }
  }
};
struct Narrowed {
  template <class T, class C>
  static MX_DEVICE T to(C value) {
    return narrow<T>(value);
  }
};
using Stored = StoredAs<Narrowed>;

// Integers brought into [0, extent).
struct Position {
  Integers numbers;
  int64_t extent;
  bool wraps;
  MX_DEVICE int64_t operator()(int64_t j) const {
    int64_t at = numbers(j);
    if (!wraps) return at < 0 ? 0 : at >= extent ? extent - 1 : at;
    at %= extent;
    return at < 0 ? at + extent : at;
  }
};

}  // namespace cuda
}  // namespace mxnet
