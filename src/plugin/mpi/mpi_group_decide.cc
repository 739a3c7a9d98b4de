// SPDX-License-Identifier: Apache-2.0
// What rank 0 of a group decides, and what all do then.
#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "plugin/mpi/frames.h"
#include "plugin/mpi/messages.h"
#include "plugin/mpi/mpi_group.h"

namespace mxnet::mpi {
namespace {

using kvstore::CollectiveRequest;

// So long every rank waits for another before they look into the lists that they wait for.
constexpr std::chrono::milliseconds kOdds{250};

}  // namespace

void MpiGroup::tell_all(const Decision& decision) {
  const std::vector<char> bytes = bytes_of(decision);
  // What is to be run concerns workers only.
  const bool of_workers = decision.kind != Decision::kLost && decision.kind != Decision::kEnd;
  for (int to = 1; to < (of_workers ? size_ : all_); ++to) send(to, kDecision, bytes);
}

void MpiGroup::decide(bool leaving) {
  Decision decision;
  while (lost_rank_ < 0 && coordinator_->next(decision)) {
    tell_all(decision);
    obey(decision);
  }
  if (lost_rank_ >= 0) return;
  if (!coordinator_->at_odds() || odds_asked_ != coordinator_->asked()) {
    odds_asked_ = coordinator_->asked();
    odds_since_ = Clock::now();
  } else if (Clock::now() - odds_since_ > kOdds) {
    decision = coordinator_->split();
    tell_all(decision);
    return obey(decision);
  }
  const auto leaves = [](const Peer& p) { return p.leaving; };
  const auto workers = std::span(peers_).first(static_cast<std::size_t>(size_));
  const auto servers = std::span(peers_).subspan(static_cast<std::size_t>(size_));
  const auto server = std::find_if(servers.begin(), servers.end(), leaves);
  const auto worker = std::find_if(workers.begin(), workers.end(), [&](const Peer& peer) {
    return peer.leaving && coordinator_->lacks(static_cast<int>(&peer - workers.data()));
  });
  decision = {};
  if (server != servers.end()) {
    decision.kind = Decision::kLost;
    decision.rank = static_cast<int32_t>(size_ + (server - servers.begin()));
  } else if (worker != workers.end()) {
    // Somebody waits for a rank that will not come.
    decision.kind = Decision::kLost;
    decision.rank = static_cast<int32_t>(worker - workers.begin());
  } else if (leaving && std::all_of(workers.begin(), workers.end(), leaves)) {
    decision.kind = Decision::kEnd;
  } else {
    return;
  }
  tell_all(decision);
  obey(decision);
}

void MpiGroup::obey(const Decision& decision) {
  switch (decision.kind) {
    case Decision::kRun:
      known(decision.ids);
      return run_batch(decision.ids);
    case Decision::kRefuse:
      known(decision.ids);
      return complete(decision.ids.front(), std::make_exception_ptr(Error(
                                                ErrorCode::kValue, "kvstore", decision.reason)));
    case Decision::kSplit:
      return split(decision.ids);
    case Decision::kLost:
      if (decision.rank < 0 || decision.rank >= all_)
        throw BadMessage(
            fmt::format("given the loss of rank {}, expected one of {}", decision.rank, all_));
      return lose(decision.rank);
    case Decision::kEnd:
      ended_ = true;
  }
}

// What rank 0 decides about, all have asked for: requests of one kind and type.
void MpiGroup::known(const std::vector<uint64_t>& ids) const {
  const CollectiveRequest* first = nullptr;
  for (const uint64_t id : ids) {
    const auto found = pending_.find(id);
    const CollectiveRequest* request = found == pending_.end() ? nullptr : &found->second.front();
    if (first == nullptr) first = request;
    if (request == nullptr || request->kind != first->kind || request->dtype != first->dtype)
      throw BadMessage(
          fmt::format("given a decision about {} requests, expected one about those "
                      "that all ranks have made",
                      ids.size()));
  }
}

// The oldest request of this id.
void MpiGroup::complete(uint64_t id, std::exception_ptr error) {
  const auto found = pending_.find(id);
  if (found == pending_.end())
    throw BadMessage("given a decision that has one request twice, expected it once");
  CollectiveRequest request = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) pending_.erase(found);
  request.done(std::move(error));
}

}  // namespace mxnet::mpi
