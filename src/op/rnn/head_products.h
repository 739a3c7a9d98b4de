// SPDX-License-Identifier: Apache-2.0
// Products of matrices of which every head of attention has one, at equal distances within an
// array: on CPUs in all threads, on a GPU as one call of the product primitive each.
#pragma once
#include <cstdint>
#include <initializer_list>

#include "op/kernel.h"

namespace mxnet {

// Where the matrices of the heads lie, in elements of an input or output of the kernel.
struct HeadMatrix {
  int array;                 // number of the input; of the output for results
  int64_t begin, row, step;  // the first one, distance of rows, distance of heads
  bool turned = false;       // rows of the product are the columns there

  HeadMatrix transposed() const { return {array, begin, row, step, !turned}; }
};

// c = alpha * a b of each head: m x k by k x n. c is not transposed.
struct HeadProduct {
  int64_t m, n, k;
  double alpha = 1;
  HeadMatrix a, b, c;
};

// All arrays have one type; half types are computed in float. The products write every output
// everywhere but number `cleared`, the rest of which becomes zero.
void multiply_heads(KernelContext& context, int64_t heads,
                    std::initializer_list<HeadProduct> products, int cleared = -1);

}  // namespace mxnet
