// SPDX-License-Identifier: Apache-2.0
// Engine operations that end when the group says so.
#include "kvstore/dist_store.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "kvstore/array_op.h"
#include "kvstore/ending.h"
#include "kvstore/pack_op.h"
#include "kvstore/row_gather.h"
#include "ndarray/sparse_convert.h"

namespace mxnet::kvstore {
namespace {

const char* verb(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kSum:
      return "KVStoreAllReduce";
    case CollectiveKind::kGather:
      return "KVStoreAllGather";
    default:
      return "KVStoreBroadcast";
  }
}

// Words before those of a rank: the type of its compression, and its threshold.
constexpr int64_t kPackedHead = 2;

// What the words of a rank are made by.
Compression compression_of(int rank, const uint32_t* head, const std::string& key) {
  if (head[0] == static_cast<uint32_t>(CompressionType::kOneBit) ||
      head[0] == static_cast<uint32_t>(CompressionType::kTwoBit))
    return {static_cast<CompressionType>(head[0]), std::bit_cast<float>(head[1])};
  throw Error(ErrorCode::kGeneric, "kvstore",
              fmt::format("key {}: rank {} sent compression {}, expected 1bit or 2bit", key, rank,
                          head[0]));
}

}  // namespace

DistStore::DistStore(StoreType type, const KvstoreConfig& config, ProcessGroup& group)
    : LocalStore(std::move(type), config),
      config_(config),
      group_(group),
      number_(group.number_store()),
      bunch_(group, number_, type_.on_device ? SumOrder::kLeft : SumOrder::kGrouped) {
  if (group.servers() > 0)
    servers_ = std::make_unique<Servers>(group, config, number_, !type_.async, type_.sliced);
  if (!type_.async) return;
  if (!servers_) {
    throw Error(
        ErrorCode::kValue, "kvstore",
        fmt::format("given a store of type '{}' in a job without servers, expected at least "
                    "one: tools/launch.py -n {} -s 1 starts it",
                    type_.name, group.size()));
  }
  served_ = true;
}

// Of one request.
int64_t DistStore::most_elements() const {
  return type_.sliced ? config_.slice_threshold.get() : std::numeric_limits<int64_t>::max();
}

// `array` lies in host memory and is dense; gathered ones hold a part for each rank.
void DistStore::push_collective(CollectiveKind kind, const Key& key, const NDArray& array,
                                int priority) {
  const bool gather = kind == CollectiveKind::kGather;
  const int64_t count = gather ? array.size() / group_.size() : array.size();
  const int64_t slice = gather ? std::max<int64_t>(count, 1) : most_elements();
  const int64_t parts = std::max<int64_t>(1, count / slice + (count % slice != 0 ? 1 : 0));
  const std::array<Var*, 1> writes{array.var()};
  Engine::get().push_async(
      [=, group = &group_, store = number_, name = to_string(key), array = array.detach()](
          const RunContext&, OnComplete complete) {
        const auto ending = std::make_shared<Ending>(complete, parts);
        for (int64_t part = 0; part < parts; ++part) {
          CollectiveRequest request;
          request.kind = kind;
          request.name = parts == 1 ? name : fmt::format("{}[{}]", name, part);
          request.store = store;
          request.count = std::min(slice, count - part * slice);
          request.dtype = array.dtype();
          request.data = static_cast<char*>(array.data()) +
                         static_cast<std::size_t>(part * slice) * dtype_size(array.dtype());
          request.priority = priority;
          request.done = [ending, array](std::exception_ptr error) {
            ending->end(std::move(error));
          };
          group->submit(std::move(request));
        }
      },
      {.device = Device::cpu(),
       .reads = {},
       .writes = writes,
       .property = FnProperty::kCPUPrioritized,
       .priority = priority,
       .name = verb(kind)});
}

void DistStore::init(Keys keys, KeyedArrays values) {
  LocalStore::init(keys, values);
  for (const Key& key : keys) broadcast_first(key, keys.size() > 1);
  bunch_.send(0);
  for (const Key& key : keys) {
    keys_.push_back(key);
    if (served_) serve_key(key);
  }
}

void DistStore::broadcast_first(const Key& key, bool one_of_many) {
  const NDArray& value = stored(key);
  if (one_of_many && Bunch::suits({&value, 1}, value, {}) && value.size() <= most_elements()) {
    const Key& name = lasting(key);
    if (bunch_.add_broadcast(name, value)) return;
    bunch_.send(0);
    bunch_.add_broadcast(name, value);
  } else if (!value.is_sparse()) {
    push_collective(CollectiveKind::kBroadcast, key, value, 0);
  } else {
    const NDArray dense = cast_storage(value, StorageType::kDense);
    push_collective(CollectiveKind::kBroadcast, key, dense, 0);
    transfer(dense, value, 0);
  }
}

