// SPDX-License-Identifier: Apache-2.0
// The synchronous store of several processes: each holds all keys, and sums are formed over all of
// them, so that an updater does the same on every rank.
#pragma once
#include <unordered_map>

#include "kvstore/compression.h"
#include "kvstore/local_store.h"
#include "kvstore/process_group.h"

namespace mxnet::kvstore {

// As LocalStore. All ranks make the same calls; what they push meanwhile travels as soon as all of
// them have it, the highest priority first.
class DistStore final : public LocalStore {
 public:
  // `config` must outlive the store, `group` also what it has pushed.
  DistStore(StoreType type, const KvstoreConfig& config, ProcessGroup& group);

  // Every rank stores the values of rank 0.
  void init(Keys keys, KeyedArrays values) override;
  void set_compression(TextPairs params) override;
  int rank() const override { return group_.rank(); }
  int group_size() const override { return group_.size(); }
  void barrier() override;
  int num_dead_nodes(int) const override { return group_.lost(); }
  void send_command(int head, std::string_view body) override;

 protected:
  bool spans_processes() const override { return true; }
  void sum_over_processes(const Key& key, const NDArray& sum, int priority) override;

 private:
  // Of a key that is compressed: what was not sent yet, and the words of all ranks.
  struct Packed {
    NDArray rest, words;
  };
  void push_collective(CollectiveKind kind, const Key& key, const NDArray& array, int priority);
  void sum_compressed(const Key& key, const NDArray& sum, int priority);

  const KvstoreConfig& config_;
  ProcessGroup& group_;
  Compression compression_;
  std::unordered_map<Key, Packed> packed_;
};

}  // namespace mxnet::kvstore
