// SPDX-License-Identifier: Apache-2.0
// The store of a process that is a server: it only serves.
#pragma once
#include "kvstore/kvstore.h"
#include "kvstore/server.h"

namespace mxnet::kvstore {

// As KVStore. Everything that workers do with a store throws Error(kValue).
class ServerStore final : public KVStore {
 public:
  // `group` must outlive the store.
  ServerStore(StoreType type, ProcessGroup& group);

  void init(Keys, KeyedArrays) override { refuse("init"); }
  void push(Keys, KeyedArrays, int) override { refuse("push"); }
  void pull(Keys, KeyedArrays, int, bool) override { refuse("pull"); }
  void push_pull(Keys, KeyedArrays, Keys, KeyedArrays, int) override { refuse("pushpull"); }
  void pull_rows(Keys, KeyedArrays, KeyedArrays, int) override { refuse("row_sparse_pull"); }
  void barrier() override { refuse("barrier"); }

  void set_updater(Updater updater) override { server_.set_updater(std::move(updater)); }
  // Workers say with each push what they have made of it.
  void set_compression(TextPairs params) override { Compression::parse(params); }
  int rank() const override { return group_.rank(); }
  int group_size() const override { return group_.size(); }
  int num_servers() const override { return group_.servers(); }
  int num_dead_nodes(int groups) const override { return count_dead(group_, groups); }
  void run_server(const ServerController& controller) override { server_.run(controller); }

 private:
  [[noreturn]] void refuse(const char* call) const;

  ProcessGroup& group_;
  Server server_;
};

}  // namespace mxnet::kvstore
