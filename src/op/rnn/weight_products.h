// SPDX-License-Identifier: Apache-2.0
// The ways in which a layer multiplies rows with its weights: in the type that it computes in, of
// packed weights or by BLAS of weights as they lie; of bfloat16 with sums in float, by
// pairs or by the processor's matrix unit; and by this of float in digits. Weight is what
// parameters are, Factor what is multiplied, Number what sums are.
#pragma once
#include <cstdint>

#include "op/kernel.h"
#include "op/loops/convert.h"
#include "op/products/bfloat16_tiles.h"
#include "op/products/blas.h"
#include "op/products/digit_products.h"
#include "op/products/packed_bfloat16.h"
#include "op/products/packed_gemm.h"
#include "op/rnn/weight_cache.h"

namespace mxnet::rnn {

template <class T>
struct OwnProducts {
  using Factor = T;
  using Weight = T;
  using Number = T;

  static constexpr WeightForm kForm = WeightForm::kPacked;
  static constexpr int64_t kTogether = 1;  // rows that threads do not divide

  bool packs;

  // Numbers are factors: there are no places of their own for these, to which any are copied.
  static T* places(int64_t, int64_t, KernelContext&) { return nullptr; }
  static void start_states(T*, int64_t, int64_t) {}
  static void keep_rows(const T*, T*, int64_t, int64_t, int64_t, int64_t) {}
  static void keep_units(const T*, T*, int64_t, int64_t, int64_t, int64_t) {}
  static const T* factors(const T* numbers, const T*) { return numbers; }
  static int64_t row_size(int64_t width) { return width; }

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
  using Weight = bfloat16;
  using Number = float;

  static constexpr WeightForm kForm = WeightForm::kPacked;
  static constexpr int64_t kTogether = 1;

  static bfloat16* places(int64_t rows, int64_t width, KernelContext& context) {
    return context.workspace_of<bfloat16>(rows * width);
  }
  static void start_states(bfloat16*, int64_t, int64_t) {}
  // Rounds rows [first, last).
  static void keep_rows(const float* numbers, bfloat16* places, int64_t, int64_t width,
                        int64_t first, int64_t last) {
    keep_units(numbers, places, width, 0, first * width, last * width);
  }
  // The same of units of a row.
  static void keep_units(const float* numbers, bfloat16* places, int64_t width, int64_t row,
                         int64_t unit, int64_t unit_end) {
    const int64_t first = row * width + unit;
    convert_array(numbers + first, places + first, unit_end - unit);
  }
  static const bfloat16* factors(const float*, const bfloat16* places) { return places; }
  static int64_t row_size(int64_t width) { return width; }

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

// What the two ways by the matrix unit have in common: tiles of rows, which begin at each step with
// multiples of kTogether samples.
template <class Format>
struct TileProducts {
  using Factor = int8_t;
  using Number = float;
  static constexpr int64_t kTogether = kLinesOfTile;

  MultipliedBy by;

  static int8_t* places(int64_t rows, int64_t width, KernelContext& context) {
    return context.workspace_of<int8_t>(Format::packed_bytes(rows, width));
  }
  static void keep_rows(const float* numbers, int8_t* places, int64_t rows, int64_t width,
                        int64_t first, int64_t last) {
    Format::pack_left({numbers, width, 1}, rows, width, first, last, places);
  }
  static const int8_t* factors(const float*, const int8_t* places) { return places; }
  static int64_t row_size(int64_t width) { return Format::packed_bytes(1, width) / kTogether; }

  static int64_t packed_size(int64_t k, int64_t n) {
    return Format::packed_bytes(n, k) / static_cast<int64_t>(sizeof(float));
  }
  void multiply(int64_t m, int64_t n, int64_t k, const int8_t* a, const float* packed, float* c,
                int64_t ldc, bool add, int64_t first, int64_t last) const {
    Format::multiply(by, m, n, k, a, reinterpret_cast<const int8_t*>(packed), c, ldc, add, first,
                     last);
  }
};

struct OfDigits : TileProducts<DigitProducts> {
  using Weight = float;
  static constexpr WeightForm kForm = WeightForm::kDigits;

  float largest_state;  // no state is larger, ever

  // Before keep_units().
  void start_states(int8_t* places, int64_t rows, int64_t width) const {
    DigitProducts::start_left(rows, width, largest_state, places);
  }
  void keep_units(const float* numbers, int8_t* places, int64_t width, int64_t row, int64_t unit,
                  int64_t unit_end) const {
    DigitProducts::pack_part(numbers + row * width, row, width, unit, unit_end, largest_state,
                             places);
  }
  static const float* in_place(const float*) { return nullptr; }
  static void pack(const float* weights, int64_t k, int64_t n, int64_t first, int64_t last,
                   float* to) {
    DigitProducts::pack_right({weights, k, 1}, n, k, first, last, reinterpret_cast<int8_t*>(to));
  }
};

struct OfBfloat16Tiles : TileProducts<Bfloat16Tiles> {
  using Weight = bfloat16;
  static constexpr WeightForm kForm = WeightForm::kTiles;

  static void start_states(int8_t* places, int64_t rows, int64_t width) {
    Bfloat16Tiles::clear(rows, width, places);
  }
  static void keep_units(const float* numbers, int8_t* places, int64_t width, int64_t row,
                         int64_t unit, int64_t unit_end) {
    Bfloat16Tiles::pack_part(numbers + row * width, row, width, unit, unit_end, places);
  }
  static const float* in_place(const bfloat16*) { return nullptr; }
  static void pack(const bfloat16* weights, int64_t k, int64_t n, int64_t first, int64_t last,
                   float* to) {
    Bfloat16Tiles::pack_right(weights, n, k, first, last, reinterpret_cast<int8_t*>(to));
  }
};

}  // namespace mxnet::rnn
