// SPDX-License-Identifier: Apache-2.0
// What matrices whose rows are a few vectors are reflected and rotated by: loops over whole rows,
// which are filled up to whole vectors with zeros. T is float or double.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace mxnet {

// From there on LAPACK's products of blocks are faster.
inline constexpr int64_t kMostReflectedRows = 160;

// What counts as zero beside a largest number between 1 and 2: its square is far from subnormal.
template <class T>
constexpr T kNegligible = static_cast<T>(sizeof(T) == sizeof(float) ? 1e-12 : 1e-138);

// Numbers of a row of n that is filled up to lines of the caches.
template <class T>
int64_t row_line(int64_t n) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  return (n + kLine - 1) / kLine * kLine;
}

// Of m rows, which `a` holds; those of q are zeros before. l is dense.
template <class T>
struct LqWork {
  int64_t m, line;
  T *a, *q, *l, *weights, *p;
};

// Rows of x are `line` numbers apart. A vector v of `line` numbers is zero before `column`.
template <class T>
struct RowLoops {
  // to[i] = weight times the product of row i of x and v, for rows [first, n).
  void (*multiply)(const T* x, int64_t line, int64_t column, int64_t first, int64_t n, const T* v,
                   T weight, T* to);
  // to = weight times the sum of rows [first, n) of x, times w[row] each, from `column` on.
  void (*combine)(const T* x, int64_t line, int64_t column, int64_t first, int64_t n, const T* w,
                  T weight, T* to);
  // Rows [first, n) of x less p[i] v, and less v[i] p where `both`.
  void (*subtract)(T* x, int64_t line, int64_t column, int64_t first, int64_t n, const T* v,
                   const T* p, bool both);
  // A row becomes the vector of a reflection, from `corner` on: it leaves nothing behind that
  // place, where it leaves what comes into `left`. Returns its weight, 0 of one that does nothing.
  T (*reflect)(T* v, int64_t line, int64_t corner, T& left);
  // y becomes s x + c y, and x becomes c x - s y.
  void (*rotate)(T* x, T* y, int64_t line, T c, T s);
  // Columns [column, end) of three rows, and others of the vectors these begin and end in, less
  // factor (x + second y + third z) times 1, second and third.
  void (*reflect_three)(T* x, T* y, T* z, int64_t column, int64_t end, T factor, T second, T third);
  // Reflections that make rows of a lower triangle; their signs are LAPACK's. False where a number
  // is not finite.
  bool (*to_lower_triangle)(const LqWork<T>& work);

  // Row and column `first` of x, which are zeros before, and rows [first, n), become those of the
  // identity, reflected by the vector that begins there.
  void reflect_identity(T* x, int64_t line, int64_t first, int64_t n, const T* v, T weight,
                        T* scratch) const {
    x[first * line + first] = 1;
    if (weight == 0) return;
    multiply(x, line, first, first, n, v, weight, scratch);
    subtract(x, line, first, first, n, v, scratch, false);
  }
};

// Null where the processor has no vectors for them.
template <class T>
const RowLoops<T>* row_loops();

// Numbers are scaled by a power of two, which may have no reciprocal, so that no square is too
// large or too small: the largest becomes one from 1 to 2.
template <class T>
class RowScale {
 public:
  explicit RowScale(T most) {
    const int exponent = most > T{0} ? std::ilogb(most) : 0, half = exponent / 2;
    unit_ = std::ldexp(T{1}, -half);
    more_ = std::ldexp(T{1}, half - exponent);
  }
  T down(T x) const { return x * unit_ * more_; }
  T up(T x) const { return x / unit_ / more_; }

 private:
  T unit_, more_;
};

// Places of n values in their order. By insertion: they are sorted already for the most part.
class RowOrder {
 public:
  template <class Before>
  RowOrder(int64_t n, const Before& before) {
    for (int32_t i = 0; i < n; ++i) {
      int32_t place = i;
      for (; place > 0 && before(i, at_[place - 1]); --place) at_[place] = at_[place - 1];
      at_[place] = i;
    }
  }
  int64_t operator[](int64_t i) const { return at_[i]; }

 private:
  int32_t at_[kMostReflectedRows];
};

}  // namespace mxnet
