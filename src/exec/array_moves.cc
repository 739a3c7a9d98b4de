// SPDX-License-Identifier: Apache-2.0
// Comparing recordings. Few arrays move, and most lists are of those that do not.
#include "exec/array_moves.h"

#include <algorithm>
#include <utility>

namespace mxnet {
namespace {

// What kernels may ask of an address: no more than pools and cudaMalloc promise.
constexpr uint64_t kAlignment = 256;

// Reading a graph's arguments takes time, and what was not found out in so many is not to be.
constexpr int kMostRecordings = 8;

bool overlap(const char* a, std::size_t a_bytes, const char* b, std::size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

// Into moves_; false where what lay together goes different ways, or comes to lie together.
bool ArrayMoves::find_moves(const Addresses& at) {
  moved_ = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if ((at[i] == nullptr) != (first_[i] == nullptr)) return false;
    if (at[i] == first_[i] || bytes_[i] == 0) continue;
    const Move move{static_cast<const char*>(first_[i]), bytes_[i],
                    reinterpret_cast<uintptr_t>(at[i]) - reinterpret_cast<uintptr_t>(first_[i]), i};
    if (move.by % kAlignment != 0 || moved_ == kMostMoves) return false;
    if (std::ranges::none_of(moves(), [&](const Move& other) {
          return other.from == move.from && other.bytes == move.bytes && other.by == move.by;
        }))
      moves_[moved_++] = move;
  }
  for (const Move& move : moves()) {
    const auto* to = static_cast<const char*>(at[move.array]);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto* before = static_cast<const char*>(first_[i]);
      const auto* now = static_cast<const char*>(at[i]);
      const bool same_way = now - before == to - move.from;
      if (!same_way && (overlap(move.from, move.bytes, before, bytes_[i]) ||
                        overlap(to, move.bytes, now, bytes_[i])))
        return false;
    }
  }
  return true;
}

// Which words follow which of moves_.
bool ArrayMoves::learn(const GraphArguments& second) {
  followers_.clear();
  if (second.calls != recorded_.calls || second.words.size() != recorded_.words.size())
    return false;
  for (std::size_t w = 0; w < second.words.size(); ++w) {
    const uint64_t before = recorded_.words[w], by = second.words[w] - before;
    if (by == 0) continue;
    const Move* followed = nullptr;
    for (const Move& move : moves()) {
      const uint64_t into = before - reinterpret_cast<uintptr_t>(move.from);
      if (by != move.by || into > move.bytes) continue;
      // The end of one that is another's beginning may be either's.
      if (followed != nullptr && !overlap(followed->from, followed->bytes, move.from, move.bytes))
        return false;
      followed = &move;
    }
    if (followed == nullptr) return false;
    followers_.push_back({w, followed->array});
  }
  // An array that no word follows reaches its kernel by a way that is not seen here. (A word at its
  // end may be of the array behind it.)
  return std::ranges::all_of(moves(), [&](const Move& move) {
    return std::ranges::any_of(followers_, [&](const Follower& follower) {
      return recorded_.words[follower.word] - reinterpret_cast<uintptr_t>(move.from) < move.bytes;
    });
  });
}

bool ArrayMoves::foretell(const Addresses& at) {
  if (!find_moves(at)) return false;
  for (const Move& move : moves())
    if (second_[move.array] == first_[move.array]) return false;
  foretold_ = recorded_;
  for (const Follower& follower : followers_)
    foretold_.words[follower.word] += reinterpret_cast<uintptr_t>(at[follower.array]) -
                                      reinterpret_cast<uintptr_t>(first_[follower.array]);
  return true;
}

void ArrayMoves::add(const Addresses& at, GraphArguments&& arguments) {
  if (recordings_++ == 0) {
    first_ = at;
    recorded_ = std::move(arguments);
    return;
  }
  if (!second_.empty() && foretell(at)) {
    proven_ = foretold_ == arguments;
    in_vain_ = !proven_;
    return;
  }
  proven_ = false;
  second_.clear();
  if (find_moves(at)) {
    in_vain_ = !learn(arguments);
    second_ = at;
  }
  in_vain_ |= recordings_ >= kMostRecordings;
}

const GraphArguments* ArrayMoves::arguments(const Addresses& at) {
  return proven_ && !in_vain_ && foretell(at) ? &foretold_ : nullptr;
}

}  // namespace mxnet
