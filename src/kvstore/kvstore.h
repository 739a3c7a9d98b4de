// SPDX-License-Identifier: Apache-2.0
// A store of arrays by key: workers push what they have computed, which is summed over their
// devices (and processes) and given to an updater, and pull the result.
#pragma once
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvstore/key_table.h"
#include "kvstore/keyed_arrays.h"
#include "kvstore/store_type.h"
#include "ndarray/ndarray.h"

namespace mxnet {

using kvstore::Key;
using kvstore::Keys;

// One array per key; a key that stands there several times has as many arrays, one a device. The
// arrays are shared, not copied: what is read or written is settled when the operation runs.
using kvstore::KeyedArrays;
// Changes the stored array (the third), given what was pushed (the second).
using Updater = std::function<void(const Key&, const NDArray&, const NDArray&)>;
using TextPairs = std::span<const std::pair<std::string_view, std::string_view>>;
// What servers call for each command that workers send; its result, or what it throws, goes back.
using ServerController = std::function<std::string(int head, const std::string& body)>;

// One thread at a time, but for barrier(), send_command() and run_server(), beside which others may
// call: they wait for other processes. All calls on arrays only push engine operations, unless they
// say otherwise; what fails there is thrown by a wait on an array that depends on it. Throws
// Error(kValue) for unknown keys, for different numbers of keys and arrays, and for shapes that do
// not match.
class KVStore {
 public:
  // A store of the named type. Throws Error(kValue) for unknown names, Error(kNotImplemented) for
  // what this build or machine lacks.
  static std::unique_ptr<KVStore> create(std::string_view type);

  KVStore(const KVStore&) = delete;
  KVStore& operator=(const KVStore&) = delete;
  virtual ~KVStore();

  const std::string& type() const { return type_.name; }

  // Stores a copy of each value. A key can be given once in the life of the store.
  virtual void init(Keys keys, KeyedArrays values) = 0;
  // Sums the values of each key. The sum replaces what is stored, or goes to the updater.
  virtual void push(Keys keys, KeyedArrays values, int priority) = 0;
  // Writes what is stored into all arrays. `ignore_sparse`: sparse arrays among them are left
  // alone.
  virtual void pull(Keys keys, KeyedArrays outs, int priority, bool ignore_sparse) = 0;
  // As push, then pull, sparse arrays too; in one pass over memory where that is possible: both
  // have the same keys.
  virtual void push_pull(Keys keys, KeyedArrays values, Keys out_keys, KeyedArrays outs,
                         int priority) = 0;
  // Of row_sparse arrays, the rows that `row_ids` names (one array of any shape for each out).
  virtual void pull_rows(Keys keys, KeyedArrays outs, KeyedArrays row_ids, int priority) = 0;

  // As init, then pull.
  void broadcast(Keys keys, KeyedArrays values, Keys out_keys, KeyedArrays outs, int priority) {
    init(keys, values);
    pull(out_keys, outs, priority, true);
  }

  // Called on the thread that pushes.
  virtual void set_updater(Updater updater) = 0;
  // A key's place in the order of init; nothing on a server, where each worker may have its own.
  virtual std::optional<int> number(const Key& key) const {
    static_cast<void>(key);
    return std::nullopt;
  }
  virtual void set_compression(TextPairs params) = 0;

  // Of processes. A store within one process is rank 0 of 1, and never waits for others.
  virtual int rank() const { return 0; }
  virtual int group_size() const { return 1; }
  virtual void barrier() {}
  virtual void set_barrier_before_exit(bool) {}
  virtual int num_dead_nodes(int) const { return 0; }
  virtual int num_servers() const { return 0; }
  // How a key lies on servers: in so many parts, which together have this shape.
  struct Placement {
    int parts = 0;  // 0: servers hold no such key
    Shape shape;
  };
  virtual Placement placement(const Key&) { return {}; }
  // From now on servers hold the keys. Throws Error(kValue) where there are none. Ends, without an
  // error, when all that was pushed and pulled before has: a command has its place behind it.
  virtual std::future<void> serve() { return {}; }  // of no store with servers: nothing to end
  // REQUIRES: serve(), whose end was awaited, unless `head` is negative. Has the controller of
  // every server called, and waits; what they answered. A command of all workers ends when all have
  // heard the answers, also where one of them is interrupted while it waits.
  virtual std::vector<std::string> send_command(int head, std::string_view body);
  // Returns when the workers have finished.
  virtual void run_server(const ServerController& controller);

 protected:
  explicit KVStore(kvstore::StoreType type) : type_(std::move(type)) {}
  const kvstore::StoreType type_;
};

}  // namespace mxnet
