// SPDX-License-Identifier: Apache-2.0
// Requests become engine operations on the arrays that are held.
#include "kvstore/server.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/here.h"
#include "kvstore/array_op.h"
#include "kvstore/rows.h"

namespace mxnet::kvstore {
namespace {

// Calls that are answered once, together, with what is held under a key: by what it is given, or,
// when the operation that was to do so is dropped because something before it has failed, that.
class Promise {
 public:
  // `ends`: they have changed the value, and are the last to hear what failed there: the key goes
  // on with the value that it has then.
  Promise(std::vector<std::function<void(Answer)>> answers, const Key& key, NDArray value,
          bool ends)
      : answers_(std::move(answers)), key_(to_string(key)), value_(std::move(value)), ends_(ends) {}
  Promise(const Promise&) = delete;
  Promise& operator=(const Promise&) = delete;
  // On the engine's thread, before the dropped operation releases the value.
  ~Promise() {
    if (answers_.empty()) return;
    std::exception_ptr error = engine::failure_of(value_.var());
    if (!error)
      error = std::make_exception_ptr(
          Error(ErrorCode::kGeneric, "kvstore", "an operation on the server has failed"));
    if (ends_) Engine::get().forget_failure(value_.var());
    fail(error);
  }
  void keep(const Answer& answer) {
    for (const auto& each : std::exchange(answers_, {})) each(answer);
  }
  void fail(const std::exception_ptr& error) {
    Answer answer = answer_of(error);
    answer.error = fmt::format("key {}: {}", key_, answer.error);
    keep(answer);
  }

