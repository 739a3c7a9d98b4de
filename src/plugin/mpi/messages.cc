// SPDX-License-Identifier: Apache-2.0
// Wishes are sent as they lie in memory, decisions as a row of numbers.
#include "plugin/mpi/messages.h"

#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/fnv.h"
#include "plugin/mpi/frames.h"

namespace mxnet::mpi {

using kvstore::CollectiveRequest;

uint64_t id_of(const CollectiveRequest& request) {
  Fnv hash;
  hash.take_word(static_cast<uint64_t>(request.store));
  // A first value and a sum of one key may be asked for in any order; of the sum of a dense array
  // and the gathering of rows only one can be meant.
  const bool gather = request.kind == kvstore::CollectiveKind::kGather;
  hash.take_word(static_cast<uint64_t>(gather ? kvstore::CollectiveKind::kSum : request.kind));
  if (request.list) {
    hash.take_word(request.list->id);
  } else {
    hash.take(request.name);
  }
  return hash.value();
}

Wish wish_of(const CollectiveRequest& request) {
  Wish wish;
  wish.id = id_of(request);
  wish.count = request.count;
  wish.kind = static_cast<int32_t>(request.kind);
  wish.dtype = static_cast<int32_t>(request.dtype);
  wish.priority = request.priority;
  wish.element_bytes = static_cast<int32_t>(dtype_size(request.dtype));
  wish.list = request.list ? 1 : 0;
  request.name.copy(wish.name, Wish::kNameBytes - 1);
  return wish;
}

// kind, rank, number of ids, ids, reason.
std::vector<char> bytes_of(const Decision& decision) {
  const int64_t head[] = {decision.kind, decision.rank, static_cast<int64_t>(decision.ids.size())};
  std::vector<char> bytes(sizeof(head) + decision.ids.size() * 8 + decision.reason.size());
  std::memcpy(bytes.data(), head, sizeof(head));
  if (!decision.ids.empty())
    std::memcpy(bytes.data() + sizeof(head), decision.ids.data(), decision.ids.size() * 8);
  decision.reason.copy(bytes.data() + sizeof(head) + decision.ids.size() * 8,
                       decision.reason.size());
  return bytes;
}

Decision decision_of(const std::vector<char>& bytes) {
  const auto require = [&](bool good) {
    if (!good)
      throw BadMessage(fmt::format("given {} bytes, expected a decision as this version sends it",
                                   bytes.size()));
  };
  int64_t head[3];
  require(bytes.size() >= sizeof(head));
  std::memcpy(head, bytes.data(), sizeof(head));
  const auto ids = static_cast<std::size_t>(head[2]);
  require(head[0] >= Decision::kRun && head[0] <= Decision::kEnd);
  require(head[2] >= 0 && ids <= (bytes.size() - sizeof(head)) / 8);
  require(head[0] > Decision::kRefuse || ids > 0);
  require(head[1] >= -1 && head[1] <= std::numeric_limits<int32_t>::max());
  Decision decision;
  decision.kind = static_cast<Decision::Kind>(head[0]);
  decision.rank = static_cast<int32_t>(head[1]);
  decision.ids.resize(ids);
  if (ids > 0) std::memcpy(decision.ids.data(), bytes.data() + sizeof(head), ids * 8);
  decision.reason.assign(bytes.begin() + static_cast<std::ptrdiff_t>(sizeof(head) + ids * 8),
                         bytes.end());
  return decision;
}

std::vector<char> bytes_of(const std::vector<Wish>& wishes) {
  std::vector<char> bytes(wishes.size() * sizeof(Wish));
  if (!wishes.empty()) std::memcpy(bytes.data(), wishes.data(), bytes.size());
  return bytes;
}

std::vector<Wish> wishes_of(const std::vector<char>& bytes) {
  std::vector<Wish> wishes(bytes.size() / sizeof(Wish));
  bool good = !wishes.empty() && bytes.size() % sizeof(Wish) == 0;
  if (good) std::memcpy(wishes.data(), bytes.data(), bytes.size());
  for (Wish& wish : wishes) {
    const std::optional<DType> dtype = dtype_from_number(wish.dtype);
    good &= wish.kind >= static_cast<int32_t>(kvstore::CollectiveKind::kSum) &&
            wish.kind <= static_cast<int32_t>(kvstore::CollectiveKind::kBarrier) && dtype &&
            wish.element_bytes == static_cast<int32_t>(dtype_size(*dtype)) && wish.count >= 0 &&
            wish.count <= std::numeric_limits<int64_t>::max() / wish.element_bytes;
    wish.name[Wish::kNameBytes - 1] = 0;
  }
  if (!good) {
    throw BadMessage(
        fmt::format("given {} bytes, expected requests of collectives as this version sends them",
                    bytes.size()));
  }
  return wishes;
}

}  // namespace mxnet::mpi
