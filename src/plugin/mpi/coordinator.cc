// SPDX-License-Identifier: Apache-2.0
// Rounds that fill up, then batches by priority.
#include "plugin/mpi/coordinator.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/dtype.h"
#include "kvstore/process_group.h"

namespace mxnet::mpi {
namespace {

// Requests of up to so many bytes travel together, up to so many bytes at once: below, a collective
// costs its latency more than its bytes.
constexpr int64_t kSmallBytes = 256 << 10, kBatchBytes = 4 << 20;

int64_t bytes_of(const Wish& wish) { return wish.count * wish.element_bytes; }

}  // namespace

const char* Coordinator::what(const Wish& wish) {
  switch (static_cast<kvstore::CollectiveKind>(wish.kind)) {
    case kvstore::CollectiveKind::kSum:
      return "a sum of ";
    case kvstore::CollectiveKind::kBroadcast:
      return "a first value of ";
    case kvstore::CollectiveKind::kGather:
      return "the gathering of ";
    case kvstore::CollectiveKind::kBarrier:
      break;
  }
  return "a barrier of ";
}

std::string Coordinator::describe(const Wish& wish) {
  return fmt::format("{} of {}", wish.count, dtype_name(static_cast<DType>(wish.dtype)));
}

bool Coordinator::lacks(int rank) const {
  return std::any_of(waiting_.begin(), waiting_.end(), [rank](const auto& named) {
    return !named.second.back().asked[static_cast<std::size_t>(rank)];
  });
}

bool Coordinator::at_odds() const {
  const auto is_list = [](const auto& named) { return named.second.front().first.list != 0; };
  return std::all_of(waits_.begin(), waits_.end(), [](int rounds) { return rounds > 0; }) &&
         std::any_of(waiting_.begin(), waiting_.end(), is_list);
}

Decision Coordinator::split() {
  Decision decision;
  decision.kind = Decision::kSplit;
  for (auto named = waiting_.begin(); named != waiting_.end();) {
    if (named->second.front().first.list == 0) {
      ++named;
      continue;
    }
    for (const Round& round : named->second)
      for (std::size_t rank = 0; rank < waits_.size(); ++rank) waits_[rank] -= round.asked[rank];
    decision.ids.push_back(named->first);
    split_.insert(named->first);
    named = waiting_.erase(named);
  }
  return decision;
}

void Coordinator::ask(int rank, const Wish& wish) {
  ++asked_;
  if (split_.count(wish.id) != 0) return;  // it has not heard of that yet
  std::deque<Round>& rounds = waiting_[wish.id];
  const auto place = static_cast<std::size_t>(rank);
  auto round =
      std::find_if(rounds.begin(), rounds.end(), [&](const Round& r) { return !r.asked[place]; });
  if (round == rounds.end()) {
    Round fresh;
    fresh.first = wish;
    fresh.first_rank = rank;
    fresh.asked.resize(static_cast<std::size_t>(ranks_));
    fresh.priority = wish.priority;
    round = rounds.insert(rounds.end(), std::move(fresh));
  }
  if (!wish.agrees_with(round->first) && round->refusal.empty()) {
    const bool alike = wish.kind == round->first.kind;
    const auto side = [&](int of, const Wish& given) {
      return fmt::format("rank {} gave {}{}", of, alike ? "" : what(given), describe(given));
    };
    const std::string first = side(round->first_rank, round->first), other = side(rank, wish);
    const bool ordered = round->first_rank < rank;
    round->refusal = fmt::format("key {}: {}, {}; expected the same", round->first.name,
                                 ordered ? first : other, ordered ? other : first);
  }
  round->asked[place] = true;
  ++waits_[place];
  round->priority = std::max(round->priority, wish.priority);
  if (++round->count < ranks_) return;
  for (int& rounds_of_rank : waits_) --rounds_of_rank;
  // Rounds of one name fill in order: nobody asks for the next before this one.
  round->order = completed_++;
  ready_.emplace_back(wish.id, std::move(*round));
  rounds.erase(round);
  if (rounds.empty()) waiting_.erase(wish.id);
}

bool Coordinator::next(Decision& decision) {
  decision = {};
  if (ready_.empty()) return false;
  std::sort(ready_.begin(), ready_.end(), [](const auto& a, const auto& b) {
    return a.second.priority != b.second.priority ? a.second.priority > b.second.priority
                                                  : a.second.order < b.second.order;
  });
  const Wish first = ready_.front().second.first;
  if (!ready_.front().second.refusal.empty()) {
    decision.kind = Decision::kRefuse;
    decision.reason = ready_.front().second.refusal;
    decision.ids.push_back(ready_.front().first);
    ready_.erase(ready_.begin());
    return true;
  }
  const auto is = [&](kvstore::CollectiveKind kind) {
    return first.kind == static_cast<int32_t>(kind);
  };
  const bool small =
      batches_ && (is(kvstore::CollectiveKind::kSum) || is(kvstore::CollectiveKind::kBroadcast)) &&
      bytes_of(first) <= kSmallBytes;
  int64_t bytes = 0;
  std::size_t taken = 0;
  // From the front only, so that nothing is overtaken.
  for (; taken < ready_.size(); ++taken) {
    const Round& round = ready_[taken].second;
    const bool again = std::find(decision.ids.begin(), decision.ids.end(), ready_[taken].first) !=
                       decision.ids.end();
    const bool fits = !again && round.refusal.empty() && round.first.kind == first.kind &&
                      round.first.dtype == first.dtype && bytes_of(round.first) <= kSmallBytes &&
                      bytes + bytes_of(round.first) <= kBatchBytes;
    if (taken > 0 && !(small && fits)) break;
    bytes += bytes_of(round.first);
    decision.ids.push_back(ready_[taken].first);
  }
  ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(taken));
  return true;
}

}  // namespace mxnet::mpi
