// SPDX-License-Identifier: Apache-2.0
// What a group does when rank 0 has decided: collectives, small ones of one type together.
#include <algorithm>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "plugin/mpi/messages.h"
#include "plugin/mpi/mpi_group.h"
#include "plugin/mpi/mpi_types.h"

namespace mxnet::mpi {
namespace {

using kvstore::CollectiveKind;
using kvstore::CollectiveRequest;

// Elements of one call: MPI counts in int.
constexpr int64_t kMostElements = 1 << 30;
// Elements from which on our own ring is faster than MPI's sums; below, fewer messages count.
constexpr int64_t kRingElements = 64 << 10;

}  // namespace

// All of one kind and type; each id once.
void MpiGroup::run_batch(const std::vector<uint64_t>& ids) {
  std::vector<const CollectiveRequest*> requests;
  int64_t count = 0;
  for (const uint64_t id : ids) {
    requests.push_back(&pending_.at(id).front());
    count += requests.back()->count;
  }
  const CollectiveRequest& first = *requests.front();
  char* data = static_cast<char*>(first.data);
  const auto each_part = [&](auto&& copy) {
    char* at = batch_.data();
    for (const CollectiveRequest* request : requests) {
      const std::size_t bytes =
          static_cast<std::size_t>(request->count) * dtype_size(request->dtype);
      copy(at, static_cast<char*>(request->data), bytes);
      at += bytes;
    }
  };
  const bool together = requests.size() > 1;
  if (together) {
    batch_.resize(static_cast<std::size_t>(count) * dtype_size(first.dtype));
    data = batch_.data();
    each_part([](char* batch, const char* own, std::size_t n) { std::memcpy(batch, own, n); });
  }
  run_one(first, data, count);
  if (lost_rank_ >= 0) return;  // all requests have failed
  if (together)
    each_part([](const char* batch, char* own, std::size_t n) { std::memcpy(own, batch, n); });
  for (const uint64_t id : ids) complete(id, nullptr);
}

void MpiGroup::run_one(const CollectiveRequest& what, char* data, int64_t count) {
  const CollectiveKind kind = what.kind;
  MPI_Request request;
  if (kind == CollectiveKind::kBarrier) {
    MPI_Ibarrier(data_, &request);
    wait(request);
    return;
  }
  const MpiSum sum = mpi_sum(what.dtype);
  if (kind == CollectiveKind::kGather) return gather(data, count, sum);
  const bool apart = data == what.data;  // not copied together with others, on no rank
  if (kind == CollectiveKind::kSum && what.list && apart && shared_->near() &&
      count >= kRingElements && count <= kMostElements) {
    const auto wait_for = [this](MPI_Request& meeting) { return wait(meeting); };
    if (shared_->run(id_of(what), what.place, data, count, sum, wait_for) || lost_rank_ >= 0)
      return;
  }
  const std::size_t item = dtype_size(what.dtype);
  for (int64_t start = 0; start < count && lost_rank_ < 0; start += kMostElements) {
    const int part = static_cast<int>(std::min(kMostElements, count - start));
    char* const from = data + static_cast<std::size_t>(start) * item;
    if (kind == CollectiveKind::kSum && part >= kRingElements) {
      ring_->run(from, part, sum, [this] {
        hear_of_others();
        watch();
        return lost_rank_ < 0;
      });
      continue;
    }
    if (kind == CollectiveKind::kSum) {
      MPI_Iallreduce(MPI_IN_PLACE, from, part, sum.type, sum.op, data_, &request);
    } else {
      MPI_Ibcast(from, part, sum.type, 0, data_, &request);
    }
    wait(request);
  }
}

// `count` elements of each rank. Of more than a call takes, a piece of each rank's at a time, which
// lie as far from each other as the wholes do.
void MpiGroup::gather(char* data, int64_t count, const MpiSum& sum) {
  for (int64_t start = 0; start < count && lost_rank_ < 0; start += kMostElements) {
    const int part = static_cast<int>(std::min(kMostElements, count - start));
    const auto item = static_cast<MPI_Aint>(sum.item);
    MPI_Datatype piece, spread;
    MPI_Type_contiguous(part, sum.type, &piece);
    MPI_Type_create_resized(piece, 0, count * item, &spread);
    MPI_Type_commit(&spread);
    MPI_Request request;
    MPI_Iallgather(MPI_IN_PLACE, 0, sum.type, data + start * item, 1, spread, data_, &request);
    wait(request);
    MPI_Type_free(&spread);
    MPI_Type_free(&piece);
  }
}

// False, and early, when a rank is lost.
bool MpiGroup::wait(MPI_Request& request) {
  for (int tries = 1; lost_rank_ < 0; ++tries) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return true;
    if (tries % 16 != 0) continue;
    hear_of_others();
    watch();
    std::this_thread::yield();
  }
  return false;
}

}  // namespace mxnet::mpi
