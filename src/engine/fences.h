// SPDX-License-Identifier: Apache-2.0
// What operations have left on the streams of GPUs: an operation that says complete_by_event() ends
// for the engine when its work is on the stream. An event recorded behind the work orders whoever
// comes after: streams wait for it on the device, the host only where it looks at the data.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/lock.h"
#include "device/stream.h"

namespace mxnet {
class Var;
}

namespace mxnet::engine {

// Called by the function of a synchronous operation on a GPU: all that it has done there is on its
// stream, and fails only as the whole device does. Without it the engine waits for the stream. An
// operation that throws, or that a profiler observes, is waited for all the same.
void complete_by_event() noexcept;

// The stream of the operation that this thread runs; null on the CPU and outside of operations.
Stream* current_stream() noexcept;

class Fences;

// The end of one operation's work: an event that was recorded once.
class Fence {
 public:
  Fence(Fences& owner, std::unique_ptr<Event> event, const Stream& stream)
      : owner_(owner),
        event_(std::move(event)),
        api_(&stream.api()),
        device_(stream.device()),
        stream_(stream.native()) {}
  ~Fence();
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  bool ends(const Stream& stream) const {
    return api_ == &stream.api() && stream_ == stream.native();
  }
  // Orders what comes next on `stream`, or, where that is null, on this thread, behind it.
  void order(Stream* stream);

 private:
  Fences& owner_;
  std::unique_ptr<Event> event_;
  DeviceApi* const api_;
  const int device_;
  const NativeStream* const stream_;  // for comparison only: it may be gone
};
using FenceRef = std::shared_ptr<Fence>;

// Of one variable: its last write, and the reads since then, one a stream.
struct VarFences {
  FenceRef write;
  std::vector<FenceRef> reads;
};

// Thread-safe. An operation that calls with variables has been granted them, so that what belongs
// to them only grows by reads beside it.
class Fences {
 public:
  // Whether any operation of this engine ever left work: until then all else here is free. Relaxed:
  // whoever depends on such an operation has been granted a variable since, which acquires.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  // Whether an operation on the CPU might have to wait for a device.
  bool pending(std::span<Var* const> vars) const { return any() && pending_in(vars); }

  // Before an operation runs: behind what it must come after. Throws what the device throws.
  void order_behind(std::span<Var* const> reads, std::span<Var* const> writes, Stream* stream) {
    if (any()) order_behind_pending(reads, writes, stream);
  }
  // After one that leaves its work: records the end of it.
  void leave(std::span<Var* const> reads, std::span<Var* const> writes, Stream& stream);
  // After one that does not: nothing before it is of interest any more.
  void clear(std::span<Var* const> writes) {
    if (any()) clear_pending(writes);
  }

  // Waits on the calling thread for the variable's writes, or for reads as well.
  void wait(Var* var, bool reads_too);
  // Waits for all work that was left so far. Throws the first error of a device, after all waiting.
  void wait_all();

  void lock_for_fork() MX_NO_THREAD_SAFETY_ANALYSIS;
  void unlock_after_fork() MX_NO_THREAD_SAFETY_ANALYSIS;

 private:
  friend class Fence;
  using List = std::vector<FenceRef>;

  // The same once work was left.
  bool pending_in(std::span<Var* const> vars) const;
  void order_behind_pending(std::span<Var* const> reads, std::span<Var* const> writes,
                            Stream* stream);
  void clear_pending(std::span<Var* const> writes);

  struct Spare {
    DeviceApi* api;
    int device;
    std::unique_ptr<Event> event;
  };
  std::unique_ptr<Event> take_event(Stream& stream);
  void give_event(DeviceApi* api, int device, std::unique_ptr<Event> event) noexcept;

  std::atomic<bool> any_{false};
  Mutex mutex_;        // also guards every VarFences
  Mutex spare_mutex_;  // taken last
  std::vector<Spare> spare_ MX_GUARDED_BY(spare_mutex_);
  List latest_ MX_GUARDED_BY(mutex_);  // one a stream, since the last wait_all; goes first
};

}  // namespace mxnet::engine
