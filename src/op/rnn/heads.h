// SPDX-License-Identifier: Apache-2.0
// Arrays in which the queries, keys and values of attention's heads are interleaved: parameters and
// geometry, for the operators on them and for whoever fuses these.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/shape.h"

namespace mxnet {

// Keys (or values) may come with the queries (`parts` 3) or apart from them (2).
struct HeadRoles {
  bool self;  // one array holds all
  int query_parts() const { return self ? 3 : 1; }
  int memory_parts() const { return self ? 3 : 2; }
  int key() const { return self ? 1 : 0; }
  int value() const { return self ? 2 : 1; }
};

struct HeadsParams {
  int32_t heads = 1;
  // Of attention as one operator, which plans for inference on GPUs contain; nobody else makes it.
  // Its inputs are queries, keys and values, or queries, then keys and values.
  bool self = true;
  double scale = 1;  // of the scores, behind that of the products

  HeadRoles roles() const { return {self}; }
  static constexpr const char* kFused = "_sg_attention";
};

// (time, batch, heads * parts * size): of each head `parts` vectors lie side by side.
struct Interleaved {
  int64_t time, count, size;  // `count` is batch * heads
  int parts;

  Interleaved(const Shape& shape, int heads, int parts_of)
      : time(shape[0]),
        count(shape[1] * heads),
        size(shape[2] / (int64_t{heads} * parts_of)),
        parts(parts_of) {}
};

// Of the products. Those of vectors without elements are zero, which an infinite scale would make
// NaN.
inline double qk_scale(int64_t size) {
  return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(size, 1)));
}

}  // namespace mxnet
