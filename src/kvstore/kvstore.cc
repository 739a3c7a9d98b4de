// SPDX-License-Identifier: Apache-2.0
// Which store a name stands for.
#include "kvstore/kvstore.h"

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"
#include "kvstore/cluster.h"
#include "kvstore/dist_store.h"
#include "kvstore/local_store.h"

namespace mxnet {

KVStore::~KVStore() = default;

void KVStore::run_server(const ServerController&) {
  throw Error(
      ErrorCode::kValue, "kvstore",
      fmt::format("run_server: given a store of type '{}', expected a distributed one", type()));
}

std::unique_ptr<KVStore> KVStore::create(std::string_view name) {
  kvstore::StoreType type = kvstore::parse_store_type(name);
  if (type.nccl) {
    throw Error(ErrorCode::kNotImplemented, "kvstore",
                "given store type 'nccl', but this build is without NCCL; use 'device', which sums "
                "over the same links");
  }
  if (type.async) {
    throw Error(
        ErrorCode::kNotImplemented, "kvstore",
        fmt::format("given store type '{}', expected a synchronous one such as 'dist_sync': "
                    "there are no servers that could update at each worker's own pace",
                    type.name));
  }
  if (type.distributed) {
    const ClusterConfig settings = kvstore::cluster_config();
    kvstore::check_is_worker(settings);
    kvstore::ProcessGroup& group = kvstore::process_group();
    kvstore::check_num_workers(settings, group.size());
    type = kvstore::with_transport(std::move(type), settings);
    return std::make_unique<kvstore::DistStore>(std::move(type), config().kvstore, group);
  }
  return std::make_unique<kvstore::LocalStore>(std::move(type), config().kvstore);
}

}  // namespace mxnet
