// SPDX-License-Identifier: Apache-2.0
// The ways in which a layer multiplies rows with its weights: in the type that it computes in, of
// packed weights or by BLAS of weights as they lie, and of bfloat16 with sums in float. Factor is
// what is multiplied, Number what sums are.
#pragma once
#include <cstdint>

#include "op/kernel.h"
#include "op/loops/convert.h"
#include "op/products/blas.h"
#include "op/products/packed_bfloat16.h"
#include "op/products/packed_gemm.h"

namespace mxnet::rnn {

template <class T>
struct OwnProducts {
  using Factor = T;
  using Number = T;

  bool packs;

  // Numbers are factors: there are no places of their own for these, to which any are copied.
  static T* places(int64_t, KernelContext&) { return nullptr; }
  static void keep(const T*, T*, int64_t, int64_t) {}
  static const T* factors(const T* numbers, const T*) { return numbers; }

  // Weights that are multiplied where they are; null where they are packed.
  const T* in_place(const T* weights) const { return packs ? nullptr : weights; }
  int64_t packed_size(int64_t k, int64_t n) const {
    return packs ? packed_gemm::packed_size<T>(k, n) : k * n;
  }
  // Units [first, last) of weights, each of which is a row of k.
  static void pack(const T* weights, int64_t k, int64_t n, int64_t first, int64_t last, T* to) {
    packed_gemm::pack<T>({weights, 1, k}, k, n, first, last, to);
  }
  void multiply(int64_t m, int64_t n, int64_t k, const T* a, const T* weights, T* c, int64_t ldc,
                bool add, int64_t first, int64_t last) const {
    if (packs)
      return packed_gemm::multiply<T>(m, n, k, {a, k, 1}, weights, c, ldc, add, first, last);
    blas::gemm(false, true, m, last - first, k, T{1}, a, k, weights + first * k, k,
               add ? T{1} : T{0}, c + first, ldc);
  }
};

// For even k.
struct Bfloat16Products {
  using Factor = bfloat16;
  using Number = float;

  static bfloat16* places(int64_t count, KernelContext& context) {
    return context.workspace_of<bfloat16>(count);
  }
  // Rounds numbers [first, last).
  static void keep(const float* numbers, bfloat16* places, int64_t first, int64_t last) {
    convert_array(numbers + first, places + first, last - first);
  }
  static const bfloat16* factors(const float*, const bfloat16* places) { return places; }

  static const float* in_place(const bfloat16*) { return nullptr; }
  static int64_t packed_size(int64_t k, int64_t n) {
    return packed_gemm::packed_size<float>(k / 2, n);
  }
  static void pack(const bfloat16* weights, int64_t k, int64_t n, int64_t first, int64_t last,
                   float* to) {
    packed_gemm::pack<float>(packed_bfloat16::pairs(weights, k), k / 2, n, first, last, to);
  }
  static void multiply(int64_t m, int64_t n, int64_t k, const bfloat16* a, const float* packed,
                       float* c, int64_t ldc, bool add, int64_t first, int64_t last) {
    packed_bfloat16::multiply(m, n, k, a, k, packed, c, ldc, add, first, last);
  }
};

}  // namespace mxnet::rnn
