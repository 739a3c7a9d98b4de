// SPDX-License-Identifier: Apache-2.0
// The processor's unit for products of small matrices of bytes or of bfloat16 (AMX), and plain
// loops that do the same anywhere: to the bit with bytes, of which sums of products are exact.
#pragma once
#include <cstdint>

namespace mxnet {
// Who multiplies: the unit, where it is available, or plain loops, which are there for tests.
enum class MultipliedBy : uint8_t { kUnit, kLoops };
}  // namespace mxnet

namespace mxnet::matrix_unit {

// Matrices of kBytes: of a left factor kRows rows of kDepth bytes; of a right one kDepth bytes of
// each of kColumns columns, four bytes of all columns after each other.
inline constexpr int64_t kRows = 16, kColumns = 16, kDepth = 64, kBytes = kRows * kDepth;

// Whether this processor has the unit and the system lets this process use it, for which it is
// asked at the first call.
bool available();

// While it lives the calling thread may use the unit: only where it is available. What another
// library has configured is lost.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

// Numbers of kDigits bytes each, digits to the base 256 with a sign of their own, the first the
// most significant: of a factor's matrices three follow each other, one a digit.
inline constexpr int kDigits = 3;
inline constexpr int64_t kStep = kDigits * kBytes;
// Sums of products of first digits, of first and second ones, and of those below: each the 256th
// part of the one before.
using Sums = int32_t[kDigits][kRows * kColumns];

// sums[i] of the product of left[i] and `right` over `steps` times kDepth, each kStep bytes
// further; the steps in turned order where `back` says so. left[1] may be null. So many steps that
// nothing overflows: kMostSteps.
inline constexpr int64_t kMostSteps = 512;
void multiply_digits(int64_t steps, bool back, const int8_t* const (&left)[2], const int8_t* right,
                     Sums (&sums)[2]);
// The same, by plain loops and without a session.
void multiply_digits_by_loops(int64_t steps, const int8_t* const (&left)[2], const int8_t* right,
                              Sums (&sums)[2]);

// Whether the unit is available and multiplies bfloat16 too.
bool multiplies_bfloat16();
// A matrix is of 32 bfloat16 in depth. Rows [0, kRows) of c, `ldc` apart, and the next kRows of
// them where there is a left[1], become the products of left[i] and right[j] over `steps` matrices
// that follow each other, or have them added; columns alike.
void multiply_bfloat16(int64_t steps, const int8_t* const (&left)[2],
                       const int8_t* const (&right)[2], float* c, int64_t ldc, bool add);
// The same but for the order of additions, by plain loops and without a session.
void multiply_bfloat16_by_loops(int64_t steps, const int8_t* const (&left)[2],
                                const int8_t* const (&right)[2], float* c, int64_t ldc, bool add);

}  // namespace mxnet::matrix_unit
