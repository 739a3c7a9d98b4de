// SPDX-License-Identifier: Apache-2.0
// Distributions by number, for kernels that are compiled once for a list of them.
#pragma once
#include <cstdint>

// Row, a number for each name of the list, and kRow, that of each type of these names.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define MX_SAMPLER_ROWS(LIST)                           \
  enum class Row : uint8_t { LIST(MX_SAMPLER_NUMBER) }; \
  template <class Dist>                                 \
  inline constexpr Row kRow{};                          \
  LIST(MX_SAMPLER_ROW)
#define MX_SAMPLER_NUMBER(name) k##name,
#define MX_SAMPLER_ROW(name) \
  template <>                \
  inline constexpr Row kRow<name> = Row::k##name;
// NOLINTEND(bugprone-macro-parentheses)
