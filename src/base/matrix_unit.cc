// SPDX-License-Identifier: Apache-2.0
// Of the eight registers of the unit six hold sums, so that the two others bring a left matrix each
// product or a right one each few: fifteen loads for twelve products, which hide behind these as
// long as they come from the first-level cache.
#include "base/matrix_unit.h"

#include <cstring>

#include "base/half.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace mxnet::matrix_unit {

#if defined(__x86_64__)
#define MX_MATRIX_UNIT [[gnu::target("amx-tile,amx-int8,amx-bf16")]]

namespace {

// As the instruction wants it: all eight registers of 16 rows of 64 bytes.
struct alignas(64) Shape {
  uint8_t palette = 1, first_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(Shape) == 64);

constexpr int64_t kLine = 64;

// Registers 0 to 2 are sums of the first left matrices, 3 to 5 of the second.
template <bool two>
MX_MATRIX_UNIT void multiply(int64_t steps, bool back, const int8_t* a, const int8_t* b,
                             const int8_t* right, Sums (&sums)[2]) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  if constexpr (two) {
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
  }
  const int64_t first = back ? (steps - 1) * kStep : 0, step = back ? -kStep : kStep;
  a += first;
  b += first;
  right += first;
  for (int64_t i = 0; i < steps; ++i, a += step, b += step, right += step) {
#define MX_MULTIPLY(digit, upper_sums, lower_sums) \
  _tile_loadd(7, a + (digit)*kBytes, kLine);       \
  _tile_dpbssd(upper_sums, 7, 6);                  \
  if constexpr (two) {                             \
    _tile_loadd(7, b + (digit)*kBytes, kLine);     \
    _tile_dpbssd(lower_sums, 7, 6);                \
  }
    _tile_loadd(6, right, kLine);
    MX_MULTIPLY(0, 0, 3)
    MX_MULTIPLY(1, 1, 4)
    MX_MULTIPLY(2, 2, 5)
    _tile_loadd(6, right + kBytes, kLine);
    MX_MULTIPLY(0, 1, 4)
    MX_MULTIPLY(1, 2, 5)
    _tile_loadd(6, right + 2 * kBytes, kLine);
    MX_MULTIPLY(0, 2, 5)
#undef MX_MULTIPLY
  }
  _tile_stored(0, sums[0][0], kLine);
  _tile_stored(1, sums[0][1], kLine);
  _tile_stored(2, sums[0][2], kLine);
  if constexpr (two) {
    _tile_stored(3, sums[1][0], kLine);
    _tile_stored(4, sums[1][1], kLine);
    _tile_stored(5, sums[1][2], kLine);
  }
}

