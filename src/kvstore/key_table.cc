// SPDX-License-Identifier: Apache-2.0
// Keys by number, and calls sorted by key.
#include "kvstore/key_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/stable_order.h"

namespace mxnet::kvstore {
namespace {

const char* kind_name(const Key& key) { return key.index() == 0 ? "integer" : "string"; }

}  // namespace

std::string to_string(const Key& key) {
  if (const int* number = std::get_if<int>(&key)) return std::to_string(*number);
  return fmt::format("'{}'", std::get<std::string>(key));
}

void KeyTable::check_kind(const Key& key) const {
  if (keys_.empty() || keys_.front().index() == key.index()) return;
  throw Error(ErrorCode::kValue, "kvstore",
              fmt::format("given {} key {}, expected a key of the kind that this store began with: "
                          "{}, as {}",
                          kind_name(key), to_string(key), kind_name(keys_.front()),
                          to_string(keys_.front())));
}

std::vector<std::size_t> KeyTable::add(Keys keys) {
  const std::size_t before = keys_.size();
  std::vector<std::size_t> indices;
  try {
    for (const Key& key : keys) {
      check_kind(key);
      if (!index_.try_emplace(key, keys_.size()).second) {
        throw Error(ErrorCode::kValue, "kvstore",
                    fmt::format("init: given key {}, which has a value already; expected a new key",
                                to_string(key)));
      }
      indices.push_back(keys_.size());
      keys_.push_back(key);
    }
  } catch (...) {
    forget_from(before);
    throw;
  }
  return indices;
}

void KeyTable::forget_from(std::size_t index) {
  while (keys_.size() > index) {
    index_.erase(keys_.back());
    keys_.pop_back();
  }
}

std::size_t KeyTable::at(const Key& key) const {
  check_kind(key);
  const auto found = index_.find(key);
  if (found == index_.end()) {
    throw Error(
        ErrorCode::kValue, "kvstore",
        fmt::format("given key {}, expected one that init() was called with", to_string(key)));
  }
  return found->second;
}

int64_t KeyTable::rank(std::size_t index) const {
  const int* number = std::get_if<int>(&keys_[index]);
  return number != nullptr ? *number : static_cast<int64_t>(index);
}

KeyGroups::KeyGroups(const KeyTable& table, Keys keys) {
  std::vector<std::size_t> indices;
  std::vector<int64_t> ranks;
  indices.reserve(keys.size());
  ranks.reserve(keys.size());
  for (const Key& key : keys) {
    indices.push_back(table.at(key));
    ranks.push_back(table.rank(indices.back()));
  }
  places_ = places_by_ascending(ranks);
  for (auto first = places_.begin(); first != places_.end();) {
    const std::size_t index = indices[*first];
    const auto last = std::find_if(first, places_.end(),
                                   [&](std::size_t place) { return indices[place] != index; });
    groups_.push_back({index, {first, last}});
    first = last;
  }
}

// Groups of known keys never change, whatever is added later.
Groups KnownGroups::of(const KeyTable& table, Keys keys) {
  constexpr std::size_t kLong = 16;  // below, grouping costs no more than comparing
  if (groups_ && std::equal(keys.begin(), keys.end(), keys_.begin(), keys_.end())) return groups_;
  auto groups = std::make_shared<const KeyGroups>(table, keys);
  if (keys.size() < kLong) return groups;
  keys_.assign(keys.begin(), keys.end());
  groups_ = groups;
  return groups;
}

}  // namespace mxnet::kvstore
