// SPDX-License-Identifier: Apache-2.0
// Wishes are sent as they lie in memory, decisions as a row of numbers.
#include "plugin/mpi/messages.h"

#include <cstring>

#include "base/error.h"
#include "base/fnv.h"

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
  int64_t head[3];
  MX_ASSERT(bytes.size() >= sizeof(head));
  std::memcpy(head, bytes.data(), sizeof(head));
  const auto ids = static_cast<std::size_t>(head[2]);
  MX_ASSERT(head[2] >= 0 && ids <= (bytes.size() - sizeof(head)) / 8);
  Decision decision;
  decision.kind = static_cast<Decision::Kind>(head[0]);
  decision.rank = static_cast<int32_t>(head[1]);
  decision.ids.resize(ids);
  if (ids > 0) std::memcpy(decision.ids.data(), bytes.data() + sizeof(head), ids * 8);
  decision.reason.assign(bytes.begin() + static_cast<std::ptrdiff_t>(sizeof(head) + ids * 8),
                         bytes.end());
  return decision;
}

}  // namespace mxnet::mpi