 private:
  std::vector<std::function<void(Answer)>> answers_;
  const std::string key_;
  const NDArray value_;
  const bool ends_;
};

// Of a call that changes nothing, or makes the key.
std::shared_ptr<Promise> promise_to(const ServedCall& call, const Key& key, const NDArray& value) {
  return std::make_shared<Promise>(std::vector{call.answer}, key, value, false);
}

// Says that all is done when everything pushed before on `value` is.
void answer_after(const NDArray& value, std::shared_ptr<Promise> promise) {
  const std::array<Var*, 1> reads{value.var()};
  Engine::get().push([promise = std::move(promise)](const RunContext&) { promise->keep({}); },
                     {.device = Device::cpu(),
                      .reads = reads,
                      .writes = {},
                      .property = FnProperty::kCPUPrioritized,
                      .name = "KVStoreServerDone",
                      .cheap = true});
}

void require_bytes(const Request& request, std::size_t given, int64_t expected) {
  if (given == static_cast<std::size_t>(expected)) return;
  throw Error(ErrorCode::kValue, "kvstore",
              fmt::format("key {}: given {} bytes, expected {} for shape {}",
                          to_string(request.key), given, expected, to_string(request.shape)));
}

// In the pool of arrays, whose pages are large, and there already when the next round comes.
ArrivedBytes pooled(std::size_t bytes) {
  const NDArray array(Shape{static_cast<int64_t>(bytes)}, DType::kUInt8, Device::cpu(), "kvstore");
  return {{array.data_as<char>(), [array](char*) {}}, bytes};
}

// The bytes themselves are the array.
NDArray dense_of(const ArrivedBytes& body, const Request& request) {
  if (body.size() == 0) return NDArray(request.shape, request.dtype, Device::cpu(), "kvstore");
  return NDArray(
      make_ref<Chunk>(Device::cpu(), body.size(), body.data(), [body](const RunContext&) {}), 0,
      request.shape, request.dtype);
}

NDArray unpacked(const ArrivedBytes& body, const Request& request) {
  NDArray array(request.shape, request.dtype, Device::cpu(), "kvstore");
  push_on_host({.reads = {}, .writes = {array}, .name = "KVStoreServerUnpack"},
               [body, compression = request.compression](Arrays, Arrays writes) {
                 const NDArray& to = writes.front();
                 compression.unpack(reinterpret_cast<const uint32_t*>(body.data()),
                                    to.data_as<float>(), to.size());
               });
  return array;
}

NDArray rows_of(const ArrivedBytes& body, const Request& request) {
  NDArray array(request.storage, request.shape, request.dtype, Device::cpu());
  try {
    packed_rows(body.text(), array);
  } catch (const Error& error) {
    throw error.retold(error.tag(),
                       fmt::format("key {}: {}", to_string(request.key), error.message()));
  }
  push_on_host({.reads = {}, .writes = {array}, .name = "KVStoreServerTake"},
               [body](Arrays, Arrays writes) { unpack_rows(body.text(), writes.front()); });
  return array;
}

// What a body holds, in the form that `request` tells. Nothing is made of a body of another size.
NDArray array_of(const ArrivedBytes& body, const Request& request) {
  if (request.storage != StorageType::kDense) return rows_of(body, request);
  const int64_t count = request.shape.size();
  if (request.compression.type == CompressionType::kNone) {
    require_bytes(request, body.size(), count * static_cast<int64_t>(dtype_size(request.dtype)));
    return dense_of(body, request);
  }
  require_bytes(request, body.size(), request.compression.words(count) * 4);
  if (request.dtype != DType::kFloat32) {
    throw Error(ErrorCode::kValue, "kvstore",
                fmt::format("key {}: given compressed values of {}, expected float32",
                            to_string(request.key), dtype_name(request.dtype)));
  }
  return count == 0 ? dense_of(body, request) : unpacked(body, request);
}

}  // namespace

Server::Server(ProcessGroup& group)
    : group_(group),
      reducer_(config().kvstore, SumOrder::kLeft),
      left_(static_cast<std::size_t>(group.size())) {
  group_.make_bodies_by(pooled);
}

void Server::run(const ServerController& controller) {
  for (ServedCall call; group_.next_call(call); call = {}) {
    if (call.left) {
      worker_left(call.worker);
    } else {
      handle(std::move(call), controller);
    }
  }
}

void Server::set_updater(Updater updater) {
  (commanded_ != nullptr ? commanded_->updater : updater_) = std::move(updater);
}

const Updater& Server::updater_of(const Table& table) const {
  return table.updater ? table.updater : updater_;
}

void Server::handle(ServedCall call, const ServerController& controller) {
  const Reply answer = call.answer;
  try {
    if (call.worker < 0 || call.worker >= group_.size()) {
      throw Error(ErrorCode::kValue, "kvstore",
                  fmt::format("given a call by rank {}, expected one of the {} workers",
                              call.worker, group_.size()));
    }
    const Request request = request_of(call.head);
    Table& table = tables_[request.store];
    const bool needs_key = request.ask != Ask::kCommand && request.ask != Ask::kInit;
    if (needs_key && table.entries.count(request.key) == 0) {
      if (has_left(kGivesFirstValues))
        return answer(unfinished(kGivesFirstValues,
                                 fmt::format("the first value of key {}", to_string(request.key))));
      table.early[request.key].push_back(std::move(call));
    } else {
      obey(call, request, controller);
    }
  } catch (...) {
    answer(answer_of(std::current_exception()));
  }
}

void Server::obey(ServedCall& call, const Request& request, const ServerController& controller) {
  Table& table = tables_[request.store];
  switch (request.ask) {
    case Ask::kInit: {
      init(call, request);
      const auto early = table.early.extract(request.key);
      if (early.empty()) return;
      for (ServedCall& waiting : early.mapped()) handle(std::move(waiting), controller);
      return;
    }
    case Ask::kPush:
      return push(call, request, table.entries.at(request.key));
    case Ask::kPull:
      return pull(call, table.entries.at(request.key));
    case Ask::kPullRows:
      return pull_rows(call, table.entries.at(request.key));
    case Ask::kCommand:
      if (request.command >= kFirstCommandOfAll) return command_of_all(call, request, controller);
      if (request.command == kWhoIsMissing || request.command == kWhoWaitsForMe)
        return call.answer(answer_of(request.command == kWhoIsMissing
                                         ? who_is_missing(call.worker)
                                         : who_waits_for(call.worker)));
      return command(call, request, {call.answer}, controller);
  }
}

// All of `answers` hear the same.
void Server::init(ServedCall& call, const Request& request) {
  auto& entries = tables_[request.store].entries;
  if (entries.count(request.key) != 0) {
    throw Error(ErrorCode::kValue, "kvstore",
                fmt::format("key {}: given a first value by rank {}, expected none: it has one",
                            to_string(request.key), call.worker));
  }
  const NDArray value = array_of(call.body, request);
  Entry& entry = entries[request.key];
  entry.key = request.key;
  entry.value = value;
  entry.rounds.resize(static_cast<std::size_t>(group_.size()));
  answer_after(value, promise_to(call, entry.key, value));
}

void Server::push(ServedCall& call, const Request& request, Entry& entry) {
  if (request.dtype != entry.value.dtype() || request.shape != entry.value.shape()) {
    throw Error(
        ErrorCode::kValue, "kvstore",
        fmt::format("key {}: given {} of {} by rank {}, expected {} of {}, those of init",
                    to_string(entry.key), dtype_name(request.dtype), to_string(request.shape),
                    call.worker, dtype_name(entry.value.dtype()), to_string(entry.value.shape())));
  }
  const NDArray value = array_of(call.body, request);
  const Updater& updater = updater_of(tables_[request.store]);
  if (!request.sync) return apply(entry, {value}, {call.answer}, updater);
  if (const int left = left_without(entry.rounds); left >= 0)
    return call.answer(unfinished(left, fmt::format("key {}", to_string(entry.key))));
  entry.rounds[static_cast<std::size_t>(call.worker)].push_back({value, call.answer});
  const bool full = std::none_of(entry.rounds.begin(), entry.rounds.end(),
                                 [](const auto& queue) { return queue.empty(); });
  if (full) push_round(entry, updater);
}

// The oldest push of each worker.
void Server::push_round(Entry& entry, const Updater& updater) {
  std::vector<NDArray> values;
  std::vector<Reply> answers;
  for (auto& queue : entry.rounds) {
    values.push_back(queue.front().value);
    answers.push_back(std::move(queue.front().answer));
    queue.pop_front();
  }
  apply(entry, std::move(values), std::move(answers), updater);
}

// All who pushed hear what is wrong.
void Server::apply(Entry& entry, std::vector<NDArray> values, std::vector<Reply> answers,
                   const Updater& updater) {
  const auto promise = std::make_shared<Promise>(std::move(answers), entry.key, entry.value, true);
  try {
    if (values.size() > 1) values.front() = sum(entry, values);
    if (updater) {
      updater(entry.key, values.front(), entry.value);
    } else {
      transfer(values.front(), entry.value, 0);
    }
  } catch (...) {
    return promise->fail(std::current_exception());
  }
  answer_after(entry.value, promise);
}

// In the order of ranks.
NDArray Server::sum(Entry& entry, const std::vector<NDArray>& values) {
  const bool rows = std::all_of(values.begin(), values.end(),
                                [](const NDArray& value) { return value.is_sparse(); });
  NDArray& merged = entry.buffers.merged;
  if (merged.is_none() || merged.is_sparse() != rows) {
    merged = rows ? empty_like(values.front(), Device::cpu())
                  : NDArray(entry.value.shape(), entry.value.dtype(), Device::cpu(), "kvstore");
  }
  reducer_.sum(entry.buffers, values, merged, 0);
  return merged;
}

// What is held is read until it has left.
void Server::pull(ServedCall& call, Entry& entry) {
  const auto promise = promise_to(call, entry.key, entry.value);
  const std::array<Var*, 1> reads{entry.value.var()};
  Engine::get().push_async(
      [promise, value = entry.value](const RunContext&, OnComplete complete) {
        Answer answer;
        if (value.is_sparse()) {
          const auto bytes = std::make_shared<const std::vector<char>>(pack_rows(value));
          answer.data = bytes->data();
          answer.bytes = static_cast<int64_t>(bytes->size());
          answer.keep = bytes;
          complete();
        } else {
          answer.data = value.size() == 0 ? nullptr : value.data();
          answer.bytes = static_cast<int64_t>(value.bytes());
          answer.keep = std::make_shared<const NDArray>(value);
          answer.under_way =
              std::shared_ptr<const void>(answer.data, [complete](const void*) { complete(); });
        }
        promise->keep(answer);
      },
      {.device = Device::cpu(),
       .reads = reads,
       .writes = {},
       .property = FnProperty::kCPUPrioritized,
       .name = "KVStoreServerSend"});
}

void Server::pull_rows(ServedCall& call, Entry& entry) {
  const NDArray& value = entry.value;
  if (!value.is_sparse() || call.body.size() % sizeof(int64_t) != 0) {
    throw Error(ErrorCode::kValue, "kvstore",
                fmt::format("key {}: given a request of rows, expected it of a row_sparse key",
                            to_string(entry.key)));
  }
  std::vector<int64_t> rows(call.body.size() / sizeof(int64_t));
  if (!rows.empty()) std::memcpy(rows.data(), call.body.data(), call.body.size());
  const bool ascend =
      std::adjacent_find(rows.begin(), rows.end(), std::greater_equal()) == rows.end();
  if (!ascend || (!rows.empty() && (rows.front() < 0 || rows.back() >= value.shape()[0]))) {
    throw Error(ErrorCode::kIndex, "kvstore",
                fmt::format("key {}: given a request of {} rows, expected ascending numbers from 0 "
                            "to {}",
                            to_string(entry.key), rows.size(), value.shape()[0] - 1));
  }
  const std::array<Var*, 1> reads{value.var()};
  Engine::get().push(
      [promise = promise_to(call, entry.key, value), value,
       rows = std::move(rows)](const RunContext&) {
        const auto bytes = std::make_shared<std::vector<char>>(
            rows.size() * static_cast<std::size_t>(row_bytes(value)));
        copy_rows(value, rows, bytes->data());
        Answer answer;
        answer.data = bytes->data();
        answer.bytes = static_cast<int64_t>(bytes->size());
        answer.keep = bytes;
        promise->keep(answer);
      },
      {.device = Device::cpu(),
       .reads = reads,
       .writes = {},
       .property = FnProperty::kCPUPrioritized,
       .name = "KVStoreServerSendRows"});
}

}  // namespace mxnet::kvstore
