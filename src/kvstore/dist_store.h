// SPDX-License-Identifier: Apache-2.0
// The store of several processes. Either each holds all keys, and sums are formed over all of them,
// so that an updater does the same on every rank; or servers hold the keys.
#pragma once
#include <memory>
#include <unordered_map>

#include "kvstore/bunch.h"
#include "kvstore/compression.h"
#include "kvstore/local_store.h"
#include "kvstore/process_group.h"
#include "kvstore/servers.h"

namespace mxnet::kvstore {

// As LocalStore. All ranks make the same calls; what they push meanwhile travels as soon as all of
// them have it, the highest priority first. Servers, if there are any, hold the keys of an
// asynchronous store from the beginning, and those of a synchronous one from the first command on,
// which brings the optimizer.
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
  int num_servers() const override { return group_.servers(); }
  int num_dead_nodes(int groups) const override { return count_dead(group_, groups); }
  Placement placement(const Key& key) override;
  std::future<void> serve() override;
  std::vector<std::string> send_command(int head, std::string_view body) override;
  void set_updater(Updater updater) override;

 protected:
  bool spans_processes() const override { return !served_; }
  void sum_over_processes(const Key& key, const NDArray& sum, int priority) override;
  bool sum_together(const Key& key, Arrays values, NDArray& to, Arrays outs, int priority) override;
  bool sum_again(const Key& key, PickedArrays values, const NDArray& to, PickedArrays outs,
                 int priority) override;
  void finish_together(int priority) override { bunch_.send(priority); }
  bool updates() const override { return served_ || LocalStore::updates(); }
  void update(const Key& key, const NDArray& sum, const NDArray& stored, int priority) override;
  void refresh(const Key& key, int priority) override;
  bool fetch_rows(const Key& key, const NDArray& row_ids, const NDArray& rows,
                  int priority) override;

 private:
  // Of a key that is compressed: what was not sent yet, which outlives all settings, and what all
  // ranks send by one of them.
  struct Packed {
    NDArray rest, words;
    Compression by;
  };
  Packed& packed_of(const Key& key, const NDArray& sum);
  void push_collective(CollectiveKind kind, const Key& key, const NDArray& array, int priority);
  int64_t most_elements() const;
  bool collects(const NDArray& sum) const;
  void broadcast_first(const Key& key, bool one_of_many);
  void sum_compressed(const Key& key, const NDArray& sum, int priority);
  void check_servers() const;
  void move_to_servers();
  std::future<void> end_of_calls() const;
  void check_servable(const Key& key);
  void serve_key(const Key& key);

  const KvstoreConfig& config_;
  ProcessGroup& group_;
  const int32_t number_;
  Bunch bunch_;  // empty between calls
  Compression compression_;
  std::unordered_map<Key, Packed> packed_;
  std::unique_ptr<Servers> servers_;  // null: there are none
  bool served_ = false;               // they hold the keys
  std::vector<Key> keys_;
  std::unordered_map<Key, NDArray> mirrors_;  // of served keys, in host memory
};

}  // namespace mxnet::kvstore
