// SPDX-License-Identifier: Apache-2.0
// Which store a name stands for.
#include "kvstore/kvstore.h"

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"
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
  if (type.distributed) {
    throw Error(ErrorCode::kNotImplemented, "kvstore",
                fmt::format("given store type '{}', but the plug-in libmxnet_mpi.so, which carries "
                            "it, is not there; install OpenMPI 4.1 and build with it",
                            type.name));
  }
  return std::make_unique<kvstore::LocalStore>(std::move(type), config().kvstore);
}

}  // namespace mxnet
