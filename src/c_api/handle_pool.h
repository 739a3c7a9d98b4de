// SPDX-License-Identifier: Apache-2.0
// Handles of the C ABI that can be told from anything else: null, an integer, a handle of another
// kind, one that was freed. All objects of a kind live in one reserved range of addresses, so that
// the test is a subtraction, a comparison and one load, and never touches memory that is not ours.
#pragma once
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/turn.h"

namespace mxnet::c_api {

// Whether threads that use one handle at once take turns: those of kSharedByThreads are left to
// the objects themselves.
enum class Handles : bool { kSharedByThreads, kInTurns };

// Thread-safe, but for two calls on the same handle of which one is destroy(): that is the caller's
// race; it is found when the other comes later, not when it is at work.
//
// A handle is the address of its slot plus the slot's generation, a number below the slot's size. A
// freed slot moves on to its next generation, so that an old handle stays wrong while its slot is
// used again, until the generations wrap.
//
// Of kInTurns all of it is safe: a call holds use(), a second one waits for its end, and one that
// finds the handle freed when its turn has come says so. Slots stay, so that there is something to
// wait at.
template <class T, Handles kHandles = Handles::kSharedByThreads>
class HandlePool {
  static constexpr bool kInTurns = kHandles == Handles::kInTurns;
  struct NoTurn {};
  // Spares the compiler's question: no slot lies at address 0.
  template <class P>
  static P* not_null(P* pointer) {
    if (pointer == nullptr) __builtin_unreachable();
    return pointer;
  }

  struct Slot {
    // Generation * 2 + (in use ? 1 : 0).
    std::atomic<uint32_t> state;
    std::atomic<uint32_t> next_free;  // index + 1, 0 = end; meaningful while free
    // As old as the slot; all zeros, as it comes from the kernel, is one that nobody has.
    [[no_unique_address]] std::conditional_t<kInTurns, Turn, NoTurn> turn;
    alignas(T) unsigned char storage[sizeof(T)];

    T* object() { return not_null(std::launder(reinterpret_cast<T*>(storage))); }
  };

 public:
  // `kind` as in "given null, expected an <kind> handle"; a literal. Nothing is reserved before the
  // first handle is made, so that a pool can be a constant-initialised static: one that costs no
  // look at whether it is there, and has no end that threads at exit could meet.
  constexpr explicit HandlePool(const char* kind) : kind_(kind) {}
  HandlePool(const HandlePool&) = delete;
  HandlePool& operator=(const HandlePool&) = delete;

  void* create(T value) {
    const uint32_t index = take_slot();
    Slot* slot = slot_at(index);
    new (slot->storage) T(std::move(value));
    // Ours alone until the handle is given out; release makes the object visible to who checks it.
    const uint32_t state = slot->state.load(std::memory_order_relaxed) | 1u;
    slot->state.store(state, std::memory_order_release);
    return reinterpret_cast<char*>(slot) + (state >> 1);
  }

  // Null for what is no live handle.
  T* get_if(const void* handle) const {
    Slot* slot = find_live(handle);
    return slot != nullptr ? slot->object() : nullptr;
  }
  // Throws Error(kValue, tag) that says what is wrong with the handle.
  T& get(const void* handle, const char* tag) const {
    Slot* slot = find_live(handle);
    if (slot == nullptr) [[unlikely]]
      complain(tag, handle);
    return *slot->object();
  }

  // The object, for one thread until the end of this.
  class Use {
   public:
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() {
      if (turn_ != nullptr) turn_->give();
    }
    explicit operator bool() const { return object_ != nullptr; }
    T& operator*() const { return *object_; }
    T* operator->() const { return object_; }

