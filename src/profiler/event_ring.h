// SPDX-License-Identifier: Apache-2.0
// The last N events of one thread. The writer never waits: what nobody has fetched in time is
// overwritten, and counted.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "profiler/event.h"

namespace mxnet::profiler {

// push: one thread at a time. fetch, skip and missed: one (other) thread at a time; the profiler's
// mutex sees to it.
//
// Invariants: (1) event i lies in slot i mod N. (2) All events below head_ are complete. (3) The
// writer touches the slot of event i only when head_ == i. Hence a reader that has copied slot i,
// and then finds head_ < i + N, has copied event i and not what overwrites it. One slot is always
// taken for the writer's: N slots hold N - 1 events.
class EventRing {
  static constexpr std::size_t kWords = 5;

 public:
  // Of 2^k slots, the smallest power that holds `capacity` and the one that is being written.
  explicit EventRing(std::size_t capacity)
      : mask_(std::bit_ceil(capacity + 1) - 1),
        // calloc: pages come when they are first written.
        words_(static_cast<uint64_t*>(std::calloc((mask_ + 1) * kWords, sizeof(uint64_t)))) {
    if (words_ == nullptr) throw std::bad_alloc();
  }

  void push(const Event& event) {
    const uint64_t head = head_.load(std::memory_order_relaxed);  // only we write it
    // Release: a reader that sees one of these words sees head_ at `head` or above (invariant 3).
    const auto put = [slot = slot_at(head)](int i, uint64_t word) {
      std::atomic_ref<uint64_t>(slot[i]).store(word, std::memory_order_release);
    };
    put(0, event.start);
    put(1, event.value);
    put(2, reinterpret_cast<uintptr_t>(event.name));
    put(3, reinterpret_cast<uintptr_t>(event.domain));
    put(4, pack(event));
    head_.store(head + 1, std::memory_order_release);  // invariant 2
  }

  // Appends all events since the last fetch to `out`; returns how many of them were overwritten.
  uint64_t fetch(std::vector<Event>& out) {
    const uint64_t head = head_.load(std::memory_order_acquire);
    const uint64_t first = oldest(head);
    const std::size_t old_size = out.size();
    for (uint64_t i = first; i < head; ++i) out.push_back(read(slot_at(i)));
    // The acquire loads in read() keep this one behind them.
    const uint64_t safe = oldest(head_.load(std::memory_order_acquire));
    const uint64_t spoilt = std::min(safe - first, head - first);
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(old_size),
              out.begin() + static_cast<std::ptrdiff_t>(old_size + spoilt));
    const uint64_t missed = first - fetched_ + spoilt;
    fetched_ = head;
    return missed;
  }

  // Forgets what is there.
  void skip() { fetched_ = head_.load(std::memory_order_acquire); }

  // Events since the last fetch that it would miss if it came now.
  uint64_t missed() const { return oldest(head_.load(std::memory_order_acquire)) - fetched_; }

 private:
  // The first event not fetched that is still there while the writer works on event `head`.
  uint64_t oldest(uint64_t head) const {
    const uint64_t kept = head > mask_ ? head - mask_ : 0;
    return kept > fetched_ ? kept : fetched_;
  }
  uint64_t* slot_at(uint64_t event) const { return words_.get() + (event & mask_) * kWords; }
  static uint64_t pack(const Event& e) {
    return uint64_t{e.thread} << 32 |
           static_cast<uint64_t>(static_cast<uint16_t>(e.device.id)) << 16 |
           static_cast<uint64_t>(static_cast<uint8_t>(e.device.type)) << 8 |
           static_cast<uint64_t>(e.kind);
  }
  static Event read(uint64_t* slot) {
    const auto word = [slot](int i) {
      return std::atomic_ref<uint64_t>(slot[i]).load(std::memory_order_acquire);
    };
    Event e;
    e.start = word(0);
    e.value = word(1);
    e.name = reinterpret_cast<const char*>(word(2));
    e.domain = reinterpret_cast<const char*>(word(3));
    const uint64_t packed = word(4);
    e.kind = static_cast<EventKind>(packed & 0xff);
    e.device = {static_cast<DeviceType>(packed >> 8 & 0xff),
                static_cast<int32_t>(packed >> 16 & 0xffff)};
    e.thread = static_cast<uint32_t>(packed >> 32);
    return e;
  }

  const uint64_t mask_;
  struct Free {
    void operator()(uint64_t* words) const { std::free(words); }
  };
  const std::unique_ptr<uint64_t[], Free> words_;
  alignas(64) std::atomic<uint64_t> head_{0};  // events ever pushed
  alignas(64) uint64_t fetched_ = 0;  // events ever fetched, missed or skipped; the reader's
};

}  // namespace mxnet::profiler
