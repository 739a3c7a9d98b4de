// SPDX-License-Identifier: Apache-2.0
// Stable sorts, each compiled once.
#include "base/stable_order.h"

#include <algorithm>
#include <numeric>

namespace mxnet {
namespace {

std::vector<std::size_t> all_places(std::size_t count) {
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

}  // namespace

std::vector<std::size_t> places_by_descending(std::span<const double> keys) {
  std::vector<std::size_t> places = all_places(keys.size());
  std::stable_sort(places.begin(), places.end(),
                   [keys](std::size_t a, std::size_t b) { return keys[a] > keys[b]; });
  return places;
}

std::vector<std::size_t> places_by_ascending(std::span<const int64_t> keys) {
  std::vector<std::size_t> places = all_places(keys.size());
  std::stable_sort(places.begin(), places.end(),
                   [keys](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  return places;
}

}  // namespace mxnet
