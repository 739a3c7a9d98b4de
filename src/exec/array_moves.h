// SPDX-License-Identifier: Apache-2.0
// Which words of a recorded graph's arguments are addresses in which arrays, found by comparing
// recordings of the same calls: so that arrays which lie in new places again need no recording.
//
// Two recordings tell which words follow which array; each difference has to be one array's move.
// A third one has to be what the first two foretell, before anybody relies on it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "device/graph_capture.h"

namespace mxnet {

// For one thread at a time.
class ArrayMoves {
 public:
  using Addresses = std::vector<const void*>;  // of the same arrays in the same order each time

  // `bytes` are the arrays' lengths.
  explicit ArrayMoves(std::vector<std::size_t> bytes) : bytes_(std::move(bytes)) {}

  // Whether another recording may teach something. Where not, none is needed, or they are in vain.
  bool learns() const { return !in_vain_; }
  void add(const Addresses& at, GraphArguments&& arguments);
  // They cannot be seen, or the device does not take them.
  void give_up() { in_vain_ = true; }
  // What the calls would be recorded with for arrays at `at`; null where that is not known: nothing
  // is proven yet, an array moves of which that was not seen, one has another alignment, or arrays
  // have come to lie apart or together, by which kernels may choose what they do.
  const GraphArguments* arguments(const Addresses& at);

 private:
  // More are rather all arrays of a graph than batches, and each is compared with each.
  static constexpr std::size_t kMostMoves = 32;

  struct Move {
    const char* from;
    std::size_t bytes;
    uint64_t by;
    std::size_t array;
  };
  struct Follower {
    std::size_t word, array;
  };

  std::span<const Move> moves() const { return {moves_.data(), moved_}; }
  bool find_moves(const Addresses& at);
  bool learn(const GraphArguments& second);
  bool foretell(const Addresses& at);

  std::vector<std::size_t> bytes_;
  Addresses first_, second_;
  GraphArguments recorded_;             // at first_
  std::vector<Follower> followers_;     // words that follow arrays
  std::array<Move, kMostMoves> moves_;  // of distinct arrays, from first_ to where was asked for
  std::size_t moved_ = 0;               // how many
  GraphArguments foretold_;
  int recordings_ = 0;
  bool proven_ = false, in_vain_ = false;
};

}  // namespace mxnet