void DistStore::check_servers() const {
  if (servers_) return;
  throw Error(ErrorCode::kValue, "kvstore",
              fmt::format("given a command for the servers in a job without any, expected at "
                          "least one: tools/launch.py -n {} -s 1 starts it",
                          group_.size()));
}

KVStore::Placement DistStore::placement(const Key& key) {
  const auto mirror = mirrors_.find(key);
  if (!served_ || mirror == mirrors_.end()) return {};
  return {servers_->count_parts(key, mirror->second), mirror->second.shape()};
}

std::future<void> DistStore::serve() {
  if (!served_) move_to_servers();
  return end_of_calls();
}

// Also of those that fail, of which whoever waits for their arrays hears.
std::future<void> DistStore::end_of_calls() const {
  std::vector<Var*> reads, writes;
  for (const auto& [key, mirror] : mirrors_) reads.push_back(mirror.var());
  dedup_variables(&reads, &writes);
  std::function<void(std::exception_ptr)> done;
  std::future<void> end = ending_of(done);
  Engine::get().push([done](const RunContext&) { done(nullptr); }, {.device = Device::cpu(),
                                                                    .reads = reads,
                                                                    .writes = writes,
                                                                    .property = FnProperty::kNoSkip,
                                                                    .name = "KVStoreEndOfCalls",
                                                                    .cheap = true});
  Engine::get().flush_bulk();  // who waits for it pushes nothing more
  return end;
}

// From here on the servers hold the keys.
void DistStore::move_to_servers() {
  check_servers();
  if (LocalStore::updates()) {
    throw Error(ErrorCode::kValue, "kvstore",
                "given a command for the servers by a store with an updater of its own, expected "
                "either the one or the other");
  }
  for (const Key& key : keys_) check_servable(key);  // all of them: a failure leaves it as it was
  served_ = true;
  for (const auto& [key, packed] : packed_) servers_->take_rest(key, packed.rest);
  for (const Key& key : keys_) serve_key(key);
}

void DistStore::check_servable(const Key& key) {
  if (stored(key).storage_type() != StorageType::kCSR) return;
  throw Error(ErrorCode::kType, "kvstore",
              fmt::format("key {}: given a csr array, expected one that servers can hold: dense "
                          "or row_sparse",
                          to_string(key)));
}

void DistStore::serve_key(const Key& key) {
  check_servable(key);
  const NDArray& value = stored(key);
  NDArray& mirror = mirrors_[key] = in_host_memory(value) ? value : value.copy(Device::cpu());
  if (group_.rank() == 0) servers_->init(key, mirror);
}

void DistStore::update(const Key& key, const NDArray& sum, const NDArray& stored, int priority) {
  if (!served_) return LocalStore::update(key, sum, stored, priority);
  const NDArray host = in_host_memory(sum) ? sum : sum.copy(Device::cpu());
  servers_->push(key, host, mirrors_.at(key), priority);
}

void DistStore::refresh(const Key& key, int priority) {
  if (!served_) return;
  const NDArray &mirror = mirrors_.at(key), &value = stored(key);
  servers_->pull(key, mirror, priority);
  if (value.var() != mirror.var()) transfer(mirror, value, priority);
}

bool DistStore::fetch_rows(const Key& key, const NDArray& row_ids, const NDArray& rows,
                           int priority) {
  if (!served_) return false;
  servers_->pull_rows(key, row_ids, mirrors_.at(key), rows, priority);
  return true;
}

void DistStore::set_updater(Updater updater) {
  if (served_) {
    throw Error(ErrorCode::kValue, "kvstore",
                fmt::format("given an updater for a store of type '{}' whose keys are held by "
                            "servers, expected set_optimizer: the servers update",
                            type()));
  }
  LocalStore::set_updater(std::move(updater));
}

void DistStore::sum_over_processes(const Key& key, const NDArray& sum, int priority) {
  if (served_) return;
  if (compression_.type != CompressionType::kNone && !sum.is_sparse())
    return sum_compressed(key, sum, priority);
  if (in_host_memory(sum) && !sum.is_sparse())
    return push_collective(CollectiveKind::kSum, key, sum, priority);
  const NDArray host = in_host_memory(sum) ? sum : sum.copy(Device::cpu());
  if (sum.storage_type() == StorageType::kRowSparse) {
    if (config_.dist_row_sparse_verbose) {
      log(LogLevel::kInfo, fmt::format("kvstore: rows of key {}, shape {}, travel to all",
                                       to_string(key), mxnet::to_string(sum.shape())));
    }
    sum_rows_over(group_, number_, to_string(key), host, priority);
    if (host.var() != sum.var()) transfer(host, sum, priority);
  } else {
    const NDArray dense = cast_storage(host, StorageType::kDense);
    push_collective(CollectiveKind::kSum, key, dense, priority);
    transfer(dense, sum, priority);
  }
}

