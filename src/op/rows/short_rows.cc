// SPDX-License-Identifier: Apache-2.0
// Lays rows out, for any type by the size of its elements.
#include "op/rows/short_rows.h"

#include <algorithm>
#include <array>
#include <cstring>
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

// What is written behind the end of rows that are laid out, where the next row will be.
constexpr int64_t kBehind = 16;

// A row of one value, or of n, by stores of sixteen bytes.
template <class U>
void lay_out_value(U value, int64_t n, char* to) {
  std::array<U, kBehind / sizeof(U)> values;
  values.fill(value);
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
  const bool even = plan.uniform();
  const int64_t step = BroadcastPlan::Walk(plan, 1).*at;
  BroadcastPlan::Walk walk(plan, first);
  const auto* from = static_cast<const char*>(array) + walk.*at * int64_t{sizeof(U)};
  auto* to = static_cast<char*>(result);
  const auto load = [](const char* place, int64_t i) {
    U value;
    std::memcpy(&value, place + i * int64_t{sizeof(U)}, sizeof(U));
    return value;
  };
  const auto store = [](char* place, int64_t i, U value) {
    std::memcpy(place + i * int64_t{sizeof(U)}, &value, sizeof(U));
  };
  const auto fill = [&](auto size) {
    constexpr bool kKnown = !std::is_same_v<decltype(size), int64_t>;
    if (even && single) {
      if (size * int64_t{sizeof(U)} >= kBehind)
        return spread_short_rows<U>(from, step * int64_t{sizeof(U)}, to, size * int64_t{sizeof(U)},
                                    size, rows);
      for (int64_t k = 0; k < rows; ++k) {
        const U value = load(from, k * step);
        if constexpr (kKnown) {
          for (int64_t i = 0; i < size; ++i) store(to, k * size + i, value);
        } else {
          lay_out_value(value, size, to + k * size * int64_t{sizeof(U)});
        }
      }
      return;
    }
    for (int64_t k = 0; k < rows; ++k) {
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
  switch (const int64_t n = plan.row_length(); n) {
    case 2:
      return fill(std::integral_constant<int64_t, 2>());
    case 3:
      return fill(std::integral_constant<int64_t, 3>());
    case 4:
      return fill(std::integral_constant<int64_t, 4>());
    default:
      return fill(n);
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
  // once.
  const auto kept = [&](bool of_a) {
    const int64_t period = plan.period(of_a);
    if (period == 0 || period > block) return false;
    block -= block % period;
    return true;
  };
  const bool a_fixed = !call.a_full && kept(true), b_fixed = !call.b_full && kept(false);
  const auto written = [&](bool of_a, int64_t r, int64_t count, char* to) {
    const void* from = of_a ? call.a : call.b;
    dispatch_bytes(static_cast<std::size_t>(call.arrays.element),
                   [&]<class U>(U /*bits*/) { lay_out<U>(plan, of_a, from, r, count, to); });
  };
  for (int64_t r = first; r < last; r += block) {
    const int64_t count = std::min(block, last - r);
    if (!call.a_full && !(a_fixed && r != first)) written(true, r, count, a.data());
    if (!call.b_full && !(b_fixed && r != first)) written(false, r, count, b.data());
    call.run(r, call.a_full ? call.a + r * row_bytes : a.data(),
             call.b_full ? call.b + r * row_bytes : b.data(), count * n);
  }
}

// `rows` copies of a row of so many bytes.
void repeat_row(const char* row, int64_t bytes, int64_t rows, char* to) {
  std::copy_n(row, bytes, to);
  for (int64_t done = 1; done < rows;) {
    const int64_t more = std::min(done, rows - done);
    std::copy_n(to, more * bytes, to + done * bytes);
    done += more;
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
    repeat_row(of_a ? row_a : row_b, row_bytes, block, repeated.data());
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
