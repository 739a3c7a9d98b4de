// SPDX-License-Identifier: Apache-2.0
// Requests become engine operations on the arrays that are held.
#include "kvstore/server.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"
#include "engine/engine.h"
#include "kvstore/array_op.h"
#include "kvstore/rows.h"

namespace mxnet::kvstore {
namespace {

Answer failure(ErrorCode code, std::string text) {
  Answer answer;
  answer.code = code;
  answer.error = std::move(text);
  return answer;
}

// REQUIRES: in a handler. What is being handled.
Answer failure_now() {
  try {
    throw;
  } catch (const Error& error) {
    return failure(error.code(), error.message());
  } catch (const std::exception& error) {
    return failure(ErrorCode::kGeneric, error.what());
  }
}

// Answers once: what it is given, or, when an operation that was to do so is dropped because
// something before it failed, that.
class Promise {
 public:
  Promise(std::function<void(Answer)> answer, const Key& key)
      : answer_(std::move(answer)), key_(to_string(key)) {}
  Promise(const Promise&) = delete;
  Promise& operator=(const Promise&) = delete;
  ~Promise() {
    if (answer_)
      answer_(failure(ErrorCode::kGeneric,
                      fmt::format("key {}: an operation on the server has failed", key_)));
  }
  void keep(Answer answer) { std::exchange(answer_, nullptr)(std::move(answer)); }

 private:
  std::function<void(Answer)> answer_;
  const std::string key_;
};

// Says that all is done when everything pushed before on `value` is.
void answer_after(const NDArray& value, std::vector<std::shared_ptr<Promise>> promises) {
  const std::array<Var*, 1> reads{value.var()};
  Engine::get().push(
      [promises = std::move(promises)](const RunContext&) {
        for (const auto& promise : promises) promise->keep({});
      },
      {.device = Device::cpu(),
       .reads = reads,
       .writes = {},
       .property = FnProperty::kCPUPrioritized,
       .name = "KVStoreServerDone",
       .cheap = true});
}

// As bytes, in the form that `request` tells; filled by an operation.
NDArray array_of(std::vector<char> body, const Request& request) {
  const std::string_view bytes(body.data(), body.size());
  NDArray array = request.storage == StorageType::kDense
                      ? NDArray(request.shape, request.dtype, Device::cpu(), "kvstore")
                      : NDArray(request.storage, request.shape, request.dtype, Device::cpu());
  const bool packed = request.compression.type != CompressionType::kNone;
  if (request.storage == StorageType::kDense) {
    const auto expected =
        packed ? static_cast<std::size_t>(request.compression.words(array.size()) * 4)
               : array.bytes();
    if (bytes.size() != expected || (packed && request.dtype != DType::kFloat32)) {
      throw Error(
          ErrorCode::kValue, "kvstore",
          fmt::format("key {}: given {} bytes, expected {} for shape {}", to_string(request.key),
                      bytes.size(), expected, to_string(request.shape)));
    }
    if (array.size() == 0) return array;
  }
  push_on_host({.reads = {}, .writes = {array}, .name = "KVStoreServerTake"},
               [body = std::make_shared<const std::vector<char>>(std::move(body)), packed,
                compression = request.compression](Arrays, Arrays writes) {
                 const NDArray& to = writes.front();
                 if (to.is_sparse()) {
                   unpack_rows({body->data(), body->size()}, to);
                 } else if (packed) {
                   compression.unpack(reinterpret_cast<const uint32_t*>(body->data()),
                                      to.data_as<float>(), to.size());
                 } else {
                   std::copy(body->begin(), body->end(), to.data_as<char>());
                 }
               });
  return array;
}

}  // namespace

Server::Server(ProcessGroup& group) : group_(group), reducer_(config().kvstore, SumOrder::kLeft) {}

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
    const Request request = request_of(call.head);
    Table& table = tables_[request.store];
    const bool needs_key = request.ask != Ask::kCommand && request.ask != Ask::kInit;
    if (needs_key && table.entries.count(request.key) == 0) {
      table.early[request.key].push_back(std::move(call));
    } else {
      obey(call, request, controller);
    }
  } catch (...) {
    answer(failure_now());
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
      return command(call, request, controller);
  }
}

