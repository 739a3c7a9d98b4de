// SPDX-License-Identifier: Apache-2.0
// Rounds of a ring. Messages of one pair of ranks and one tag arrive in order, so segments need no
// numbers.
#include "plugin/mpi/ring_sum.h"

#include <algorithm>
#include <array>
#include <thread>

namespace mxnet::mpi {
namespace {

constexpr int kAddTag = 1, kCopyTag = 2;
// Elements that are added at once: a quarter of a second-level cache, and enough for full speed.
constexpr int64_t kSegment = 64 << 10;

int64_t segments(int64_t first, int64_t last) { return (last - first + kSegment - 1) / kSegment; }

}  // namespace

RingSum::Range RingSum::part(int64_t count, int number) const {
  const int64_t n = (number % size_ + size_) % size_;
  return {count * n / size_, count * (n + 1) / size_};
}

bool RingSum::wait(std::vector<MPI_Request>& requests) {
  for (int done = 0;;) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) return true;
    if (!(*go_on_)()) return false;
    std::this_thread::yield();
  }
}

// Sends one part to the next rank and adds the previous rank's to another.
bool RingSum::add_round(char* data, Range out, Range in, const MpiSum& sum) {
  const int next = (rank_ + 1) % size_, previous = (rank_ + size_ - 1) % size_;
  const std::size_t item = sum.item;
  const auto segment = [](Range range, int64_t number) {
    const int64_t first = range.first + number * kSegment;
    return Range{first, std::min(first + kSegment, range.last)};
  };
  std::vector<MPI_Request> sends(static_cast<std::size_t>(segments(out.first, out.last)));
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const Range piece = segment(out, static_cast<int64_t>(i));
    MPI_Isend(data + static_cast<std::size_t>(piece.first) * item,
              static_cast<int>(piece.last - piece.first), sum.type, next, kAddTag, comm_,
              &sends[i]);
  }
  std::array<std::vector<MPI_Request>, 2> receives;
  const auto place = [&](int64_t i) {
    return arriving_.data() + static_cast<std::size_t>(i % 2 * kSegment) * item;
  };
  const auto receive = [&](int64_t i) {
    const Range piece = segment(in, i);
    std::vector<MPI_Request>& request = receives[static_cast<std::size_t>(i % 2)];
    request.resize(1);
    MPI_Irecv(place(i), static_cast<int>(piece.last - piece.first), sum.type, previous, kAddTag,
              comm_, request.data());
  };
  const int64_t count = segments(in.first, in.last);
  for (int64_t i = 0; i < std::min<int64_t>(2, count); ++i) receive(i);
  for (int64_t i = 0; i < count; ++i) {
    if (!wait(receives[static_cast<std::size_t>(i % 2)])) return false;
    const Range piece = segment(in, i);
    sum.add(data + static_cast<std::size_t>(piece.first) * item, place(i),
            piece.last - piece.first);
    if (i + 2 < count) receive(i + 2);
  }
  return wait(sends);
}

void RingSum::run(char* data, int64_t count, const MpiSum& sum,
                  const std::function<bool()>& go_on) {
  go_on_ = &go_on;
  arriving_.resize(static_cast<std::size_t>(2 * kSegment) * sum.item);
  for (int round = 0; round < size_ - 1; ++round) {
    if (!add_round(data, part(count, rank_ - round), part(count, rank_ - round - 1), sum)) return;
  }
  const int next = (rank_ + 1) % size_, previous = (rank_ + size_ - 1) % size_;
  for (int round = 0; round < size_ - 1; ++round) {
    const Range out = part(count, rank_ + 1 - round), in = part(count, rank_ - round);
    std::vector<MPI_Request> both(2);
    MPI_Irecv(data + static_cast<std::size_t>(in.first) * sum.item,
              static_cast<int>(in.last - in.first), sum.type, previous, kCopyTag, comm_, &both[0]);
    MPI_Isend(data + static_cast<std::size_t>(out.first) * sum.item,
              static_cast<int>(out.last - out.first), sum.type, next, kCopyTag, comm_, &both[1]);
    if (!wait(both)) return;
  }
}

}  // namespace mxnet::mpi
