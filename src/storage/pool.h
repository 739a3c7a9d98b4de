// SPDX-License-Identifier: Apache-2.0
// A storage manager: one kind of memory of one device, cached by one of the strategies of
// rounding.h. Hits are served by the thread's own lane; whatever is not a hit goes through the
// domain's mutex (pool_refill.cc).
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "storage/lane_set.h"
#include "storage/memory_domain.h"
#include "storage/memory_source.h"
#include "storage/ready_event.h"
#include "storage/rounding.h"
#include "storage/storage.h"

namespace mxnet {

std::string format_bytes(std::size_t bytes);  // "1.50 GiB"

// Thread-safe.
//
// Invariants:
//   1. footprint = bytes handed out + bytes cached; it only grows under the domain's mutex
//      (Unpooled apart), and right after growing it is at most 1.5 times the peak of the bytes
//      handed out, which fades as memory is taken (or 1 MiB).
//   2. A block that work on stream A may still touch is handed to B only after B was told to wait
//      for A's event, and to the host or the device only after that event has happened.
class Pool {
 public:
  struct Setup {
    Device device;
    PoolType type;
    Rounding rounding;
    int reserve_percent;
    std::unique_ptr<MemorySource> source;
    bool dies_with_fork;  // its memory and events mean nothing in a forked child
  };
  Pool(Setup setup, MemoryDomain& domain);
  ~Pool();  // the last use of the pool is over
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // REQUIRES: bytes > 0. `device` is what the caller named (any CPU id is the one CPU).
  Block allocate(std::size_t bytes, Device device, const char* tag, Stream* stream);
  void release(const Block& block, Stream* stream) noexcept;
  void release_direct(const Block& block) noexcept;
  // Counts memory that came by another way (an attached segment) as handed out.
  void adopt(const Block& block);

  StorageStats stats();
  void reset_peak();
  MemoryDomain& domain() { return domain_; }

  static std::string table_head();
  std::string table_rows();

  // For the domain, which holds its mutex.
  std::size_t flush() noexcept;
  bool oldest_stamp(uint64_t* stamp);  // false when nothing is cached
  std::size_t release_oldest() noexcept;

  // Fork, between the domain's lock and unlock; see storage_fork.cc.
  void lock_lanes();
  void unlock_lanes();
  void after_fork_in_child();

 private:
  // Streams of a device are spread over so many lanes; engines use four a device, so two rarely
  // meet.
  static constexpr std::size_t kStreamLanes = 16;

  Lane& lane_for(Stream* stream) {
    return by_stream_ ? *stream_lanes_[stream_lane(stream)] : lanes_.mine();
  }
  static std::size_t stream_lane(const Stream* stream);
  bool take(Lane& lane, std::size_t capacity, NativeStream* stream, FreeBlock* out)
      MX_REQUIRES(lane.lock);
  void put(Lane& lane, const FreeBlock& block) noexcept MX_REQUIRES(domain_.mutex);
  void notify(const Block& block, int64_t bytes) const;
  // Brings all shares of all lanes into the meters, and the peaks up to date.
  void settle();

  FreeBlock refill(Lane& lane, std::size_t capacity, std::size_t bytes, Stream* stream);
  bool steal(Lane& lane, std::size_t capacity, NativeStream* stream, FreeBlock* out)
      MX_REQUIRES(domain_.mutex);
  bool steal_unfinished(std::size_t capacity, Stream& stream, FreeBlock* out)
      MX_REQUIRES(domain_.mutex);
  bool take_over(Lane& lane, std::size_t capacity, Stream* stream, FreeBlock* out)
      MX_REQUIRES(domain_.mutex);
  bool after_releases(Lane& lane, std::size_t capacity, Stream* stream, FreeBlock* found,
                      RawBlock* raw);
  void make_room(std::size_t capacity) MX_REQUIRES(domain_.mutex);
  RawBlock allocate_raw(std::size_t capacity);
  RawBlock allocate_or_flush(std::size_t capacity) MX_REQUIRES(domain_.mutex);
  void give_back(const FreeBlock& block) noexcept;
  void grow(std::size_t capacity);
  [[noreturn]] void out_of_memory(std::size_t bytes, std::size_t capacity);

  const Device device_;
  const PoolType type_;
  const Rounding rounding_;
  const int reserve_percent_;
  const bool by_stream_;      // lanes belong to streams, not threads
  const bool ordered_;        // work of streams may outlast a release
  const bool may_be_shared_;  // another process may look at a block
  const bool dies_with_fork_;
  bool dead_ = false;  // in a forked child; set while it has one thread
  const std::unique_ptr<MemorySource> source_;
  MemoryDomain& domain_;

  TagMeters tags_;
  Meter in_use_;
  ReadyEvents events_;
  LaneSet lanes_;
  std::array<Lane*, kStreamLanes> stream_lanes_{};

  // Relaxed: counters, which order nothing.
  alignas(64) std::atomic<int64_t> footprint_{0};
  std::atomic<int64_t> peak_footprint_{0};
  std::atomic<uint64_t> misses_{0}, steals_{0}, flushes_{0}, system_allocations_{0};
};

}  // namespace mxnet
