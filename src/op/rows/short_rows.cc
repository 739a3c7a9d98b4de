// SPDX-License-Identifier: Apache-2.0
// Lays rows out, for any type by the size of its elements.
#include "op/rows/short_rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

#include "op/loops/blockwise.h"
#include "op/moving/spread_rows.h"
#include "op/run/element_size.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr int64_t kMostBytes = 8;  // of an element
// Bytes of a block that is laid out: a quarter of a near cache, beside what goes along.
constexpr int64_t kLaidOut = int64_t{1} << 13;

// Rows along one dimension from which on their places are computed by a step for all of them.
constexpr int64_t kEven = 8;
// What is written behind the end of rows that are laid out, where the next row will be.
constexpr int64_t kBehind = 16;

// A row of one value, or of n, by stores of sixteen bytes.
template <class U>
void lay_out_value(U value, int64_t n, char* to) {
  // Not an array of U: bytes that are put together in memory would be waited for.
  constexpr uint64_t kEach = ~uint64_t{0} / std::numeric_limits<U>::max();
  const std::array<uint64_t, 2> values{value * kEach, value * kEach};
  static_assert(sizeof(values) == kBehind);
  const int64_t bytes = n * int64_t{sizeof(U)};
  for (int64_t i = 0; i < bytes; i += kBehind) std::memcpy(to + i, values.data(), kBehind);
}
inline void lay_out_row(const char* from, int64_t bytes, char* to) {
  if (bytes < kBehind) {
    for (int64_t i = 0; i < bytes; ++i) to[i] = from[i];
    return;
  }
  for (int64_t i = 0; i + kBehind < bytes; i += kBehind) std::memcpy(to + i, from + i, kBehind);
  std::memcpy(to + bytes - kBehind, from + bytes - kBehind, kBehind);
}

// `rows` short rows of a, or of b, from row `first` on, one after another. U is as large as an
// element, whatever that is; the sizes of points and colours are known to the compiler.
template <class U>
void lay_out(const BroadcastPlan& plan, bool of_a, const void* array, int64_t first, int64_t rows,
             void* result) {
  using Inner = BroadcastPlan::Inner;
  const auto at = of_a ? &BroadcastPlan::Walk::a : &BroadcastPlan::Walk::b;
  const bool single = plan.inner() == (of_a ? Inner::kLeftScalar : Inner::kRightScalar);
  const BroadcastPlan::Dim& along = plan.along_rows();
  const bool even = along.size >= kEven || plan.uniform();  // for as many rows as lie along it
  const int64_t step = of_a ? along.step_a : along.step_b;
  const auto load = [](const char* at_first, int64_t i) {
    U value;
    std::memcpy(&value, at_first + i * int64_t{sizeof(U)}, sizeof(U));
    return value;
  };
  const auto store = [](char* at_first, int64_t i, U value) {
    std::memcpy(at_first + i * int64_t{sizeof(U)}, &value, sizeof(U));
  };
  const auto fill = [&](auto size, BroadcastPlan::Walk& walk, int64_t count, char* to) {
    const auto* from = static_cast<const char*>(array) + walk.*at * int64_t{sizeof(U)};
    constexpr bool kKnown = !std::is_same_v<decltype(size), int64_t>;
    if (even && single) {
      if (size * int64_t{sizeof(U)} >= kBehind)
        return spread_short_rows<U>(from, step * int64_t{sizeof(U)}, to, size * int64_t{sizeof(U)},
                                    size, count);
      for (int64_t k = 0; k < count; ++k) {
        const U value = load(from, k * step);
        if constexpr (kKnown) {
          for (int64_t i = 0; i < size; ++i) store(to, k * size + i, value);
        } else {
          lay_out_value(value, size, to + k * size * int64_t{sizeof(U)});
        }
      }
      return;
    }
    for (int64_t k = 0; k < count; ++k) {
      if constexpr (kKnown) {
        for (int64_t i = 0; i < size; ++i) store(to, i, load(from, single ? 0 : i));
      } else if (single) {
        lay_out_value(load(from, 0), size, to);
      } else {
        lay_out_row(from, size * int64_t{sizeof(U)}, to);
      }
      to += size * int64_t{sizeof(U)};
      if (even) {
        from += step * int64_t{sizeof(U)};
      } else {
        walk.next();
        from = static_cast<const char*>(array) + walk.*at * int64_t{sizeof(U)};
      }
    }
  };
  const int64_t n = plan.row_length();
  auto* place = static_cast<char*>(result);
  for (int64_t row = first; row < first + rows;) {
    const int64_t left = first + rows - row,
                  count = even ? std::min(left, along.size - row % along.size) : left;
    BroadcastPlan::Walk walk(plan, row);
    n == 2   ? fill(std::integral_constant<int64_t, 2>(), walk, count, place)
    : n == 3 ? fill(std::integral_constant<int64_t, 3>(), walk, count, place)
    : n == 4 ? fill(std::integral_constant<int64_t, 4>(), walk, count, place)
             : fill(n, walk, count, place);
    row += count;
    place += count * n * int64_t{sizeof(U)};
  }
}

