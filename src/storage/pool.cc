// SPDX-License-Identifier: Apache-2.0
// A pool's hot path, its counters and its part in flushing and forking. What happens on a miss:
// pool_refill.cc.
#include "storage/pool.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/hooks.h"

namespace mxnet {

Pool::Pool(Setup setup, MemoryDomain& domain)
    : device_(setup.device),
      type_(setup.type),
      rounding_(setup.rounding),
      reserve_percent_(setup.reserve_percent),
      by_stream_(setup.device.type == DeviceType::kGPU),
      ordered_(by_stream_ || setup.device.type == DeviceType::kCPUPinned),
      may_be_shared_(setup.device.type == DeviceType::kCPUShared),
      dies_with_fork_(setup.dies_with_fork),
      source_(std::move(setup.source)),
      domain_(domain),
      lanes_(tags_) {
  if (by_stream_) {
    for (Lane*& lane : stream_lanes_) lane = &lanes_.add();
  }
  domain_.join(this);
}

Pool::~Pool() {
  MutexLock lock(domain_.mutex);
  flush();
}

std::size_t Pool::stream_lane(const Stream* stream) {
  if (stream == nullptr) return 0;
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;  // spreads neighbouring addresses
  return (reinterpret_cast<uintptr_t>(stream->native()) * kGolden) >> 60;
}

bool Pool::take(Lane& lane, std::size_t capacity, NativeStream* stream, FreeBlock* out) {
  if (!ordered_) return lane.free.pop(capacity, out);
  const auto fits = [stream](const FreeBlock& block) {
    return block.ready == nullptr || (stream != nullptr && block.stream == stream) ||
           block.ready->event.done();
  };
  if (!lane.free.pop(capacity, fits, out)) return false;
  events_.recycle(std::exchange(out->ready, nullptr));
  return true;
}

Block Pool::allocate(std::size_t bytes, Device device, const char* tag, Stream* stream) {
  const std::size_t capacity = rounding_(bytes);
  Lane& lane = lane_for(stream);
  NativeStream* native = stream != nullptr ? stream->native() : nullptr;
  FreeBlock found;
  bool hit, above = false;
  {
    SpinGuard guard(lane.lock);
    hit = take(lane, capacity, native, &found);
    if (hit) {
      above = lane.count_out(in_use_, tag, bytes, capacity);
      ++lane.hits;
    }
  }
  if (!hit) [[unlikely]] {
    found = refill(lane, capacity, bytes, stream);
    SpinGuard guard(lane.lock);
    above = lane.count_out(in_use_, tag, bytes, capacity);
  }
  if (above) [[unlikely]]
    settle();
  const RawBlock& raw = found.raw;
  const Block block{raw.data, bytes, capacity, device, tag, raw.shared_fd, raw.shared_key};
  notify(block, static_cast<int64_t>(capacity));
  return block;
}

void Pool::release(const Block& block, Stream* stream) noexcept {
  notify(block, -static_cast<int64_t>(block.capacity));
  if (dead_) return;
  FreeBlock free{{block.data, block.capacity, block.shared_fd, block.shared_key}};
  if (ordered_ && stream != nullptr) {
    free.stream = stream->native();
    free.ready = events_.record(*stream);
  }
  const bool keep =
      type_ != PoolType::kUnpooled && (!may_be_shared_ || source_->reusable(free.raw));
  Lane& lane = lane_for(stream);
  if (keep) {
    SpinGuard guard(lane.lock);
    lane.count_back(in_use_, block.tag, block.bytes, block.capacity);
    try {
      lane.free.push(free, domain_.now());
      return;
    } catch (const std::bad_alloc&) {  // no room to remember it: the system gets it
    }
  } else {
    SpinGuard guard(lane.lock);
    lane.count_back(in_use_, block.tag, block.bytes, block.capacity);
  }
  give_back(free);
}

void Pool::release_direct(const Block& block) noexcept {
  notify(block, -static_cast<int64_t>(block.capacity));
  if (dead_) return;
  {
    Lane& lane = lane_for(nullptr);
    SpinGuard guard(lane.lock);
    lane.count_back(in_use_, block.tag, block.bytes, block.capacity);
  }
  give_back({{block.data, block.capacity, block.shared_fd, block.shared_key}});
}

void Pool::adopt(const Block& block) {
  grow(block.capacity);
  bool above;
  {
    Lane& lane = lane_for(nullptr);
    SpinGuard guard(lane.lock);
    above = lane.count_out(in_use_, block.tag, block.bytes, block.capacity);
  }
  if (above) settle();
  notify(block, static_cast<int64_t>(block.capacity));
}

void Pool::notify(const Block& block, int64_t bytes) const {
  if (Observer* watcher = observer()) [[unlikely]] {
    watcher->memory_event(block.device, block.tag, bytes);
  }
}

void Pool::give_back(const FreeBlock& block) noexcept {
  events_.await(block.ready);
  source_->release(block.raw);
  footprint_.fetch_sub(static_cast<int64_t>(block.raw.capacity), std::memory_order_relaxed);
}

void Pool::grow(std::size_t capacity) {
  const auto bytes = static_cast<int64_t>(capacity);
  const int64_t now = footprint_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t peak = peak_footprint_.load(std::memory_order_relaxed);
  while (now > peak &&
         !peak_footprint_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

std::size_t Pool::flush() noexcept {
  std::size_t given = 0;
  lanes_.for_each([&](Lane& lane) {
    for (FreeBlock block;;) {
      {
        SpinGuard guard(lane.lock);
        if (!lane.free.pop_oldest(&block)) break;
      }
      give_back(block);  // may wait for the device, so not under the lock
      given += block.raw.capacity;
    }
  });
  if (given > 0) flushes_.fetch_add(1, std::memory_order_relaxed);
  return given;
}

bool Pool::oldest_stamp(uint64_t* stamp) {
  bool any = false;
  lanes_.for_each([&](Lane& lane) {
    SpinGuard guard(lane.lock);
    if (lane.free.empty() || (any && lane.free.oldest_stamp() >= *stamp)) return;
    *stamp = lane.free.oldest_stamp();
    any = true;
  });
  return any;
}

std::size_t Pool::release_oldest() noexcept {
  Lane* oldest = nullptr;
  uint64_t stamp = 0;
  lanes_.for_each([&](Lane& lane) {
    SpinGuard guard(lane.lock);
    if (lane.free.empty() || (oldest != nullptr && lane.free.oldest_stamp() >= stamp)) return;
    oldest = &lane;
    stamp = lane.free.oldest_stamp();
  });
  if (oldest == nullptr) return 0;
  FreeBlock block;
  {
    SpinGuard guard(oldest->lock);
    if (!oldest->free.pop_oldest(&block)) return 0;  // its owner was faster
  }
  give_back(block);
  return block.raw.capacity;
}

void Pool::settle() {
  int moved = 0;
  lanes_.for_each([&](Lane& lane) {
    SpinGuard guard(lane.lock);
    if (lane.in_use.moved()) ++moved;
  });
  lanes_.for_each([&](Lane& lane) {
    SpinGuard guard(lane.lock);
    lane.in_use.settle(in_use_, moved <= 1);
    lane.tags.settle(moved <= 1);
  });
  in_use_.raise_peak();
  tags_.raise_peaks();
}

StorageStats Pool::stats() {
  StorageStats stats;
  settle();
  int64_t requested = 0;
  lanes_.for_each([&](Lane& lane) {
    SpinGuard guard(lane.lock);
    requested += lane.requested;
    stats.cached += lane.free.bytes();
    stats.hits += lane.hits;
  });
  // Between the lanes' visits blocks may have moved: never below zero, exact when nobody is at
  // work.
  const auto bytes = [](int64_t n) { return static_cast<std::size_t>(std::max<int64_t>(n, 0)); };
  stats.in_use = bytes(in_use_.value());
  stats.requested = bytes(requested);
  stats.peak_in_use = bytes(in_use_.peak());
  stats.peak_footprint = bytes(peak_footprint_.load(std::memory_order_relaxed));
  stats.hits += steals_.load(std::memory_order_relaxed);
  stats.misses = misses_.load(std::memory_order_relaxed);
  stats.flushes = flushes_.load(std::memory_order_relaxed);
  stats.system_allocations = system_allocations_.load(std::memory_order_relaxed);
  return stats;
}

void Pool::reset_peak() {
  MutexLock lock(domain_.mutex);
  settle();
  in_use_.reset_peak();
  tags_.reset_peaks();
  peak_footprint_.store(footprint_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void Pool::lock_lanes() MX_NO_THREAD_SAFETY_ANALYSIS {
  lanes_.for_each([](Lane& lane) MX_NO_THREAD_SAFETY_ANALYSIS { lane.lock.lock(); });
  tags_.lock_for_fork();
  events_.lock_for_fork();
}

void Pool::unlock_lanes() MX_NO_THREAD_SAFETY_ANALYSIS {
  events_.unlock_for_fork();
  tags_.unlock_for_fork();
  lanes_.for_each([](Lane& lane) MX_NO_THREAD_SAFETY_ANALYSIS { lane.lock.unlock(); });
}

void Pool::after_fork_in_child() MX_NO_THREAD_SAFETY_ANALYSIS {
  lanes_.keep_only_this_thread();
  if (!dies_with_fork_) return;
  dead_ = true;
  lanes_.for_each([&](Lane& lane) MX_NO_THREAD_SAFETY_ANALYSIS {
    footprint_.fetch_sub(static_cast<int64_t>(lane.free.bytes()), std::memory_order_relaxed);
    lane.free = FreeLists();  // forgotten, not released: the parent's memory is the parent's
  });
}

}  // namespace mxnet