void Server::command(ServedCall& call, const Request& request, const ServerController& controller) {
  commanded_ = &tables_[request.store];
  const auto text = std::make_shared<std::string>();
  try {
    *text = controller(request.command, std::string(call.body.begin(), call.body.end()));
  } catch (...) {
    commanded_ = nullptr;
    throw;
  }
  commanded_ = nullptr;
  Answer answer;
  answer.data = text->data();
  answer.bytes = static_cast<int64_t>(text->size());
  answer.keep = text;
  call.answer(std::move(answer));
}

void Server::init(ServedCall& call, const Request& request) {
  const NDArray value = array_of(std::move(call.body), request);
  const auto promise = std::make_shared<Promise>(call.answer, request.key);
  Entry& entry = tables_[request.store].entries[request.key];
  entry.key = request.key;
  entry.value = value;
  entry.rounds.resize(static_cast<std::size_t>(group_.size()));
  answer_after(value, {promise});
}

void Server::push(ServedCall& call, const Request& request, Entry& entry) {
  if (request.dtype != entry.value.dtype() || request.shape != entry.value.shape()) {
    throw Error(
        ErrorCode::kValue, "kvstore",
        fmt::format("key {}: given {} of {} by rank {}, expected {} of {}, those of init",
                    to_string(entry.key), dtype_name(request.dtype), to_string(request.shape),
                    call.worker, dtype_name(entry.value.dtype()), to_string(entry.value.shape())));
  }
  const NDArray value = array_of(std::move(call.body), request);
  const Updater& updater = updater_of(tables_[request.store]);
  if (!request.sync) return apply(entry, {value}, {call.answer}, updater);
  if (left_ >= 0) return call.answer(unfinished(left_, entry.key));
  entry.rounds[static_cast<std::size_t>(call.worker)].push_back({value, call.answer});
  const bool full = std::none_of(entry.rounds.begin(), entry.rounds.end(),
                                 [](const auto& queue) { return queue.empty(); });
  if (full) push_round(entry, updater);
}

Answer Server::unfinished(int worker, const Key& key) const {
  return failure(ErrorCode::kGeneric,
                 fmt::format("rank {} of {} has finished, but key {} waits for what it pushes",
                             worker, group_.size(), to_string(key)));
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
  std::vector<std::shared_ptr<Promise>> promises;
  promises.reserve(answers.size());
  for (Reply& answer : answers)
    promises.push_back(std::make_shared<Promise>(std::move(answer), entry.key));
  try {
    if (values.size() > 1) values.front() = sum(entry, values);
    if (updater) {
      updater(entry.key, values.front(), entry.value);
    } else {
      transfer(values.front(), entry.value, 0);
    }
  } catch (...) {
    for (const auto& promise : promises) promise->keep(failure_now());
    return;
  }
  answer_after(entry.value, std::move(promises));
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
  const auto promise = std::make_shared<Promise>(call.answer, entry.key);
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
          answer.keep = std::shared_ptr<const void>(answer.data,
                                                    [complete, value](const void*) { complete(); });
        }
        promise->keep(std::move(answer));
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
  const std::array<Var*, 1> reads{value.var()};
  Engine::get().push(
      [promise = std::make_shared<Promise>(call.answer, entry.key), value,
       rows = std::move(rows)](const RunContext&) {
        const auto bytes = std::make_shared<std::vector<char>>(
            rows.size() * static_cast<std::size_t>(row_bytes(value)));
        copy_rows(value, rows, bytes->data());
        Answer answer;
        answer.data = bytes->data();
        answer.bytes = static_cast<int64_t>(bytes->size());
        answer.keep = bytes;
        promise->keep(std::move(answer));
      },
      {.device = Device::cpu(),
       .reads = reads,
       .writes = {},
       .property = FnProperty::kCPUPrioritized,
       .name = "KVStoreServerSendRows"});
}

// Whoever waits for its next push would do so forever.
void Server::worker_left(int worker) {
  if (left_ < 0) left_ = worker;
  for (auto& [number, table] : tables_) {
    for (auto& [key, entry] : table.entries) {
      if (!entry.rounds[static_cast<std::size_t>(worker)].empty()) continue;
      for (auto& queue : entry.rounds) {
        for (Pushed& waiting : std::exchange(queue, {})) waiting.answer(unfinished(worker, key));
      }
    }
  }
}

}  // namespace mxnet::kvstore
