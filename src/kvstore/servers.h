// SPDX-License-Identifier: Apache-2.0
// The keys that servers hold, as a worker sees them: each request is an engine operation.
#pragma once
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/config_sections.h"
#include "kvstore/compression.h"
#include "kvstore/process_group.h"
#include "kvstore/wire.h"

namespace mxnet::kvstore {

// One thread at a time, but for command(), beside which others may call; pushes engine operations.
// `mirror` is this worker's array of a key, dense or row_sparse, in host memory: it gives form,
// receives what is pulled, and puts the requests of a key in order. Dense arrays of
// MXNET_KVSTORE_BIGARRAY_BOUND elements lie in equal parts on all servers, others on one.
class Servers {
 public:
  // `config` must outlive it, `group` also what it has pushed. `store`: its number, equal in all
  // workers. `sync`: a push ends when the sum of all workers' has been applied. `sliced`: bodies
  // travel in slices, the urgent ones first.
  Servers(ProcessGroup& group, const KvstoreConfig& config, int32_t store, bool sync, bool sliced);

  // What was left of earlier pushes of a key is sent later, by whatever is set then.
  void set_compression(const Compression& compression) { compression_ = compression; }
  // What was left of pushes that did not go to servers.
  void take_rest(const Key& key, const NDArray& rest) { of_keys_[key].rest = rest; }
  // Gives the servers what `mirror` holds.
  void init(const Key& key, const NDArray& mirror);
  // `value`: in host memory, dense, or row_sparse where `mirror` is.
  void push(const Key& key, const NDArray& value, const NDArray& mirror, int priority);
  void pull(const Key& key, const NDArray& mirror, int priority);
  // Into `out`, row_sparse and in host memory; `row_ids` too.
  void pull_rows(const Key& key, const NDArray& row_ids, const NDArray& mirror, const NDArray& out,
                 int priority);
  // Waits. What the servers answered. Throws what one of them did. Of a command of all workers,
  // when all have heard the answers; whoever is interrupted meanwhile only waits no longer: the
  // others are not to wait for a worker that does not wait for them.
  std::vector<std::string> command(int head, std::string_view body);
  // In so many parts, each on another server, lies a key.
  int count_parts(const Key& key, const NDArray& mirror) const {
    return static_cast<int>(parts_of(key, mirror).size());
  }

 private:
  struct Part {
    int server;
    int64_t first, count;  // elements
  };
  std::vector<Part> parts_of(const Key& key, const NDArray& mirror) const;
  static Request request(Ask ask, const Key& key, const NDArray& mirror, const Part& part,
                         bool whole, int32_t store, bool sync);
  void send_dense(Ask ask, const Key& key, const NDArray& value, const NDArray& mirror,
                  int priority);
  void send_packed(const Key& key, const NDArray& value, const NDArray& mirror, int priority);
  void send_rows(Ask ask, const Key& key, const NDArray& value, const NDArray& mirror,
                 int priority);
  int64_t slice_bytes() const;
  uint32_t begin(const Key& key, bool pull);
  std::function<void(std::exception_ptr)> when_all_have_heard(
      std::function<void(std::exception_ptr)> done) const;

  ProcessGroup& group_;
  const KvstoreConfig& config_;
  const int32_t store_;
  const bool sync_, sliced_;
  Compression compression_;
  struct OfKey {
    NDArray rest, words;  // of what is compressed
    bool told = false;    // the last operation was a pull
  };
  std::unordered_map<Key, OfKey> of_keys_;
};

}  // namespace mxnet::kvstore
