// SPDX-License-Identifier: Apache-2.0
// Keys of a store: all integers or all texts, each known from its init on.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace mxnet::kvstore {

using Key = std::variant<int, std::string>;
using Keys = std::span<const Key>;

std::string to_string(const Key& key);

// One thread at a time.
class KeyTable {
 public:
  // Numbers keys 0, 1, ... in the order of their adding. Throws Error(kValue), and adds nothing,
  // for a key that is there already or twice in `keys`, and for keys of another kind than before.
  std::vector<std::size_t> add(Keys keys);
  // Throws Error(kValue) for a key that was never added and one of the other kind.
  std::size_t at(const Key& key) const;
  std::size_t size() const { return keys_.size(); }
  // Stays where it is as long as the table.
  const Key& key(std::size_t index) const { return keys_[index]; }
  // What sets of keys are sorted by: integers by value, texts by the order of their adding.
  int64_t rank(std::size_t index) const;

 private:
  void check_kind(const Key& key) const;

  std::deque<Key> keys_;
  std::unordered_map<Key, std::size_t> index_;
};

// The places in `keys` that name one key, and that key's number.
struct KeyGroup {
  std::size_t index;
  std::vector<std::size_t> places;
};

// Equal keys together, in the order of rank(); places within a group in the caller's order.
std::vector<KeyGroup> group_keys(const KeyTable& table, Keys keys);

using Groups = std::shared_ptr<const std::vector<KeyGroup>>;

// The same of one table, for callers that give the same list again and again: the last long one is
// kept. One thread at a time.
class KnownGroups {
 public:
  Groups of(const KeyTable& table, Keys keys);

 private:
  std::vector<Key> keys_;
  Groups groups_;
};

}  // namespace mxnet::kvstore
