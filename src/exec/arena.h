// SPDX-License-Identifier: Apache-2.0
// Memory for the activations of plans that never run at the same time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/plan_scratch.h"
#include "ndarray/chunk.h"

namespace mxnet {

class PlanInstance;

// The memory of one plan after the other (the buckets of one model, the shapes of a cached op's
// inputs). Used by one thread at a time, and by the operations that it has pushed.
class Arena : public RefCounted {
 public:
  // Plans that join before the memory goes that only others need, which have not run meanwhile.
  static constexpr std::size_t kPlansRemembered = 8;

  // Operations that use the scratch memory write the chunk's variable, too.
  struct Piece {
    Ref<Chunk> chunk;
    std::unique_ptr<PlanScratch> scratch;
  };
  explicit Arena(Device device) : device_(device) {}

  // For a run: as many pieces or more, of so many bytes or more. Where this takes other memory, it
  // first waits for what was pushed on the old one.
  void reserve(std::span<const std::size_t> bytes);
  // A plan that needs so much will run here. What none of those needs that have run lately goes.
  void join(std::span<const std::size_t> bytes);
  // Before `run` uses the memory: another one that is open keeps what it has there, and the arena
  // takes other memory.
  void make_way_for(const PlanInstance& run) {
    if (open_run_ != nullptr && open_run_ != &run) [[unlikely]]
      vacate();
  }
  // A run of which parts are still to come; null: none.
  void set_open_run(PlanInstance* run) { open_run_ = run; }
  const PlanInstance* open_run() const { return open_run_; }
  // Another one, with room for that and for what has room here.
  Ref<Arena> larger(std::span<const std::size_t> bytes) const;

  // Whether reserve() would take no memory.
  bool holds(std::span<const std::size_t> bytes) const;
  std::span<const Piece> pieces() const { return pieces_; }
  // Until nobody uses them. Throws where the program ends the wait.
  static void await(std::span<const Piece> pieces);
  // Changes whenever memory is replaced.
  uint64_t generation() const { return generation_; }
  std::size_t bytes() const;  // of all, without scratch memory

 private:
  bool holds(std::size_t piece, std::size_t bytes) const {
    return piece < pieces_.size() && pieces_[piece].chunk->bytes() >= bytes;
  }
  void vacate();
  void replace(std::size_t piece, std::size_t bytes);

  const Device device_;
  std::vector<Piece> pieces_;
  uint64_t generation_ = 0;
  PlanInstance* open_run_ = nullptr;
  // The most that a run needed between one plan's joining and the next one's; around.
  std::array<std::size_t, kPlansRemembered + 1> needed_{};
  std::size_t now_ = 0;  // in needed_
};

}  // namespace mxnet
