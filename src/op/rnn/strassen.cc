// SPDX-License-Identifier: Apache-2.0
// The order of Strassen's sums and products, in Winograd's form: by columns, and seven products of
// a tile one after the other, so that what they have in common stays in registers.
#include "op/rnn/strassen.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/simd.h"
#include "op/packed_gemm.h"

namespace mxnet::rnn::strassen {
namespace {

constexpr int kProducts = 7, kTwice = kProducts * kProducts;
constexpr int kLeftSums = 4;  // of seven left factors; the others are quarters as they are
constexpr int kGates = 4;

// kTile rows as a left factor.
struct Rows {
  const float* at;
  int64_t stride;
};
struct Factors {
  Rows at[kProducts];  // in the order in which they are used
};

// Where quarters of the result go: to = base + sums, or the sums alone where there is no base.
struct Result {
  const float* base[4];
  float* to[4];
  int64_t base_stride, stride;  // from row to row
};

#define MX_SIMD_FILE "op/rnn/strassen.inc"
#include "base/simd_targets.h"

// Factors of rows whose first `half` numbers, and as many behind them, are quarters; `sums` is room
// for those that are sums.
Factors sum_rows(const Rows (&rows)[2], int64_t half, float* sums) {
  const int64_t size = kTile * half;
  for (int64_t r = 0; r < kTile; ++r) {
    const float *a = rows[0].at + r * rows[0].stride, *b = rows[1].at + r * rows[1].stride;
    const float* const quarters[4] = {a, a + half, b, b + half};
    MX_SIMD_CALL(sum_left)(quarters, half, sums + r * half, size);
  }
  return {{rows[0],
           {rows[0].at + half, rows[0].stride},
           {sums + size, half},
           {sums + 2 * size, half},
           {rows[1].at + half, rows[1].stride},
           {sums, half},
           {sums + 3 * size, half}}};
}

// What becomes of the outer products of multiply_input(), in their order: `base`, one of the sums
// that wait, and the product go to another that waits, or to a quarter of the result.
constexpr int kNone = -1, kWaiting = 3;
struct Sum {
  int base = kNone, waits = kNone, quarter = kNone;
};
constexpr Sum kSums[kProducts][2] = {{{kNone, 0, kNone}, {}}, {{0, kNone, 0}, {}},
                                     {{0, 1, kNone}, {}},     {{1, 2, kNone}, {}},
                                     {{2, kNone, 2}, {}},     {{2, kNone, 3}, {1, 1, kNone}},
                                     {{1, kNone, 1}, {}}};

}  // namespace

int64_t columns() { return packed_gemm::panel_columns<float>(); }

bool divides(int64_t batch, int64_t input_size, int64_t hidden) {
  // Below, sums take more than the eighth of the products that is saved.
  constexpr int64_t kLeast = 256;
  return batch % (2 * kTile) == 0 && input_size % 64 == 0 && hidden % 64 == 0 &&
         input_size >= kLeast && hidden >= kLeast;
}

float largest(const float* numbers, int64_t count) {
  return std::bit_cast<float>(MX_SIMD_CALL(largest_bits)(numbers, count));
}

bool small_enough(float left, float right, int64_t k) {
  // Sums of k such products, of any sign, are about this large at most. An error of two levels is
  // then some 1e-5, and more often 1e-6.
  constexpr float kLargest = 32;
  return left * right * std::sqrt(static_cast<float>(k)) <= kLargest;
}

int64_t input_sums(int64_t k, int64_t units) { return kTwice * (k / 4) * units; }
int64_t state_sums(int64_t k, int64_t units) { return kProducts * (k / 2) * 2 * units; }

void sum_input_weights(const float* panels, int64_t k, float* to) {
  const int64_t width = columns(), panel = k * width, quarter = panel / 4;
  // Quarters are the halves of halves of k, and gates: pairs of gates are halves, and in a pair
  // each of both. Some rows at a time, so that the sums between stay close.
  const int64_t piece = 8 * width;
  std::vector<float> once(static_cast<std::size_t>(4 * kProducts * piece));
  for (int64_t at = 0; at < quarter; at += piece) {
    for (int inner = 0; inner < 4; ++inner) {
      const float* first = panels + inner % 2 * panel + inner / 2 * quarter + at;
      const float* const blocks[4] = {first, first + 2 * panel, first + 2 * quarter,
                                      first + 2 * panel + 2 * quarter};
      MX_SIMD_CALL(sum_right)(blocks, piece, once.data() + inner * piece, 4 * piece);
    }
    for (int p = 0; p < kProducts; ++p) {
      const float* first = once.data() + p * 4 * piece;
      const float* const blocks[4] = {first, first + piece, first + 2 * piece, first + 3 * piece};
      MX_SIMD_CALL(sum_right)(blocks, piece, to + p * kProducts * quarter + at, quarter);
    }
  }
}

void sum_state_weights(const float* panels, int64_t k, float* to) {
  const int64_t panel = k * columns(), half = panel / 2;
  for (int gate = 0; gate < 2; ++gate, to += kProducts * half) {
    const float* first = panels + gate * panel;
    const float* const blocks[4] = {first, first + 2 * panel, first + half,
                                    first + 2 * panel + half};
    MX_SIMD_CALL(sum_right)(blocks, half, to, half);
  }
}

int64_t state_scratch(int64_t rows, int64_t k) { return rows / 2 * kLeftSums * k / 2; }

void multiply_state(std::span<const Tile> tiles, int64_t k, const float* sums, int64_t hidden,
                    int64_t apart, float* scratch) {
  const int64_t width = columns(), half = k / 2, panels = kProducts * half * width;
  const std::size_t pairs = tiles.size() / 2;
  std::vector<Factors> left;
  for (std::size_t t = 0; t < pairs; ++t, scratch += kLeftSums * kTile * half)
    left.push_back(sum_rows({{tiles[t].from, k}, {tiles[pairs + t].from, k}}, half, scratch));
  const float* const end = sums + state_sums(k, hidden);
  const float* right = sums;
  for (int64_t unit = 0; unit < hidden; unit += width) {
    for (int gate = 0; gate < 2; ++gate, right += panels) {
      const float* next = right + panels == end ? sums : right + panels;
      const int64_t at = unit / width * apart + gate * width;
      for (std::size_t t = 0; t < pairs; ++t) {
        float *a = tiles[t].to + at, *b = tiles[pairs + t].to + at;
        Result result{{}, {a, a + 2 * width, b, b + 2 * width}, 0, kGates * width};
        result.base_stride = result.stride;
        std::copy_n(result.to, 4, result.base);
        MX_SIMD_CALL(multiply_seven)(half, left[t].at, right, t == 0 ? next : nullptr, &result, 1);
      }
    }
  }
}

int64_t input_scratch(int64_t rows, int64_t k) {
  return rows / 4 *
         (2 * kLeftSums * k / 2 + kProducts * kLeftSums * k / 4 + kWaiting * 4 * columns());
}

void multiply_input(std::span<const Tile> tiles, int64_t k, const float* sums, int64_t hidden,
                    int64_t apart, float* scratch) {
  const int64_t width = columns(), quarter = k / 4, panels = kProducts * quarter * width;
  const std::size_t count = tiles.size() / 4;
  const int64_t block = kTile * width;
  float* waiting = scratch;  // [kWaiting][count][4] blocks
  scratch += kWaiting * static_cast<int64_t>(tiles.size()) * block;
  std::vector<Factors> left;  // [count][kProducts]
  for (std::size_t t = 0; t < count; ++t) {
    Factors outer[2];
    for (std::size_t row = 0; row < 2; ++row, scratch += kLeftSums * kTile * k / 2) {
      const float *a = tiles[row * count + t].from, *b = tiles[(2 + row) * count + t].from;
      outer[row] = sum_rows({{a, k}, {b, k}}, k / 2, scratch);
    }
    for (std::size_t p = 0; p < kProducts; ++p, scratch += kLeftSums * kTile * quarter)
      left.push_back(sum_rows({outer[0].at[p], outer[1].at[p]}, quarter, scratch));
  }
  const float* const end = sums + input_sums(k, hidden);
  const float* right = sums;
  for (int64_t unit = 0; unit < hidden; unit += width) {
    for (std::size_t p = 0; p < kProducts; ++p, right += panels) {
      const float* next = right + panels == end ? sums : right + panels;
      for (std::size_t t = 0; t < count; ++t) {
        const auto wait = [&](int i) {
          return waiting + (i * static_cast<int64_t>(count) + static_cast<int64_t>(t)) * 4 * block;
        };
        Result results[2];
        int n = 0;
        // Each product has one place for its sums, but for the last but one.
        for (const Sum& sum : kSums[p]) {
          if (sum.quarter == kNone && sum.waits == kNone) continue;
          Result& result = results[n++];
          result.base_stride = width;
          result.stride = sum.waits != kNone ? width : kGates * width;
          for (int i = 0; i < 4; ++i) {
            // Of the inner quarter i, and with it the gate and the tile that belong to it.
            const int row = sum.quarter / 2 * 2 + i / 2, gate = sum.quarter % 2 * 2 + i % 2;
            result.base[i] = sum.base == kNone ? nullptr : wait(sum.base) + i * block;
            result.to[i] = sum.waits != kNone
                               ? wait(sum.waits) + i * block
                               : tiles[static_cast<std::size_t>(row) * count + t].to +
                                     unit / width * apart + gate * width;
          }
        }
        MX_SIMD_CALL(multiply_seven)
        (quarter, left[t * kProducts + p].at, right, t == 0 ? next : nullptr, results, n);
      }
    }
  }
}

}  // namespace mxnet::rnn::strassen
