// SPDX-License-Identifier: Apache-2.0
// What servers do not do.
#include "kvstore/server_store.h"

#include <fmt/format.h>

#include "base/error.h"

namespace mxnet::kvstore {

ServerStore::ServerStore(StoreType type, ProcessGroup& group)
    : KVStore(std::move(type)), group_(group), server_(group) {}

void ServerStore::refuse(const char* call) const {
  throw Error(ErrorCode::kValue, "kvstore",
              fmt::format("given {} in a process with DMLC_ROLE=server, expected run_server: only "
                          "workers use keys",
                          call));
}

}  // namespace mxnet::kvstore