// The first bytes of an array again and again, up to `all` of them.
void repeat(int64_t bytes, int64_t all, char* array) {
  for (int64_t done = bytes; done < all;) {
    const int64_t more = std::min(done, all - done);
    std::copy_n(array, more, array + done);
    done += more;
  }
}

// Rows [first, last): what is spread is written out for a block of rows in cache, and one loop
// computes the block.
void run_short_rows(const ShortRows& call, int64_t first, int64_t last) {
  const BroadcastPlan& plan = call.plan;
  const int64_t n = plan.row_length(), row_bytes = n * call.arrays.element;
  int64_t block = kLaidOut / row_bytes;
  alignas(64) std::array<char, kLaidOut + kBehind> a, b;
  // Rows that come again in the next block, as a whole number of times they do, are written out
  // once. After how many rows they do; 0: not there.
  const auto kept = [&](bool of_a) {
    const int64_t period = plan.period(of_a);
    if ((of_a ? call.a_full : call.b_full) || period == 0 || period > block) return int64_t{0};
    block -= block % period;
    return period;
  };
  const int64_t a_period = kept(true), b_period = kept(false);
  const auto written = [&](bool of_a, int64_t r, int64_t count, char* to) {
    const void* from = of_a ? call.a : call.b;
    dispatch_bytes(static_cast<std::size_t>(call.arrays.element),
                   [&]<class U>(U /*bits*/) { lay_out<U>(plan, of_a, from, r, count, to); });
  };
  const auto written_once = [&](bool of_a, int64_t period, int64_t count, char* to) {
    const int64_t once = std::min(period, count);
    written(of_a, first, once, to);
    repeat(once * row_bytes, count * row_bytes, to);
  };
  const int64_t most = std::min(block, last - first);
  if (a_period > 0) written_once(true, a_period, most, a.data());
  if (b_period > 0) written_once(false, b_period, most, b.data());
  for (int64_t r = first; r < last; r += block) {
    const int64_t count = std::min(block, last - r);
    if (!call.a_full && a_period == 0) written(true, r, count, a.data());
    if (!call.b_full && b_period == 0) written(false, r, count, b.data());
    call.run(r, call.a_full ? call.a + r * row_bytes : a.data(),
             call.b_full ? call.b + r * row_bytes : b.data(), count * n);
  }
}

void run_repeated_rows(const ShortRows& call, int64_t first, int64_t last) {
  const BroadcastPlan& plan = call.plan;
  const int64_t n = plan.row_length(), row_bytes = n * call.arrays.element;
  const int64_t together = plan.along_rows().size;
  const bool of_a = plan.along_rows().step_a == 0;
  alignas(64) std::array<char, kBlock * kMostBytes> repeated;
  for (int64_t r = first; r < last;) {
    const BroadcastPlan::Walk walk(plan, r);
    const char *row_a = call.a + walk.a * call.arrays.element,
               *row_b = call.b + walk.b * call.arrays.element;
    const int64_t end = std::min(last, r - r % together + together);
    const int64_t block = std::min(kBlock / n, end - r);
    std::copy_n(of_a ? row_a : row_b, row_bytes, repeated.data());
    repeat(row_bytes, block * row_bytes, repeated.data());
    const char* other = of_a ? row_b : row_a;
    for (int64_t count; r < end; r += count, other += count * row_bytes) {
      count = std::min(block, end - r);
      call.run(r, of_a ? repeated.data() : other, of_a ? other : repeated.data(), count * n);
    }
  }
}

}  // namespace

bool repeats_rows(const BroadcastPlan& plan) {
  const BroadcastPlan::Dim& along = plan.along_rows();
  return plan.inner() == BroadcastPlan::Inner::kArrays &&
         (along.step_a == 0 || along.step_b == 0) && along.size * plan.row_length() >= kBlock / 4;
}
void share_short_rows(const ShortRows& call, double cost) {
  parallel_for(call.plan.rows(), cost, [&](int64_t first, int64_t last) {
    repeats_rows(call.plan) ? run_repeated_rows(call, first, last)
                            : run_short_rows(call, first, last);
  });
}

}  // namespace mxnet
