// SPDX-License-Identifier: Apache-2.0
// Who of a group is still there: signs of life, goodbyes, and what happens when somebody is lost.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "plugin/mpi/frames.h"
#include "plugin/mpi/mpi_group.h"

namespace mxnet::mpi {
namespace {

// Between looks at who is still there.
constexpr std::chrono::milliseconds kCheck{100};
// So much of a message leaves at once, whoever waits for it: nothing is sent after a loss.
constexpr std::size_t kLongestReason = 1000;
// A look that comes so much later says that this thread did not run.
constexpr std::chrono::seconds kStall{1};
// Of what lies between signs of life: after so much the next one is late.
constexpr double kOverdue = 1.5;

}  // namespace

void MpiGroup::say_goodbye() {
  peers_[static_cast<std::size_t>(rank_)].leaving = true;
  if (rank_ != 0) send(0, kGoodbye, {});
  for (int server = size_; server < all_ && !is_server(); ++server) send(server, kGoodbye, {});
}

// While a collective is under way, what else arrives waits its turn.
void MpiGroup::hear_of_others() {
  if (Clock::now() < next_check_) return;
  int there = 0;
  MPI_Status status;
  while (MPI_Iprobe(MPI_ANY_SOURCE, kHeartbeat, control_, &there, &status), there != 0) {
    MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, kHeartbeat, control_, MPI_STATUS_IGNORE);
    peers_[static_cast<std::size_t>(status.MPI_SOURCE)].heard = Clock::now();
  }
  MPI_Iprobe(MPI_ANY_SOURCE, kLoss, control_, &there, &status);
  if (there == 0) return;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  std::vector<char> bytes(static_cast<std::size_t>(count));
  MPI_Recv(bytes.data(), count, MPI_BYTE, status.MPI_SOURCE, kLoss, control_, MPI_STATUS_IGNORE);
  try {
    hear_loss(bytes);
  } catch (const BadMessage& bad) {
    lose(status.MPI_SOURCE, bad.what());
  }
}

// Everybody watches everybody: whoever is left knows, even inside a collective. What this thread
// has slept through (a stopped process, a machine that stood still) says nothing about the others.
// Of several that are silent the first to fall so is lost: others may have ended for that.
void MpiGroup::watch() {
  const Clock::time_point now = Clock::now();
  if (now < next_check_ || all_ == 1) return;
  const auto late = now - next_check_;
  const bool stood_still = late > kStall;
  if (stood_still)
    for (Peer& peer : peers_) peer.heard = std::min(now, peer.heard + late);
  next_check_ = now + kCheck;
  const bool beat = now >= next_beat_;
  if (beat) next_beat_ = now + seconds(options_.heartbeat_seconds);
  int silent = -1;  // for the longest:
  Clock::time_point since = now - seconds(options_.timeout_seconds);
  for (int other = 0; other < all_; ++other) {
    if (other == rank_) continue;
    if (beat) send(other, kHeartbeat, {});
    Peer& peer = peers_[static_cast<std::size_t>(other)];
    excuse(peer, now, stood_still ? kCheck : kCheck + late);
    if (peer.heard >= since) continue;
    since = peer.heard;
    silent = other;
  }
  if (silent < 0) return;
  tell_loss(silent, {});
  lose(silent);
}

// Who is late with a sign of life and cannot give one for want of a core is given the time `since`
// the last look. Between machines nobody can see that.
void MpiGroup::excuse(Peer& peer, Clock::time_point now, Clock::duration since) {
  if (now - peer.heard <= seconds(kOverdue * options_.heartbeat_seconds)) {
    peer.starving.end();
  } else if (peer.starving.excuses(peer.thread.look(), since)) {
    peer.heard = std::min(now, peer.heard + since);
  }
}

// The others would hear no more of this process than that it has ended. `why`: empty of one that is
// silent, who hears nothing either.
void MpiGroup::tell_loss(int rank, std::string_view why) {
  const int32_t who = rank;
  std::vector<char> bytes(sizeof who);
  std::memcpy(bytes.data(), &who, sizeof who);
  why = why.substr(0, kLongestReason);
  bytes.insert(bytes.end(), why.begin(), why.end());
  for (int other = 0; other < all_; ++other)
    if (other != rank_ && (other != rank || !why.empty())) send(other, kLoss, bytes);
}

void MpiGroup::hear_loss(const std::vector<char>& bytes) {
  int32_t who = -1;
  if (bytes.size() >= sizeof who) std::memcpy(&who, bytes.data(), sizeof who);
  if (who < 0 || who >= all_ || bytes.size() > sizeof who + kLongestReason)
    throw BadMessage(fmt::format("given {} bytes, expected who is lost and why", bytes.size()));
  lose(who, std::string(bytes.begin() + sizeof who, bytes.end()));
}

// `why`: empty where it is silent.
void MpiGroup::lose(int rank, const std::string& why) {
  if (lost_rank_ >= 0) return;
  lost_rank_ = rank;
  why_lost_ = why.empty() ? fmt::format(
                                "it has ended, or nothing was heard of it for {} s "
                                "(PS_HEARTBEAT_TIMEOUT)",
                                options_.timeout_seconds)
                          : fmt::format("what it sent cannot be read: {}", why);
  lost_.store(rank, std::memory_order_relaxed);
  // Kept, as long as this process: others may still read and write the memory of one under way.
  given_up_ = std::exchange(pending_, {});
  for (auto& [id, rounds] : given_up_)
    for (kvstore::CollectiveRequest& request : rounds) request.done(loss());
  calls_.close(loss());
}

std::exception_ptr MpiGroup::loss() const {
  const std::string who = lost_rank_ < size_
                              ? fmt::format("rank {} of {}", lost_rank_, size_)
                              : fmt::format("server {} of {} (rank {} of all {})",
                                            lost_rank_ - size_, servers(), lost_rank_, all_);
  return std::make_exception_ptr(
      Error(ErrorCode::kGeneric, "kvstore", fmt::format("{} is lost: {}", who, why_lost_)));
}

}  // namespace mxnet::mpi