// Registers 0 and 1 are sums of the first left matrices with both right ones, 2 and 3 of the
// second.
template <bool two_rows, bool two_columns>
MX_MATRIX_UNIT void multiply_pairs(int64_t steps, const int8_t* const (&left)[2],
                                   const int8_t* const (&right)[2], float* c, int64_t ldc,
                                   bool add) {
  const int64_t row = ldc * static_cast<int64_t>(sizeof(float));
  float* const lower = c + kRows * ldc;
  if (add) {
    _tile_loadd(0, c, row);
    if constexpr (two_columns) _tile_loadd(1, c + kColumns, row);
    if constexpr (two_rows) _tile_loadd(2, lower, row);
    if constexpr (two_rows && two_columns) _tile_loadd(3, lower + kColumns, row);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int64_t i = 0; i < steps * kBytes; i += kBytes) {
    _tile_loadd(6, right[0] + i, kLine);
    _tile_loadd(4, left[0] + i, kLine);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (two_columns) {
      _tile_loadd(7, right[1] + i, kLine);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (two_rows) {
      _tile_loadd(5, left[1] + i, kLine);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (two_columns) _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, c, row);
  if constexpr (two_columns) _tile_stored(1, c + kColumns, row);
  if constexpr (two_rows) _tile_stored(2, lower, row);
  if constexpr (two_rows && two_columns) _tile_stored(3, lower + kColumns, row);
}

MX_MATRIX_UNIT void configure() {
  static constexpr Shape kShape;
  _tile_loadconfig(&kShape);
}
MX_MATRIX_UNIT void release() { _tile_release(); }

// The registers are large, so that the system wants to be asked for room to save them.
bool allowed_by_system() {
#if defined(__linux__)
  constexpr int64_t kAskForFeature = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kAskForFeature, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace

bool available() {
  static const bool is =
      simd_features().amx_tile && simd_features().amx_int8 && allowed_by_system();
  return is;
}

Session::Session() { configure(); }
Session::~Session() { release(); }

void multiply_digits(int64_t steps, bool back, const int8_t* const (&left)[2], const int8_t* right,
                     Sums (&sums)[2]) {
  left[1] == nullptr ? multiply<false>(steps, back, left[0], left[0], right, sums)
                     : multiply<true>(steps, back, left[0], left[1], right, sums);
}

bool multiplies_bfloat16() { return available() && simd_features().amx_bf16; }

void multiply_bfloat16(int64_t steps, const int8_t* const (&left)[2],
                       const int8_t* const (&right)[2], float* c, int64_t ldc, bool add) {
  const bool two_rows = left[1] != nullptr, two_columns = right[1] != nullptr;
  const auto multiply = two_rows
                            ? two_columns ? multiply_pairs<true, true> : multiply_pairs<true, false>
                        : two_columns ? multiply_pairs<false, true>
                                      : multiply_pairs<false, false>;
  multiply(steps, left, right, c, ldc, add);
}
#else
bool available() { return false; }
bool multiplies_bfloat16() { return false; }
void multiply_bfloat16(int64_t steps, const int8_t* const (&left)[2],
                       const int8_t* const (&right)[2], float* c, int64_t ldc, bool add) {
  multiply_bfloat16_by_loops(steps, left, right, c, ldc, add);
}
Session::Session() = default;
Session::~Session() = default;
void multiply_digits(int64_t steps, bool, const int8_t* const (&left)[2], const int8_t* right,
                     Sums (&sums)[2]) {
  multiply_digits_by_loops(steps, left, right, sums);
}
#endif

void multiply_digits_by_loops(int64_t steps, const int8_t* const (&left)[2], const int8_t* right,
                              Sums (&sums)[2]) {
  constexpr int64_t kTogether = kDepth / kRows;  // bytes of a column that follow each other
  for (int half = 0; half < 2; ++half) {
    if (left[half] == nullptr) continue;
    for (auto& sum : sums[half]) {
      for (int32_t& number : sum) number = 0;
    }
    for (int64_t s = 0; s < steps; ++s) {
      for (int i = 0; i < kDigits; ++i) {
        for (int j = 0; i + j < kDigits; ++j) {
          const int8_t* a = left[half] + s * kStep + i * kBytes;
          const int8_t* b = right + s * kStep + j * kBytes;
          for (int64_t r = 0; r < kRows; ++r) {
            for (int64_t k = 0; k < kDepth; ++k) {
              const int8_t factor = a[r * kDepth + k];
              const int8_t* row = b + k / kTogether * kDepth + k % kTogether;
              int32_t* to = sums[half][i + j] + r * kColumns;
              for (int64_t c = 0; c < kColumns; ++c) to[c] += factor * row[c * kTogether];
            }
          }
        }
      }
    }
  }
}

void multiply_bfloat16_by_loops(int64_t steps, const int8_t* const (&left)[2],
                                const int8_t* const (&right)[2], float* c, int64_t ldc, bool add) {
  constexpr int64_t kNumbers = kDepth / 2;
  const auto number = [](const int8_t* from, int64_t i) {
    bfloat16 read;
    std::memcpy(&read, from + 2 * i, sizeof(read));
    return static_cast<float>(read);
  };
  for (int64_t r = 0; r < 2 * kRows; ++r) {
    for (int64_t j = 0; j < 2 * kColumns; ++j) {
      const int8_t *a = left[r / kRows], *b = right[j / kColumns];
      if (a == nullptr || b == nullptr) continue;
      float sum = 0;
      for (int64_t s = 0; s < steps; ++s, a += kBytes, b += kBytes) {
        for (int64_t i = 0; i < kNumbers; ++i)
          sum += number(a, r % kRows * kNumbers + i) *
                 number(b, i / 2 * kNumbers + j % kColumns * 2 + i % 2);
      }
      float& to = c[r * ldc + j];
      to = add ? to + sum : sum;
    }
  }
}

}  // namespace mxnet::matrix_unit
