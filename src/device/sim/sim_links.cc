// SPDX-License-Identifier: Apache-2.0
// Numbers first, then what makes a square of them.
#include "device/sim/sim_links.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstddef>

#include "base/error.h"

namespace mxnet {
namespace {

[[noreturn]] void refuse(std::string_view text, int devices, const std::string& why) {
  throw Error(
      ErrorCode::kValue, "sim",
      fmt::format("MXNET_SIM_GPU_LINKS: given '{}', {}, expected {} rows parted by ';' of {} "
                  "numbers each, symmetric and none negative, as in '0 2; 2 0'",
                  text, why, devices, devices));
}

}  // namespace

std::vector<double> parse_sim_links(std::string_view text, int devices) {
  const auto count = static_cast<std::size_t>(devices);
  if (text.find_first_not_of(' ') == std::string_view::npos)
    return std::vector<double>(count * count, 1.0);
  std::vector<double> weights;
  std::size_t row = 0, rows = 0;  // numbers of this one; rows before it
  const auto end_row = [&] {
    if (row != count) refuse(text, devices, fmt::format("whose row {} has {}", rows, row));
    row = 0;
    ++rows;
  };
  for (const char *at = text.data(), *end = at + text.size(); at != end;) {
    if (*at == ' ' || *at == ',') {
      ++at;
    } else if (*at == ';') {
      end_row();
      ++at;
    } else {
      double weight = 0;
      const auto [next, error] = std::from_chars(at, end, weight);
      if (error != std::errc() || !std::isfinite(weight) || weight < 0)
        refuse(text, devices, fmt::format("with '{}' in it", *at));
      weights.push_back(weight);
      ++row;
      at = next;
    }
  }
  end_row();
  if (rows != count) refuse(text, devices, fmt::format("which has {} rows", rows));
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (weights[a * count + b] != weights[b * count + a])
        refuse(text, devices, fmt::format("where {} and {} differ by direction", b, a));
    }
  }
  return weights;
}

}  // namespace mxnet
