// SPDX-License-Identifier: Apache-2.0
// The store of one process.
#pragma once
#include <memory>
#include <vector>

#include "base/config_sections.h"
#include "kvstore/kvstore.h"
#include "kvstore/read_order.h"
#include "kvstore/reducer.h"

namespace mxnet::kvstore {

// As KVStore. What is stored keeps the layout and type that it had at init; what is pushed is
// converted.
class LocalStore : public KVStore {
 public:
  // `config` must outlive the store.
  LocalStore(StoreType type, const KvstoreConfig& config);
  ~LocalStore() override;

  void init(Keys keys, KeyedArrays values) override;
  void push(Keys keys, KeyedArrays values, int priority) override;
  void pull(Keys keys, KeyedArrays outs, int priority, bool ignore_sparse) override;
  void push_pull(Keys keys, KeyedArrays values, Keys out_keys, KeyedArrays outs,
                 int priority) override;
  void pull_rows(Keys keys, KeyedArrays outs, KeyedArrays row_ids, int priority) override;
  void set_updater(Updater updater) override { updater_ = std::move(updater); }
  std::optional<int> number(const Key& key) const override {
    return static_cast<int>(keys_.at(key));
  }
  void set_compression(TextPairs params) override;

 protected:
  // For stores of several processes: after the values of this one have been summed into `sum`.
  virtual bool spans_processes() const { return false; }
  virtual void sum_over_processes(const Key&, const NDArray& sum, int priority) {
    static_cast<void>(sum), static_cast<void>(priority);
  }
  // The same for several keys of a call at once, which are collected: false, or `to` and all of
  // `outs` become the sum of the values over all processes, after finish_together() at the latest;
  // `to` perhaps in other memory.
  virtual bool sum_together(const Key&, Arrays values, NDArray& to, Arrays outs, int priority) {
    static_cast<void>(values), static_cast<void>(to), static_cast<void>(outs);
    static_cast<void>(priority);
    return false;
  }
  // Does it for a key and arrays that it has done it for already; false: it must be asked again,
  // after the checks on what users give.
  virtual bool sum_again(const Key&, PickedArrays values, const NDArray& to, PickedArrays outs,
                         int priority) {
    static_cast<void>(values), static_cast<void>(to), static_cast<void>(outs);
    static_cast<void>(priority);
    return false;
  }
  virtual void finish_together(int priority) { static_cast<void>(priority); }
  // Whether update() is to be called with a sum instead of keeping it.
  virtual bool updates() const { return updater_ != nullptr; }
  virtual void update(const Key& key, const NDArray& sum, const NDArray& stored, int priority) {
    static_cast<void>(priority);
    updater_(key, sum, stored);
  }
  // Where what is stored is only a copy: makes it the current one.
  virtual void refresh(const Key&, int priority) { static_cast<void>(priority); }
  // The same for rows, into `rows`; false: what is stored is current.
  virtual bool fetch_rows(const Key&, const NDArray& row_ids, const NDArray& rows, int priority) {
    static_cast<void>(row_ids), static_cast<void>(rows), static_cast<void>(priority);
    return false;
  }
  // What is stored under a key.
  const NDArray& stored(const Key& key) { return entry(keys_.at(key)).value; }
  // A key as it stands in the table, where it stays.
  const Key& lasting(const Key& key) const { return keys_.key(keys_.at(key)); }

 private:
  struct Entry {
    NDArray value;
    Buffers buffers;
    bool warned = false;  // that sparse arrays were left alone
  };
  // A key of the call under way whose sum is still to be used.
  struct Unfinished {
    std::size_t index;
    std::vector<NDArray> outs;
  };

  Entry& entry(std::size_t index) { return *entries_[index]; }
  // The arrays of one group, checked against what is stored; into pushed_ and pulled_.
  void take_values(const KeyGroup& group, KeyedArrays values, const char* call);
  void take_outs(const KeyGroup& group, KeyedArrays outs, bool ignore_sparse);
  NDArray& merged(Entry& entry);
  void push_group(const KeyGroup& group, KeyedArrays values, bool one_of_many, int priority);
  template <class Body>
  void call_of_many(int priority, Body&& each_key);
  void finish_call(int priority);
  void move_home(Entry& entry, std::size_t index, Arrays values);

  KeyTable keys_;
  KnownGroups groups_;
  std::vector<std::unique_ptr<Entry[]>> blocks_;  // one an init: near each other, as they are used
  std::vector<Entry*> entries_;                   // by a key's number
  const KvstoreConfig& config_;
  std::unique_ptr<Reducer> reducer_;
  Updater updater_;
  std::vector<NDArray> converted_;        // of the call under way
  std::vector<Unfinished> unfinished_;    // empty between calls
  std::vector<NDArray> pushed_, pulled_;  // of the key at hand; members, to allocate nothing
  ReadOrder read_order_;                  // of a push_pull
};

}  // namespace mxnet::kvstore
