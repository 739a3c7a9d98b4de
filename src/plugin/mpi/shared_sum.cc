// SPDX-License-Identifier: Apache-2.0
// Two meetings a sum: before it all have their arrays ready, after it all have written.
#include "plugin/mpi/shared_sum.h"

#include <algorithm>
#include <cstring>

#include "base/stream_copy.h"

namespace mxnet::mpi {
namespace {

// Bytes that are added at once: they stay in a first-level cache.
constexpr std::size_t kBlockBytes = 16 << 10;
// Lists whose places are remembered, and whose memory is kept by that.
constexpr std::size_t kMostLists = 128;

}  // namespace

SharedSum::SharedSum(MPI_Comm comm, int rank, int size) : comm_(comm), rank_(rank), size_(size) {
  MPI_Comm beside;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &beside);
  int ranks = 0;
  MPI_Comm_size(beside, &ranks);
  MPI_Comm_free(&beside);
  near_ = ranks == size && size > 1;
  announced_.resize(static_cast<std::size_t>(size));
  block_.resize(kBlockBytes);
}

bool SharedSum::see_all(const std::vector<Announced>& places, std::size_t bytes,
                        Agreed& agreed) const {
  agreed.seen.assign(places.size(), nullptr);
  for (std::size_t r = 0; r < places.size(); ++r) {
    if (static_cast<int>(r) == rank_) continue;
    const Announced& there = places[r];
    agreed.seen[r] = kvstore::see_shared_place({{there.maker, there.descriptor}, there.key}, bytes);
    if (!agreed.seen[r]) return false;
  }
  return true;
}

// The whole sum of a block is made in a near cache and goes from there to all ranks, whose
// processors have not had this memory last: past the caches.
void SharedSum::add_part(const Agreed& agreed, char* data, int64_t count, const MpiSum& sum) {
  const auto arrays = [&](std::size_t rank) {
    return agreed.seen[rank] ? agreed.seen[rank].get() : data;
  };
  const auto block = static_cast<int64_t>(kBlockBytes / sum.item);
  const int64_t end = count * (rank_ + 1) / size_;
  for (int64_t first = count * rank_ / size_; first < end; first += block) {
    const int64_t some = std::min(block, end - first);
    const std::size_t at = static_cast<std::size_t>(first) * sum.item,
                      bytes = static_cast<std::size_t>(some) * sum.item;
    std::memcpy(block_.data(), arrays(0) + at, bytes);
    for (std::size_t r = 1; r < agreed.seen.size(); ++r)
      sum.add(block_.data(), arrays(r) + at, some);
    for (std::size_t r = 0; r < agreed.seen.size(); ++r)
      stream_copy(arrays(r) + at, block_.data(), bytes);
  }
  finish_stream_copies();
}

bool SharedSum::run(uint64_t list, const kvstore::SharedPlace& place, char* data, int64_t count,
                    const MpiSum& sum, const std::function<bool(MPI_Request&)>& wait) {
  MPI_Request request;
  announced_[static_cast<std::size_t>(rank_)] = {place.segment.pid, place.segment.fd, place.key};
  MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, announced_.data(), sizeof(Announced), MPI_BYTE, comm_,
                 &request);
  if (!wait(request)) return false;
  // From here on all ranks know the same, and decide alike.
  const bool all_shared = std::all_of(announced_.begin(), announced_.end(),
                                      [](const Announced& one) { return one.descriptor >= 0; });
  if (!all_shared) return false;
  if (agreed_.size() >= kMostLists && agreed_.count(list) == 0) agreed_.clear();
  Agreed& agreed = agreed_[list];
  if (agreed.places != announced_) {
    agreed.places = announced_;
    all_see_ = see_all(announced_, static_cast<std::size_t>(count) * sum.item, agreed) ? 1 : 0;
    MPI_Iallreduce(MPI_IN_PLACE, &all_see_, 1, MPI_INT, MPI_MIN, comm_, &request);
    if (!wait(request)) return false;
    agreed.all_see = all_see_ != 0;
    if (!agreed.all_see) agreed.seen.clear();
  }
  if (!agreed.all_see) return false;
  add_part(agreed, data, count, sum);
  MPI_Ibarrier(comm_, &request);
  wait(request);
  return true;
}

}  // namespace mxnet::mpi
