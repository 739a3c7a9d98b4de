// SPDX-License-Identifier: Apache-2.0
// Right sides are brought together in panels, a row for each unknown; in them the unknowns are
// computed in the order in which they depend on each other, some at a time.
#include "op/products/triangular_solve.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/simd.h"
#include "op/moving/strided_kernels.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

// Right sides of a panel: what vectors of every width divide. Where there are few, of the widest
// vector.
constexpr int64_t kPanel = 64;
template <class T>
constexpr int64_t kNarrowPanel = 64 / sizeof(T);

// Unknown j of a right side is x[j * step]; its equation has a[j * row + k * column] beside unknown
// k <= j, and the right side is taken times the factor.
template <class T>
struct PanelSystem {
  int64_t size;
  const T* a;
  int64_t row, column;
  int64_t step;
  T factor;
};

#define MX_SIMD_FILE "op/products/triangular_solve.inc"
#include "base/simd_targets.h"

// How `width` right sides, which begin at `b`, come into a panel of `room` of them and out of it.
template <class T>
class Panel {
 public:
  Panel(bool right, int64_t size, int64_t ldb, int64_t room)
      : right_(right),
        size_(size),
        ldb_(ldb),
        room_(room),
        memory_(std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(size * room) +
                                                    kLine / sizeof(T))) {}

  // Begins with a line of the caches.
  T* data() {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.get());
    return memory_.get() + (kLine - at % kLine) % kLine / sizeof(T);
  }

  void read(const T* b, int64_t width) {
    if (right_) {
      turn(b, data(), {size_, kBytes, room_ * kBytes}, {width, ldb_ * kBytes, kBytes});
    } else {
      for (int64_t j = 0; j < size_; ++j) std::copy_n(b + j * ldb_, width, data() + j * room_);
    }
    if (width == room_) return;
    for (int64_t j = 0; j < size_; ++j)
      std::memset(data() + j * room_ + width, 0,
                  static_cast<std::size_t>(room_ - width) * sizeof(T));
  }

  void write(T* b, int64_t width) {
    if (right_) {
      turn(data(), b, {width, kBytes, ldb_ * kBytes}, {size_, room_ * kBytes, kBytes});
    } else {
      for (int64_t j = 0; j < size_; ++j) std::copy_n(data() + j * room_, width, b + j * ldb_);
    }
  }

 private:
  static constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  static constexpr std::size_t kLine = 64;

  static void turn(const T* from, T* to, const StridedLoop& outer, const StridedLoop& inner) {
    tile_kernel(kBytes)(reinterpret_cast<const char*>(from), reinterpret_cast<char*>(to), outer,
                        inner, kBytes, false);
  }

  const bool right_;
  const int64_t size_, ldb_, room_;
  const std::unique_ptr<T[]> memory_;
};

}  // namespace

template <class T>
void solve_triangular(const TriangularFactor& as, int64_t m, int64_t n, T alpha, const T* a,
                      int64_t lda, T* b, int64_t ldb) {
  const int64_t size = as.right ? n : m, sides = as.right ? m : n;
  if (size == 0) return;
  // An equation is a row of op(a), or a column of it where that stands on the right.
  const bool rows = as.right == as.transpose;
  const int64_t room = sides <= kNarrowPanel<T> ? kNarrowPanel<T> : kPanel;
  PanelSystem<T> system{size, a, rows ? lda : 1, rows ? 1 : lda, room, alpha};
  // The first unknown to be known is the last one where equations have those behind theirs.
  const bool from_end = as.lower != rows;
  if (from_end) {
    system.a += (size - 1) * (lda + 1);
    system.row = -system.row;
    system.column = -system.column;
    system.step = -system.step;
  }
  const int64_t panels = (sides + room - 1) / room;
  parallel_for(
      panels, 2.0 * static_cast<double>(size * size),
      [&](int64_t first, int64_t last) {
        Panel<T> panel(as.right, size, ldb, room);
        T* const x = panel.data() + (from_end ? (size - 1) * room : 0);
        for (int64_t p = first; p < last; ++p) {
          const int64_t side = p * room, width = std::min(room, sides - side);
          T* const at = b + (as.right ? side * ldb : side);
          panel.read(at, width);
          MX_SIMD_CALL(PanelSolver<T>::solve)(system, x, room);
          panel.write(at, width);
        }
      },
      1);
}

template void solve_triangular(const TriangularFactor&, int64_t, int64_t, float, const float*,
                               int64_t, float*, int64_t);
template void solve_triangular(const TriangularFactor&, int64_t, int64_t, double, const double*,
                               int64_t, double*, int64_t);

}  // namespace mxnet
