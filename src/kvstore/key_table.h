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
  // As if the key of that number and all after it had never been added.
  void forget_from(std::size_t index);
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

// The places in a list of keys that name one key, in the order of the list, and that key's number.
struct KeyGroup {
  std::size_t index;
  std::span<const std::size_t> places;
};

// Equal keys of a list together, in the order of rank(). All lies in two blocks of memory: lists
// have thousands of keys, which are gone through at each call.
class KeyGroups {
 public:
  KeyGroups(const KeyTable& table, Keys keys);
  KeyGroups(const KeyGroups&) = delete;
  KeyGroups& operator=(const KeyGroups&) = delete;

  std::size_t size() const { return groups_.size(); }
  const KeyGroup& operator[](std::size_t i) const { return groups_[i]; }
  auto begin() const { return groups_.begin(); }
  auto end() const { return groups_.end(); }

 private:
  std::vector<std::size_t> places_;  // of all groups, one after the other
  std::vector<KeyGroup> groups_;
};

using Groups = std::shared_ptr<const KeyGroups>;

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