// Whether what is to become such a sum may travel with others.
bool DistStore::collects(const NDArray& sum) const {
  return !served_ && compression_.type == CompressionType::kNone && !config_.serial_push &&
         sum.size() <= most_elements();
}

bool DistStore::sum_together(const Key& key, Arrays values, NDArray& to, Arrays outs,
                             int priority) {
  if (!collects(to) || !Bunch::suits(values, to, outs)) return false;
  if (bunch_.add(key, values, to, outs)) return true;
  bunch_.send(priority);
  return bunch_.add(key, values, to, outs);
}

bool DistStore::sum_again(const Key& key, PickedArrays values, const NDArray& to, PickedArrays outs,
                          int priority) {
  return collects(to) && bunch_.repeat(key, values, to, outs, priority);
}

void DistStore::set_compression(TextPairs params) {
  compression_ = Compression::parse(params);
  if (servers_) servers_->set_compression(compression_);
}

// Before the words of each rank stands what they are made by: ranks that have set different things
// still all get the same sum.
DistStore::Packed& DistStore::packed_of(const Key& key, const NDArray& sum) {
  Packed& packed = packed_[key];
  if (packed.rest.is_none()) packed.rest = zeros_like(sum);
  if (packed.words.is_none() || packed.by != compression_) {
    const int64_t words = kPackedHead + compression_.words(sum.size());
    packed.by = compression_;
    packed.words = NDArray(Shape{group_.size() * words}, DType::kInt32, Device::cpu(), "kvstore");
    int32_t* head = packed.words.data_as<int32_t>() + group_.rank() * words;
    head[0] = static_cast<int32_t>(compression_.type);
    head[1] = std::bit_cast<int32_t>(compression_.threshold);
  }
  return packed;
}

// Each rank packs its own sum; all get the words of all, and add what they say in the order of the
// ranks.
void DistStore::sum_compressed(const Key& key, const NDArray& sum, int priority) {
  check_packable(sum);
  const NDArray host = in_host_memory(sum) ? sum : sum.copy(Device::cpu());
  const int64_t count = sum.size(), words = kPackedHead + compression_.words(count);
  const int ranks = group_.size(), rank = group_.rank();
  const Packed& packed = packed_of(key, host);
  push_pack(compression_, host, packed.rest,
            packed.words.slice(rank * words + kPackedHead, (rank + 1) * words), priority);
  push_collective(CollectiveKind::kGather, key, packed.words, priority);
  push_dense(
      {.reads = {packed.words}, .writes = {host}, .name = "KVStoreUnpack", .priority = priority},
      [name = to_string(key), count, words, ranks](const Addresses& at) {
        std::vector<float> one(static_cast<std::size_t>(count));
        auto* total = static_cast<float*>(at.writes[0]);
        const auto* from = static_cast<const uint32_t*>(at.reads[0]);
        compression_of(0, from, name).unpack(from + kPackedHead, total, count);
        for (int r = 1; r < ranks; ++r) {
          const uint32_t* of_rank = from + r * words;
          compression_of(r, of_rank, name).unpack(of_rank + kPackedHead, one.data(), count);
          for (int64_t i = 0; i < count; ++i) total[i] += one[static_cast<std::size_t>(i)];
        }
      });
  if (!in_host_memory(sum)) transfer(host, sum, priority);
}

void DistStore::barrier() {
  CollectiveRequest request;
  request.name = "barrier";
  request.store = number_;
  std::future<void> end = ending_of(request.done);
  group_.submit(std::move(request));
  // Who waits for this worker meanwhile will not come here.
  const auto look = [&] {
    if (!servers_) return;
    for (const std::string& waits : servers_->command(kWhoWaitsForMe, {})) {
      if (waits.empty() || end.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        continue;
      throw Error(ErrorCode::kValue, "kvstore",
                  fmt::format("{}, and this one waits at a barrier; expected the same calls of all "
                              "workers",
                              waits));
    }
  };
  await(end, group_.timeout_seconds(), look);
  end.get();
}

std::vector<std::string> DistStore::send_command(int head, std::string_view body) {
  check_servers();
  return servers_->command(head, body);
}

}  // namespace mxnet::kvstore
