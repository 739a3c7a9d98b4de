// SPDX-License-Identifier: Apache-2.0
// The processes of a job as C programs see them: roles, servers and what they are told.
#include <future>
#include <memory>

#include "base/of_thread.h"
#include "c_api/guard.h"
#include "c_api/store_handle.h"
#include "kvstore/cluster.h"
#include "kvstore/process_group.h"
#include "mxnet/c_api_ext.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

int is_role(const char* role, int* ret, const char* function) {
  return guarded(function, [&] {
    require(ret, function, "ret");
    *ret = kvstore::cluster_role() == role ? 1 : 0;
  });
}

// Without a turn while it waits for the answers, as hold_store(). Negative commands are of no
// concern to keys: a worker may give them alone.
std::vector<std::string> send_command(KVStoreHandle handle, int head, std::string_view body,
                                      const char* function) {
  std::shared_ptr<KVStore> store;
  std::future<void> calls_before;
  {
    const StorePool::Use use = use_store(handle, function);
    if (head >= 0) calls_before = (*use)->serve();
    store = *use;
  }
  if (calls_before.valid()) kvstore::await(calls_before);
  return store->send_command(head, body);
}

}  // namespace

int MXInitPSEnv(uint32_t num_vars, const char** keys, const char** vals) {
  return guarded(
      [&] { for_each_text("MXInitPSEnv", num_vars, keys, vals, kvstore::set_cluster_variable); });
}

int MXKVStoreIsWorkerNode(int* ret) { return is_role("worker", ret, "MXKVStoreIsWorkerNode"); }
int MXKVStoreIsServerNode(int* ret) { return is_role("server", ret, "MXKVStoreIsServerNode"); }
int MXKVStoreIsSchedulerNode(int* ret) {
  return is_role("scheduler", ret, "MXKVStoreIsSchedulerNode");
}

int MXKVStoreGetNumDeadNode(KVStoreHandle handle, const int node_id, int* number,
                            const int timeout_sec) {
  return guarded([&] {
    // Losses are noticed as they happen; there is nothing to wait for.
    static_cast<void>(timeout_sec);
    require(number, "MXKVStoreGetNumDeadNode", "number");
    *number = store_of(handle, "MXKVStoreGetNumDeadNode").num_dead_nodes(node_id);
  });
}

int MXKVStoreGetNumServers(KVStoreHandle handle, int* out) {
  return guarded([&] {
    require(out, "MXKVStoreGetNumServers", "out");
    *out = store_of(handle, "MXKVStoreGetNumServers").num_servers();
  });
}

int MXKVStoreGetPlacement(KVStoreHandle handle, const char* text, int number, int* out_parts,
                          int* out_dim, const int64_t** out_shape) {
  return guarded([&] {
    constexpr const char* kFunction = "MXKVStoreGetPlacement";
    store_of(handle, kFunction);  // of two wrong arguments the handle is named
    require(out_parts, kFunction, "out_parts");
    require(out_dim, kFunction, "out_dim");
    require(out_shape, kFunction, "out_shape");
    Shape& shape = of_thread<Shape>();
    const Key key = text != nullptr ? Key(text) : Key(number);
    const KVStore::Placement placement = (*use_store(handle, kFunction))->placement(key);
    shape = placement.shape;
    *out_parts = placement.parts;
    *out_dim = shape.ndim();
    *out_shape = shape.begin();
  });
}

int MXKVStoreRunServer(KVStoreHandle handle, MXKVStoreServerController* controller,
                       void* controller_handle) {
  return guarded([&] {
    const std::shared_ptr<KVStore> store = hold_store(handle, "MXKVStoreRunServer");
    require(reinterpret_cast<const void*>(controller), "MXKVStoreRunServer", "controller");
    store->run_server([=](int head, const std::string& body) {
      controller(head, body.c_str(), controller_handle);
      return std::string();
    });
  });
}

int MXKVStoreServe(KVStoreHandle handle, MXKVStoreResponder responder, void* state) {
  return guarded([&] {
    const std::shared_ptr<KVStore> store = hold_store(handle, "MXKVStoreServe");
    require(reinterpret_cast<const void*>(responder), "MXKVStoreServe", "responder");
    store->run_server([=](int head, const std::string& body) {
      const char* reply = nullptr;
      size_t size = 0;
      const int failed = responder(head, body.data(), body.size(), &reply, &size, state);
      std::string text(reply == nullptr ? "" : reply, reply == nullptr ? 0 : size);
      if (failed != 0) throw Error(ErrorCode::kValue, "kvstore", text);
      return text;
    });
  });
}

int MXKVStoreSendCommmandToServers(KVStoreHandle handle, int cmd_id, const char* cmd_body) {
  return guarded([&] {
    constexpr const char* kFunction = "MXKVStoreSendCommmandToServers";
    store_of(handle, kFunction);  // of two wrong arguments the handle is named
    require(cmd_body, kFunction, "cmd_body");
    send_command(handle, cmd_id, cmd_body, kFunction);
  });
}

int MXKVStoreAskServers(KVStoreHandle handle, int cmd_id, const char* body, size_t size,
                        uint32_t* out_num, const char*** out_replies, const size_t** out_sizes) {
  return guarded([&] {
    constexpr const char* kFunction = "MXKVStoreAskServers";
    store_of(handle, kFunction);  // of two wrong arguments the handle is named
    require(body, kFunction, "body");
    require(out_num, kFunction, "out_num");
    require(out_replies, kFunction, "out_replies");
    require(out_sizes, kFunction, "out_sizes");
    struct Returns {
      std::vector<std::string> replies;
      std::vector<const char*> texts;
      std::vector<size_t> sizes;
    };
    Returns& returns = of_thread<Returns>();
    returns = {};
    returns.replies = send_command(handle, cmd_id, {body, size}, kFunction);
    for (const std::string& reply : returns.replies) {
      returns.texts.push_back(reply.data());
      returns.sizes.push_back(reply.size());
    }
    *out_num = static_cast<uint32_t>(returns.replies.size());
    *out_replies = returns.texts.data();
    *out_sizes = returns.sizes.data();
  });
}
