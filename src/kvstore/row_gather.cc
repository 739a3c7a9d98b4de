// SPDX-License-Identifier: Apache-2.0
// Ranks differ in which rows they have: first they tell each other how much that is, then all get
// the rows of all.
#include "kvstore/row_gather.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "engine/engine.h"
#include "kvstore/array_op.h"
#include "kvstore/reducer.h"
#include "kvstore/rows.h"

namespace mxnet::kvstore {
namespace {

constexpr int64_t kWord = sizeof(int64_t);

// One sum on its way. Operations that write the array touch it one after the other.
struct Travel {
  ProcessGroup& group;
  const int32_t store;
  const std::string name;
  const int priority;
  std::vector<char> mine;
  std::vector<int64_t> bytes;  // of each rank
  std::vector<int64_t> all;    // of each rank as many words as the one with the most needs

  std::size_t rank() const { return static_cast<std::size_t>(group.rank()); }
  std::size_t words() const {
    const int64_t most = *std::max_element(bytes.begin(), bytes.end());
    return static_cast<std::size_t>((most + kWord - 1) / kWord);
  }
};
using TravelRef = std::shared_ptr<Travel>;

// `data`: so many words of each rank, its own are in.
void gather(const TravelRef& travel, std::vector<int64_t>& data, std::size_t words,
            OnComplete complete) {
  CollectiveRequest request;
  request.kind = CollectiveKind::kGather;
  request.name = travel->name;
  request.store = travel->store;
  request.data = data.data();
  request.count = static_cast<int64_t>(words);
  request.dtype = DType::kInt64;
  request.priority = travel->priority;
  request.done = [complete, travel](std::exception_ptr error) {
    error ? complete.fail(std::move(error)) : complete();
  };
  travel->group.submit(std::move(request));
}

void gather_sizes(const TravelRef& travel, const NDArray& sum, OnComplete complete) {
  travel->mine = pack_rows(sum);
  travel->bytes[travel->rank()] = static_cast<int64_t>(travel->mine.size());
  gather(travel, travel->bytes, 1, complete);
}

void gather_rows(const TravelRef& travel, const NDArray& sum, OnComplete complete) {
  for (std::size_t rank = 0; rank < travel->bytes.size(); ++rank) {
    if (packs_into(sum, travel->bytes[rank])) continue;
    throw Error(ErrorCode::kGeneric, "kvstore",
                fmt::format("key {}: rank {} has {} bytes, expected rows of an array of shape {}",
                            travel->name, rank, travel->bytes[rank], to_string(sum.shape())));
  }
  const std::size_t words = travel->words();
  travel->all.resize(words * travel->bytes.size());
  std::memcpy(travel->all.data() + travel->rank() * words, travel->mine.data(),
              travel->mine.size());
  gather(travel, travel->all, words, complete);
}

// `parts`: of each rank.
void add_up(const Travel& travel, Arrays parts, const NDArray& sum) {
  const std::size_t words = travel.words();
  for (std::size_t r = 0; r < parts.size(); ++r) {
    const auto* bytes = reinterpret_cast<const char*>(travel.all.data() + r * words);
    unpack_rows({bytes, static_cast<std::size_t>(travel.bytes[r])}, parts[r]);
  }
  sum_rows(parts, sum);
}

}  // namespace

void sum_rows_over(ProcessGroup& group, int32_t store, std::string name, const NDArray& sum,
                   int priority) {
  const auto ranks = static_cast<std::size_t>(group.size());
  const auto travel = std::make_shared<Travel>(
      Travel{group, store, std::move(name), priority, {}, std::vector<int64_t>(ranks), {}});
  const std::array<Var*, 1> writes{sum.var()};
  const OpSpec spec{.device = Device::cpu(),
                    .reads = {},
                    .writes = writes,
                    .property = FnProperty::kCPUPrioritized,
                    .priority = priority,
                    .name = "KVStoreGatherRows"};
  Engine::get().push_async(
      [travel, sum = sum.detach()](const RunContext&, OnComplete complete) {
        gather_sizes(travel, sum, complete);
      },
      spec);
  Engine::get().push_async(
      [travel, sum = sum.detach()](const RunContext&, OnComplete complete) {
        gather_rows(travel, sum, complete);
      },
      spec);
  std::vector<NDArray> arrays;
  for (std::size_t r = 0; r < ranks; ++r) arrays.push_back(empty_like(sum, Device::cpu()));
  arrays.push_back(sum.detach());
  push_on_host(
      {.reads = {sum}, .writes = std::move(arrays), .name = "KVStoreSumRows", .priority = priority},
      [travel](Arrays, Arrays writes) {
        add_up(*travel, writes.first(writes.size() - 1), writes.back());
      });
}

}  // namespace mxnet::kvstore
