// SPDX-License-Identifier: Apache-2.0
// Parts of keys, and one call of the group for each.
#include "kvstore/servers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"
#include "base/fnv.h"
#include "base/log.h"
#include "engine/engine.h"
#include "kvstore/array_op.h"
#include "kvstore/ending.h"
#include "kvstore/pack_op.h"
#include "kvstore/reducer.h"
#include "kvstore/rows.h"
#include "ndarray/sparse_convert.h"
#include "ndarray/sparse_store.h"

namespace mxnet::kvstore {
namespace {

// Parts begin at multiples of so many elements, so that each has whole words when it is compressed.
constexpr int64_t kPartUnit = 32;

// Equal in all processes.
uint64_t spread(const Key& key) {
  Fnv hash;
  hash.take(to_string(key));
  return hash.folded();
}

using Body = std::shared_ptr<std::vector<char>>;

// Where an answer of exactly so many bytes goes.
auto exact_room(void* to, int64_t expected, std::string key) {
  return [to, expected, key = std::move(key)](int64_t bytes) {
    if (bytes == expected) return to;
    throw Error(
        ErrorCode::kGeneric, "kvstore",
        fmt::format("key {}: a server answered with {} bytes, expected {}", key, bytes, expected));
  };
}

// An operation that ends when the group says so; `fresh` as of OpSpec.
void push_calls(AsyncFn fn, const ArrayOp& op, uint32_t fresh) {
  std::vector<Var*> reads, writes;
  for (const NDArray& array : op.reads) reads.push_back(array.var());
  for (const NDArray& array : op.writes) writes.push_back(array.var());
  dedup_variables(&reads, &writes);
  Engine::get().push_async(std::move(fn), {.device = Device::cpu(),
                                           .reads = reads,
                                           .writes = writes,
                                           .property = FnProperty::kCPUPrioritized,
                                           .priority = op.priority,
                                           .name = op.name,
                                           .fresh = fresh});
}

}  // namespace

Servers::Servers(ProcessGroup& group, const KvstoreConfig& config, int32_t store, bool sync,
                 bool sliced)
    : group_(group), config_(config), store_(store), sync_(sync), sliced_(sliced) {}

std::vector<Servers::Part> Servers::parts_of(const Key& key, const NDArray& mirror) const {
  const int64_t servers = group_.servers(), count = mirror.size();
  if (mirror.is_sparse() || servers == 1 ||
      count < std::max(config_.bigarray_bound.get(), kPartUnit))
    return {{static_cast<int>(spread(key) % static_cast<uint64_t>(servers)), 0, count}};
  const int64_t units = (count + kPartUnit - 1) / kPartUnit;
  std::vector<Part> parts;
  for (int64_t s = 0; s < servers; ++s) {
    const int64_t first = units * s / servers * kPartUnit;
    const int64_t last = std::min(count, units * (s + 1) / servers * kPartUnit);
    if (first < last) parts.push_back({static_cast<int>(s), first, last - first});
  }
  return parts;
}

Request Servers::request(Ask ask, const Key& key, const NDArray& mirror, const Part& part,
                         bool whole, int32_t store, bool sync) {
  Request request;
  request.ask = ask;
  request.store = store;
  request.key = key;
  request.sync = sync;
  request.dtype = mirror.dtype();
  request.shape = whole ? mirror.shape() : Shape{part.count};
  return request;
}

// Of an operation on a key: how many of what it writes, the mirror alone, need not pass on what has
// failed before: a pull was between them, so that who waits for that hears it.
uint32_t Servers::begin(const Key& key, bool pull) {
  return std::exchange(of_keys_[key].told, pull) ? 1 : 0;
}

int64_t Servers::slice_bytes() const {
  return sliced_ ? config_.slice_threshold.get() * static_cast<int64_t>(sizeof(float)) : 0;
}

void Servers::send_dense(Ask ask, const Key& key, const NDArray& value, const NDArray& mirror,
                         int priority) {
  push_calls(
      [=, group = &group_, store = store_, sync = sync_, parts = parts_of(key, mirror),
       slice = slice_bytes(), value = value.detach(),
       mirror = mirror.detach()](const RunContext&, OnComplete complete) {
        const auto ending = std::make_shared<Ending>(complete, static_cast<int64_t>(parts.size()));
        const auto item = static_cast<int64_t>(dtype_size(value.dtype()));
        for (const Part& part : parts) {
          ServerCall call;
          call.server = part.server;
          call.head = to_bytes(request(ask, key, mirror, part, parts.size() == 1, store, sync));
          call.body = value.size() == 0 ? nullptr : value.data_as<char>() + part.first * item;
          call.bytes = part.count * item;
          call.priority = priority;
          call.slice_bytes = slice;
          call.room = exact_room(nullptr, 0, to_string(key));
          call.done = [ending, value](std::exception_ptr error) { ending->end(std::move(error)); };
          group->call(std::move(call));
        }
      },
      {.reads = {value}, .writes = {mirror}, .name = "KVStoreSend", .priority = priority},
      begin(key, false));
}

// Only what compression leaves travels.
void Servers::send_packed(const Key& key, const NDArray& value, const NDArray& mirror,
                          int priority) {
  check_packable(value);
  OfKey& packed = of_keys_[key];
  if (packed.rest.is_none()) packed.rest = zeros_like(value);
  const Shape words{compression_.words(value.size())};
  if (packed.words.is_none() || packed.words.shape() != words)
    packed.words = NDArray(words, DType::kInt32, Device::cpu(), "kvstore");
  push_pack(compression_, value, packed.rest, packed.words, priority);
  push_calls(
      [=, group = &group_, store = store_, sync = sync_, parts = parts_of(key, mirror),
       compression = compression_, words = packed.words,
       mirror = mirror.detach()](const RunContext&, OnComplete complete) {
        const auto ending = std::make_shared<Ending>(complete, static_cast<int64_t>(parts.size()));
        for (const Part& part : parts) {
          Request head = request(Ask::kPush, key, mirror, part, parts.size() == 1, store, sync);
          head.compression = compression;
          ServerCall call;
          call.server = part.server;
          call.head = to_bytes(head);
          call.body = words.data_as<uint32_t>() + compression.words(part.first);
          call.bytes = 4 * compression.words(part.count);
          call.priority = priority;
          call.room = exact_room(nullptr, 0, to_string(key));
          call.done = [ending, words](std::exception_ptr error) { ending->end(std::move(error)); };
          group->call(std::move(call));
        }
      },
      {.reads = {packed.words}, .writes = {mirror}, .name = "KVStoreSend", .priority = priority},
      begin(key, false));
}

void Servers::send_rows(Ask ask, const Key& key, const NDArray& value, const NDArray& mirror,
                        int priority) {
  push_calls(
      [=, group = &group_, store = store_, sync = sync_, part = parts_of(key, mirror).front(),
       slice = slice_bytes(), value = value.detach(),
       mirror = mirror.detach()](const RunContext&, OnComplete complete) {
        const auto body = std::make_shared<std::vector<char>>(pack_rows(value));
        Request head = request(ask, key, mirror, part, true, store, sync);
        head.storage = StorageType::kRowSparse;
        ServerCall call;
        call.server = part.server;
        call.head = to_bytes(head);
        call.body = body->data();
        call.bytes = static_cast<int64_t>(body->size());
        call.priority = priority;
        call.slice_bytes = slice;
        call.room = exact_room(nullptr, 0, to_string(key));
        const auto ending = std::make_shared<Ending>(complete, 1);
        call.done = [ending, body](std::exception_ptr error) { ending->end(std::move(error)); };
        group->call(std::move(call));
      },
      {.reads = {value}, .writes = {mirror}, .name = "KVStoreSendRows", .priority = priority},
      begin(key, false));
}

void Servers::init(const Key& key, const NDArray& mirror) {
  if (mirror.is_sparse()) return send_rows(Ask::kInit, key, mirror, mirror, 0);
  send_dense(Ask::kInit, key, mirror, mirror, 0);
}

void Servers::push(const Key& key, const NDArray& value, const NDArray& mirror, int priority) {
  if (value.is_sparse() && parts_of(key, mirror).size() == 1)
    return send_rows(Ask::kPush, key, value, mirror, priority);
  const NDArray dense = cast_storage(value, StorageType::kDense);
  if (compression_.type != CompressionType::kNone && !mirror.is_sparse())
    return send_packed(key, dense, mirror, priority);
  send_dense(Ask::kPush, key, dense, mirror, priority);
}

void Servers::pull(const Key& key, const NDArray& mirror, int priority) {
  const bool rows = mirror.is_sparse();
  const auto arrived = std::make_shared<std::vector<char>>();  // rows only
  push_calls(
      [=, group = &group_, store = store_, sync = sync_, parts = parts_of(key, mirror),
       slice = slice_bytes(), mirror = mirror.detach()](const RunContext&, OnComplete complete) {
        const auto ending = std::make_shared<Ending>(complete, static_cast<int64_t>(parts.size()));
        const auto item = static_cast<int64_t>(dtype_size(mirror.dtype()));
        for (const Part& part : parts) {
          ServerCall call;
          call.server = part.server;
          call.head =
              to_bytes(request(Ask::kPull, key, mirror, part, parts.size() == 1, store, sync));
          call.priority = priority;
          call.slice_bytes = slice;
          if (rows) {
            call.room = [arrived, mirror, name = to_string(key)](int64_t bytes) {
              if (!packs_into(mirror, bytes)) {
                throw Error(ErrorCode::kGeneric, "kvstore",
                            fmt::format("key {}: a server answered with {} bytes, expected rows of "
                                        "an array of shape {}",
                                        name, bytes, to_string(mirror.shape())));
              }
              arrived->resize(static_cast<std::size_t>(bytes));
              return static_cast<void*>(arrived->data());
            };
          } else {
            char* to = part.count == 0 ? nullptr : mirror.data_as<char>() + part.first * item;
            call.room = exact_room(to, part.count * item, to_string(key));
          }
          call.done = [ending, mirror](std::exception_ptr error) { ending->end(std::move(error)); };
          group->call(std::move(call));
        }
      },
      {.reads = {}, .writes = {mirror}, .name = "KVStoreReceive", .priority = priority},
      begin(key, true));
  if (!rows) return;
  push_calls(
      [arrived, mirror = mirror.detach()](const RunContext&, OnComplete complete) {
        unpack_rows({arrived->data(), arrived->size()}, mirror);
        complete();
      },
      {.reads = {}, .writes = {mirror}, .name = "KVStoreTakeRows", .priority = priority}, 0);
}

// What is wrong with these rows is told by `out` alone: it says nothing about the key.
void Servers::pull_rows(const Key& key, const NDArray& row_ids, const NDArray& mirror,
                        const NDArray& out, int priority) {
  struct Rows {
    std::vector<int64_t> wanted;
    std::vector<char> arrived;
    std::exception_ptr error;
  };
  const auto rows = std::make_shared<Rows>();
  push_calls(
      [=, group = &group_, store = store_, sync = sync_, part = parts_of(key, mirror).front(),
       row_ids = row_ids.detach(),
       mirror = mirror.detach()](const RunContext&, OnComplete complete) {
        try {
          rows->wanted = wanted_rows(row_ids, mirror.shape()[0]);
        } catch (const Error&) {
          rows->error = std::current_exception();
          return complete();
        }
        ServerCall call;
        call.server = part.server;
        call.head = to_bytes(request(Ask::kPullRows, key, mirror, part, true, store, sync));
        call.body = rows->wanted.data();
        call.bytes = static_cast<int64_t>(rows->wanted.size() * sizeof(int64_t));
        call.priority = priority;
        const int64_t expected = static_cast<int64_t>(rows->wanted.size()) * row_bytes(mirror);
        rows->arrived.resize(static_cast<std::size_t>(expected));
        call.room = exact_room(rows->arrived.data(), expected, to_string(key));
        call.done = [complete, rows](std::exception_ptr error) {
          rows->error = std::move(error);
          complete();
        };
        group->call(std::move(call));
      },
      {.reads = {row_ids},
       .writes = {mirror, out},
       .name = "KVStorePullRows",
       .priority = priority},
      begin(key, true));
  push_calls(
      [=, out = out.detach()](const RunContext&, OnComplete complete) {
        if (rows->error) return complete.fail(std::exchange(rows->error, nullptr));
        set_rows(out, rows->wanted);
        if (!rows->arrived.empty())
          std::memcpy(out.sparse().values(), rows->arrived.data(), rows->arrived.size());
        complete();
      },
      {.reads = {}, .writes = {out}, .name = "KVStoreTakeRows", .priority = priority}, 0);
}

std::vector<std::string> Servers::command(int head, std::string_view body) {
  const auto count = static_cast<std::size_t>(group_.servers());
  // Until the last answer is there: whoever asked may have left by then.
  struct Asked {
    std::string body;
    std::vector<std::string> answers;
  };
  const auto asked =
      std::make_shared<Asked>(Asked{std::string(body), std::vector<std::string>(count)});
  std::function<void(std::exception_ptr)> done;
  std::future<void> end = ending_of(done);
  const bool of_all = head >= kFirstCommandOfAll;
  if (of_all) done = when_all_have_heard(std::move(done));
  const auto ending = std::make_shared<Ending>(std::move(done), static_cast<int64_t>(count));
  Request request;
  request.ask = Ask::kCommand;
  request.store = store_;
  request.command = head;
  for (std::size_t s = 0; s < count; ++s) {
    ServerCall call;
    call.server = static_cast<int>(s);
    call.head = to_bytes(request);
    call.body = asked->body.data();
    call.bytes = static_cast<int64_t>(asked->body.size());
    call.room = [asked, s](int64_t bytes) {
      asked->answers[s].resize(static_cast<std::size_t>(bytes));
      return static_cast<void*>(asked->answers[s].data());
    };
    call.done = [ending](std::exception_ptr error) { ending->end(std::move(error)); };
    group_.call(std::move(call));
  }
  bool told = false;
  const auto look = [&] {
    for (const std::string& missing : command(kWhoIsMissing, {})) {
      if (missing.empty() || std::exchange(told, true)) continue;
      log(LogLevel::kWarning, fmt::format("kvstore: {}, which has not given it yet", missing));
    }
  };
  await(end, group_.timeout_seconds(), of_all ? look : std::function<void()>());
  end.get();
  return std::move(asked->answers);
}

// A server that ends now may have answered some workers: none goes on before all have an answer.
// Where they are errors they are so for all.
std::function<void(std::exception_ptr)> Servers::when_all_have_heard(
    std::function<void(std::exception_ptr)> done) const {
  return [group = &group_, store = store_, done = std::move(done)](std::exception_ptr error) {
    if (error) return done(std::move(error));
    CollectiveRequest request;
    request.name = "command";
    request.store = store;
    request.done = done;
    group->submit(std::move(request));
  };
}

}  // namespace mxnet::kvstore
