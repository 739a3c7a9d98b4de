// SPDX-License-Identifier: Apache-2.0
// What a pool does when a thread's lane has no block of the size, in this order: take one from
// another lane; make room within the limits by giving back old blocks; ask the device; flush all
// pools that share its memory and ask again; let releases that are on their way end; explain.
#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/error.h"
#include "base/memory_relief.h"
#include "device/cpu/host_memory.h"
#include "storage/pool.h"

namespace mxnet {
namespace {

// Footprint (in use + cached) may be 1.5 times the recent peak of what was in use. Below this size
// nobody counts: there a cache that remembers every size is worth more than the memory.
constexpr int64_t kSmallFootprint = 1 << 20;

// The peak fades by a quarter of what is taken from the device: a program that meets new sizes all
// the time gives memory back after some steps that need less, one whose sizes repeat takes nothing.
constexpr int64_t kFade = 4;

// How many blocks a thread takes over at once from one that frees what it allocates, so that a
// producer and a consumer meet at every 16th block or so only.
constexpr std::size_t kStealAtMost = 16;

}  // namespace

FreeBlock Pool::refill(Lane& lane, std::size_t capacity, std::size_t bytes, Stream* stream) {
  if (dead_) {
    throw Error(ErrorCode::kGeneric, to_string(device_),
                "given a process that was forked after the device had been used, expected one that "
                "was spawned (multiprocessing start method 'spawn' or 'forkserver')");
  }
  FreeBlock found;
  RawBlock raw;
  if (type_ == PoolType::kUnpooled) {
    misses_.fetch_add(1, std::memory_order_relaxed);
    raw = allocate_raw(capacity);
    if (raw.data == nullptr) {
      MutexLock lock(domain_.mutex);
      raw = allocate_or_flush(capacity);
    }
  } else {
    MutexLock lock(domain_.mutex);
    domain_.tick();
    if (take_over(lane, capacity, stream, &found)) return found;
    misses_.fetch_add(1, std::memory_order_relaxed);
    if (capacity != Rounding::kImpossible) {
      make_room(capacity);
      domain_.keep_reserve(capacity, reserve_percent_);
    }
    raw = allocate_or_flush(capacity);
  }
  if (raw.data == nullptr) {
    if (after_releases(lane, capacity, stream, &found, &raw)) return found;
    if (raw.data == nullptr) out_of_memory(bytes, capacity);
  }
  system_allocations_.fetch_add(1, std::memory_order_relaxed);
  if (device_.type == DeviceType::kCPU) host_use_first(raw.data, capacity, bytes);
  grow(capacity);
  return {raw};
}

// What other lanes have cached, for whoever has none.
bool Pool::take_over(Lane& lane, std::size_t capacity, Stream* stream, FreeBlock* out) {
  if (!steal(lane, capacity, stream != nullptr ? stream->native() : nullptr, out) &&
      !(stream != nullptr && ordered_ && steal_unfinished(capacity, *stream, out)))
    return false;
  steals_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// An array's end is an operation, which may not have run yet: before a request is refused, those
// that can end do. True for a cached block in `found`; else `raw` has memory, or there is none.
bool Pool::after_releases(Lane& lane, std::size_t capacity, Stream* stream, FreeBlock* found,
                          RawBlock* raw) {
  // Acquire pairs with the store that publishes it.
  const MemoryRelief relief = g_memory_relief.load(std::memory_order_acquire);
  if (relief == nullptr || capacity == Rounding::kImpossible) return false;
  bool cached = false;
  auto retry = [&] {
    MutexLock lock(domain_.mutex);
    cached = type_ != PoolType::kUnpooled && take_over(lane, capacity, stream, found);
    if (!cached) *raw = allocate_or_flush(capacity);
    return cached || raw->data != nullptr;
  };
  relief(
      device_, [](void* request) { return (*static_cast<decltype(retry)*>(request))(); }, &retry);
  return cached;
}

// One block for now and, for host memory, some for later.
bool Pool::steal(Lane& lane, std::size_t capacity, NativeStream* stream, FreeBlock* out) {
  std::array<FreeBlock, kStealAtMost> loot;
  std::size_t count = 0;
  lanes_.for_each([&](Lane& victim) {
    if (count > 0) return;
    SpinGuard guard(victim.lock);
    // A half leaves the victim something if it allocates too.
    const std::size_t half = by_stream_ ? 1 : (victim.free.count(capacity) + 1) / 2;
    const std::size_t most = std::min(half, kStealAtMost);
    while (count < most && take(victim, capacity, stream, &loot[count])) ++count;
  });
  if (count == 0) return false;
  *out = loot[0];
  for (std::size_t i = 1; i < count; ++i) put(lane, loot[i]);
  return true;
}

// Memory that another stream still works with: `stream` will wait for that work, the host does not.
bool Pool::steal_unfinished(std::size_t capacity, Stream& stream, FreeBlock* out) {
  Lane* from = nullptr;
  lanes_.for_each([&](Lane& victim) {
    if (from != nullptr) return;
    SpinGuard guard(victim.lock);
    if (victim.free.pop(capacity, out)) from = &victim;
  });
  if (from == nullptr) return false;
  if (out->ready != nullptr) {
    try {
      out->ready->event.block(stream);
    } catch (...) {
      put(*from, *out);
      throw;
    }
    events_.recycle(std::exchange(out->ready, nullptr));
  }
  return true;
}

void Pool::put(Lane& lane, const FreeBlock& block) noexcept {
  try {
    SpinGuard guard(lane.lock);
    lane.free.push(block, domain_.now());
  } catch (const std::bad_alloc&) {
    give_back(block);
  }
}

// Exact-size reuse alone lets a program whose sizes vary collect the peak of every size; giving
// back the oldest blocks bounds that (invariant 1 of the class).
void Pool::make_room(std::size_t capacity) {
  int64_t cached = 0;
  settle();
  lanes_.for_each([&](Lane& lane) {
    SpinGuard guard(lane.lock);
    cached += static_cast<int64_t>(lane.free.bytes());
  });
  if (cached == 0) return;
  const auto wanted = static_cast<int64_t>(capacity);
  const int64_t footprint = footprint_.load(std::memory_order_relaxed);
  // The request counts as in use for itself only: it may yet fail.
  const int64_t live = std::max(in_use_.recent_peak(), footprint - cached + wanted);
  in_use_.fade(wanted / kFade);
  const int64_t limit = std::max(kSmallFootprint, live + live / 2);
  while (footprint_.load(std::memory_order_relaxed) > limit - wanted && release_oldest() > 0) {
  }
}

RawBlock Pool::allocate_raw(std::size_t capacity) {
  if (capacity == Rounding::kImpossible) return {};
  return source_->allocate(capacity);
}

// Other threads may cache what they had in use while we flush, hence the loop: it fails only when
// the device is full of what is in use.
RawBlock Pool::allocate_or_flush(std::size_t capacity) {
  RawBlock raw = allocate_raw(capacity);
  while (raw.data == nullptr && capacity != Rounding::kImpossible && domain_.flush() > 0) {
    raw = allocate_raw(capacity);
  }
  return raw;
}

void Pool::out_of_memory(std::size_t bytes, std::size_t capacity) {
  throw Error(
      ErrorCode::kOutOfMemory, to_string(device_),
      fmt::format("out of memory: given a request of {} bytes ({} after rounding), expected "
                  "one that fits beside what is in use; all cached blocks were released\n{}",
                  bytes, capacity == Rounding::kImpossible ? "too many" : fmt::to_string(capacity),
                  domain_.table()));
}

}  // namespace mxnet
