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
  ++generation_;
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

// What they have failed with is told where they write: the wait throws no more than that it ended
// early.
void Arena::await(std::span<const Piece> pieces) {
  if (pieces.empty()) return;
  std::vector<Var*> vars;
  for (const Piece& piece : pieces) vars.push_back(piece.chunk->var());
  Engine::get().push([](const RunContext&) {}, {.device = Device::cpu(),
                                                .reads = {},
                                                .writes = vars,
                                                .name = "EndOfActivations",
                                                .cheap = true,
                                                .fresh = static_cast<uint32_t>(vars.size())});
  Engine::get().wait_for_var(vars.front());
}

void Arena::replace(std::size_t piece, std::size_t bytes) {
  auto chunk = make_ref<Chunk>(device_, bytes, "activations");
  if (piece == pieces_.size())
    pieces_.push_back({.chunk = {}, .scratch = std::make_unique<PlanScratch>(Device::cpu())});
  pieces_[piece].chunk = std::move(chunk);
}

}  // namespace mxnet
