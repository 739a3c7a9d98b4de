// SPDX-License-Identifier: Apache-2.0
// The expressions of what spreads, for the kernels of every device.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/host_device.h"

namespace mxnet {

// g / n. Of whole numbers n may be one that their type does not hold: 256 of 8 bits.
template <class C>
MX_HOST_DEVICE C nth_part(C g, int64_t n) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<int64_t>(g) / n);
  else
    return g / static_cast<C>(n);
}

// Of whole numbers a processor divides none by 0, nor the least by -1.
#define MX_SPREAD_RATIO                                                           \
  (std::is_integral_v<C> && x == C(0)                              ? C(0)         \
   : std::is_integral_v<C> && std::is_signed_v<C> && x == C(0) - 1 ? C(0) - g * y \
                                                                   : g * y / x)
// What an element x receives from the gradient g and the value y of its output (n: elements per
// output, less ddof).
// clang-format off
#define MX_SPREAD_ROWS(ROW) \
  ROW(sum,         g) \
  ROW(mean,        nth_part<C>(g, n)) \
  ROW(equal,       x == y ? g : C(0)) \
  ROW(ratio,       MX_SPREAD_RATIO) \
  ROW(nansum,      x != x ? C(0) : g) \
  ROW(nanratio,    x != x ? C(0) : MX_SPREAD_RATIO) \
  ROW(sign,        x > C(0) ? g : x < C(0) ? -g : C(0)) \
  ROW(direction,   y == C(0) ? C(0) : g * (x / y)) \
  ROW(twice,       C(2) * g * x)
// clang-format on

enum class Spread : int {
#define MX_SPREAD_ID(name, ...) name,
  MX_SPREAD_ROWS(MX_SPREAD_ID)
#undef MX_SPREAD_ID
};

}  // namespace mxnet