   private:
    friend class HandlePool;
    Use(T* object, Turn* turn) : object_(object), turn_(turn) {}
    T* const object_;
    Turn* const turn_;
  };
  // As get(), when its turn has come. A thread that has it may have it again: callbacks of a call
  // lead back to its object.
  Use use(const void* handle, const char* tag) const requires kInTurns {
    Slot* slot = find_live(handle);
    if (slot == nullptr) complain(tag, handle);
    slot->turn.take(tag);
    if (find_live(handle) == nullptr) {  // freed while this thread waited
      slot->turn.give();
      complain(tag, handle);
    }
    return {slot->object(), &slot->turn};
  }
  // As get_if(); without an object too where another thread has it.
  Use use_if_free(const void* handle) const requires kInTurns {
    Slot* slot = find_live(handle);
    if (slot == nullptr || !slot->turn.take_if_free()) return {nullptr, nullptr};
    if (find_live(handle) != nullptr) return {slot->object(), &slot->turn};
    slot->turn.give();
    return {nullptr, nullptr};
  }

  void destroy(void* handle, const char* tag) {
    if constexpr (kInTurns) {
      const Use last = use(handle, tag);
      if (last.turn_->is_nested()) {
        throw Error(ErrorCode::kValue, tag,
                    std::string("given the ") + kind_ +
                        " handle of a call that is under way on this thread, expected one that is "
                        "not in use");
      }
      end(handle, tag);
    } else {
      end(handle, tag);
    }
  }

  // Handles given out and not freed, found by counting the free ones: for tests. REQUIRES: nobody
  // else is at work.
  int64_t live() const {
    auto live = static_cast<int64_t>(used_.load(std::memory_order_acquire));
    for (auto next = static_cast<uint32_t>(free_.load(std::memory_order_acquire)); next != 0;
         next = slot_at(next - 1)->next_free.load(std::memory_order_relaxed))
      --live;
    return live;
  }

 private:
  void end(void* handle, const char* tag) {
    const Place place = place_of(handle);
    uint32_t expected = place.live_state;
    const uint32_t next = ((expected >> 1) + 1) % kStride << 1;
    // Of two threads that free one handle exactly one gets through. Acquire: the object's last uses
    // on other threads come before its end.
    if (place.slot == nullptr ||
        !place.slot->state.compare_exchange_strong(expected, next, std::memory_order_acq_rel))
      complain(tag, handle);
    place.slot->object()->~T();
    give_slot(index_of(place.slot));
  }

  static constexpr std::size_t kStride = std::bit_ceil(sizeof(Slot));
  static constexpr std::size_t kReserved = std::size_t{1} << 33;  // 8 GiB of addresses

  // Relaxed: whoever knows of a slot has seen used_ above it, which is raised after this.
  char* base() const { return base_.load(std::memory_order_relaxed); }
  Slot* slot_at(uint32_t index) const { return reinterpret_cast<Slot*>(base() + index * kStride); }
  uint32_t index_of(Slot* slot) const {
    return static_cast<uint32_t>(static_cast<std::size_t>(reinterpret_cast<char*>(slot) - base()) /
                                 kStride);
  }
  struct Place {
    Slot* slot;           // null for what never was a handle of ours
    uint32_t live_state;  // of the slot, if the handle is live
  };
  Place place_of(const void* handle) const {
    // Acquire pairs with take_slot's release: what lies below `used` is reserved.
    const std::size_t used = used_.load(std::memory_order_acquire);
    char* const first = base();
    const std::size_t offset =
        reinterpret_cast<std::uintptr_t>(handle) - reinterpret_cast<std::uintptr_t>(first);
    if (offset >= used * kStride) return {nullptr, 0};
    const std::size_t generation = offset & (kStride - 1);
    return {reinterpret_cast<Slot*>(not_null(first + (offset - generation))),
            static_cast<uint32_t>(generation << 1 | 1)};
  }
  Slot* find_live(const void* handle) const {
    const Place place = place_of(handle);
    // Acquire pairs with create's release.
    if (place.slot == nullptr ||
        place.slot->state.load(std::memory_order_acquire) != place.live_state) [[unlikely]]
      return nullptr;
    return place.slot;
  }

