// SPDX-License-Identifier: Apache-2.0
// Which store a name stands for.
#include "kvstore/kvstore.h"

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"
#include "kvstore/cluster.h"
#include "kvstore/dist_store.h"
#include "kvstore/local_store.h"
#include "kvstore/server_store.h"

namespace mxnet {

KVStore::~KVStore() = default;

void KVStore::run_server(const ServerController&) {
  throw Error(
      ErrorCode::kValue, "kvstore",
      fmt::format("run_server: given a store of type '{}', expected a distributed one", type()));
}

// Without servers, nobody hears it.
std::vector<std::string> KVStore::send_command(int, std::string_view) { return {}; }

std::unique_ptr<KVStore> KVStore::create(std::string_view name) {
  kvstore::StoreType type = kvstore::parse_store_type(name);
  if (type.distributed) {
    const ClusterConfig settings = kvstore::cluster_config();
    kvstore::check_role(settings);
    kvstore::ProcessGroup& group = kvstore::process_group();
    if (group.size() == 0) {
      throw Error(ErrorCode::kValue, "kvstore",
                  fmt::format("given a job of {} servers alone, expected workers as well",
                              group.servers()));
    }
    if (group.is_server()) return std::make_unique<kvstore::ServerStore>(std::move(type), group);
    kvstore::check_num_workers(settings, group.size());
    type = kvstore::with_transport(std::move(type), settings);
    return std::make_unique<kvstore::DistStore>(std::move(type), config().kvstore, group);
  }
  return std::make_unique<kvstore::LocalStore>(std::move(type), config().kvstore);
}

}  // namespace mxnet
