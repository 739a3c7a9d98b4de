// SPDX-License-Identifier: Apache-2.0
// Edit distance over the names of the table.
#include "base/config_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

#include "base/config_row.h"

namespace mxnet {
namespace {

// Longer ones are no misspelling, and the distance costs length squared.
constexpr size_t kLongestName = 128;

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

bool is_ours(std::string_view name) {
  const auto has = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  return name.starts_with("MXNET_") && !has("_SERVICE_") && !has("_PORT");
}

std::string nearest_name(std::string_view name) {
  if (name.size() > kLongestName) return {};
  std::string best;
  size_t best_distance = std::max<size_t>(2, name.size() / 5) + 1;  // farther apart is another word
  const auto consider = [&](std::string_view known) {
    const size_t distance = edit_distance(name, known);
    if (distance < best_distance) {
      best_distance = distance;
      best = known;
    }
  };
  for (const auto& row : config_rows()) {
    consider(row->name);
    for (const std::string& spelling : spellings_of(*row)) consider(spelling);
  }
  return best;
}

std::string unknown_name_text(std::string_view name) {
  const std::string near = nearest_name(name);
  const bool plain =
      name.size() <= kLongestName && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return c == '_' || (c < 0x80 && std::isalnum(c) != 0);
      });
  const std::string shown = plain ? std::string(name) : quote_text(name);
  return near.empty() ? fmt::format("{} is not a known variable", shown)
                      : fmt::format("{} is not a known variable; did you mean {}?", shown, near);
}

}  // namespace mxnet