  // The free slots are a stack whose head carries a count of changes, so that a head that went and
  // came back is not taken for unchanged.
  uint32_t take_slot() {
    // Acquire pairs with the release in reserve().
    if (base_.load(std::memory_order_acquire) == nullptr) reserve();
    uint64_t head = free_.load(std::memory_order_acquire);
    while (static_cast<uint32_t>(head) != 0) {
      const uint32_t index = static_cast<uint32_t>(head) - 1;
      const uint32_t next = slot_at(index)->next_free.load(std::memory_order_relaxed);
      if (free_.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | next,
                                      std::memory_order_acquire))
        return index;
    }
    const std::size_t index = used_.fetch_add(1, std::memory_order_release);
    const std::size_t capacity = Range::unpacked(reserved_.load(std::memory_order_relaxed)).slots();
    if (index >= capacity) {
      used_.fetch_sub(1, std::memory_order_relaxed);
      throw Error(ErrorCode::kOutOfMemory, "handle",
                  std::string("all ") + std::to_string(capacity) + " handles of kind " + kind_ +
                      " are in use");
    }
    return static_cast<uint32_t>(index);
  }

  // Throws where there are no addresses for even one slot. Without a lock: an operation may make
  // the first handle of a kind while a fork, which holds locks, waits for the operation's end.
  void reserve() {
    // Acquire pairs with the first one's release: whoever hands its range on comes after its mmap.
    std::uintptr_t reserved = reserved_.load(std::memory_order_acquire);
    if (reserved == 0) {
      const Range mine = map_range();
      // Of threads that come at once the first one's is taken.
      if (reserved_.compare_exchange_strong(reserved, mine.packed(), std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
        reserved = mine.packed();
      } else {
        ::munmap(mine.first, std::size_t{1} << mine.log2_bytes);
      }
    }
    base_.store(Range::unpacked(reserved).first, std::memory_order_release);  // all write the same
  }
  // Of a power of two of bytes, whose exponent fits beside an address of pages.
  struct Range {
    static constexpr std::uintptr_t kLog2 = 63;
    char* first;
    unsigned log2_bytes;
    std::size_t slots() const { return (std::size_t{1} << log2_bytes) / kStride; }
    std::uintptr_t packed() const { return reinterpret_cast<std::uintptr_t>(first) | log2_bytes; }
    static Range unpacked(std::uintptr_t packed) {
      return {reinterpret_cast<char*>(packed & ~kLog2), static_cast<unsigned>(packed & kLog2)};
    }
  };
  // Where the process may have few addresses, the rest of it needs most of them.
  static std::size_t reserved_bytes() {
    constexpr std::size_t kPart = 32;
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kReserved;
    return std::min(kReserved, std::bit_floor(static_cast<std::size_t>(limit.rlim_cur) / kPart));
  }
  static Range map_range() {
    for (std::size_t bytes = reserved_bytes(); bytes >= kStride; bytes /= 2) {
      // Only addresses: pages come when touched, and NORESERVE keeps them out of the commit limit.
      void* range = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (range != MAP_FAILED)
        return {static_cast<char*>(range), static_cast<unsigned>(std::countr_zero(bytes))};
    }
    throw std::bad_alloc();
  }

  void give_slot(uint32_t index) {
    uint64_t head = free_.load(std::memory_order_relaxed);
    uint64_t next;
    do {
      slot_at(index)->next_free.store(static_cast<uint32_t>(head), std::memory_order_relaxed);
      next = ((head >> 32) + 1) << 32 | (index + 1);
      // Release: next_free and the ended object are seen by who takes the slot.
    } while (!free_.compare_exchange_weak(head, next, std::memory_order_release));
  }

  [[noreturn]] void complain(const char* tag, const void* handle) const {
    std::string what = "given a freed handle";
    if (handle == nullptr) {
      what = "given null";
    } else if (place_of(handle).slot == nullptr) {
      what = "given a handle of another kind";
    }
    throw Error(ErrorCode::kValue, tag, what + ", expected a live " + kind_ + " handle");
  }

  const char* const kind_;
  std::atomic<char*> base_{nullptr};         // null before the first handle
  std::atomic<std::uintptr_t> reserved_{0};  // a Range, packed; written before base_
  std::atomic<std::size_t> used_{0};         // slots ever taken
  std::atomic<uint64_t> free_{0};            // changes << 32 | index + 1
};

}  // namespace mxnet::c_api
