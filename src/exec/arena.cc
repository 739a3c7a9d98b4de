// SPDX-License-Identifier: Apache-2.0
// An arena's memory is replaced as a whole, when nobody uses it: whoever lies there need not hold
// on to what it had.
#include "exec/arena.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/engine.h"
#include "exec/plan_instance.h"

namespace mxnet {
namespace {

// Less than this too much is not worth the placing of all plans in another memory.
constexpr std::size_t kUncounted = std::size_t{1} << 20;

std::size_t sum_of(std::span<const std::size_t> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
}

}  // namespace

void Arena::reserve(std::span<const std::size_t> bytes) {
  needed_[now_] = std::max(needed_[now_], sum_of(bytes));
  if (holds(bytes)) [[likely]]
    return;
  vacate();
  for (std::size_t a = 0; a < bytes.size(); ++a)
    if (!holds(a, bytes[a])) replace(a, bytes[a]);
}

void Arena::join(std::span<const std::size_t> bytes) {
  now_ = (now_ + 1) % needed_.size();
  needed_[now_] = sum_of(bytes);
  if (this->bytes() <= *std::ranges::max_element(needed_) + kUncounted) return;
  vacate();
  pieces_.clear();
  reserve(bytes);
}

// Before pieces are replaced.
void Arena::vacate() {
  await(pieces_);
  if (PlanInstance* const run = std::exchange(open_run_, nullptr); run != nullptr)
    run->take_over(std::exchange(pieces_, {}));
}

Ref<Arena> Arena::larger(std::span<const std::size_t> bytes) const {
  std::vector<std::size_t> both(bytes.begin(), bytes.end());
  both.resize(std::max(both.size(), pieces_.size()));
  for (std::size_t a = 0; a < pieces_.size(); ++a)
    both[a] = std::max(both[a], pieces_[a].chunk->bytes());
  auto made = make_ref<Arena>(device_);
  made->reserve(both);
  return made;
}

bool Arena::holds(std::span<const std::size_t> bytes) const {
  for (std::size_t a = 0; a < bytes.size(); ++a)
    if (!holds(a, bytes[a])) return false;
  return true;
}

std::size_t Arena::bytes() const {
  std::size_t sum = 0;
  for (const Piece& piece : pieces_) sum += piece.chunk->bytes();
  return sum;
}

// What they have failed with is told where they write.
void Arena::await(std::span<const Piece> pieces) {
  for (const Piece& piece : pieces) {
    try {
      Engine::get().wait_for_var(piece.chunk->var());
    } catch (...) {
    }
  }
}

void Arena::replace(std::size_t piece, std::size_t bytes) {
  if (piece == pieces_.size())
    pieces_.push_back({.chunk = {}, .scratch = std::make_unique<PlanScratch>(Device::cpu())});
  pieces_[piece].chunk = make_ref<Chunk>(device_, bytes, "activations");
  ++generation_;
}

}  // namespace mxnet
