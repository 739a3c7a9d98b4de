// SPDX-License-Identifier: Apache-2.0
// Raw host memory. Small blocks come from malloc; large ones straight from the kernel, aligned so
// that it can back them with huge pages: fewer page faults at first touch, fewer TLB misses
// afterwards.
#pragma once
#include <cstddef>

namespace mxnet {

// The widest vector register and a cache line.
inline constexpr std::size_t kHostAlignment = 64;

// Null when there is no memory. Thread-safe. `bytes` may be 0.
void* host_allocate(std::size_t bytes) noexcept;
void host_release(void* data, std::size_t bytes) noexcept;  // the same `bytes`

// Of a block of so many bytes only the first `used` are wanted for now: no huge page is taken where
// less than all of it would be used. What lies behind can be used all the same.
void host_use_first(void* data, std::size_t bytes, std::size_t used) noexcept;

// What the thread maps during its life. A new mapping is zeros that take no memory until somebody
// writes there, so that whoever wants zeros and is the first to see the block need not write them.
// Scopes do not nest.
class FreshMapping {
 public:
  FreshMapping();
  ~FreshMapping();
  FreshMapping(const FreshMapping&) = delete;
  FreshMapping& operator=(const FreshMapping&) = delete;
  // Whether the block is such a mapping.
  bool is(const void* data) const { return data != nullptr && data == data_; }
  void note(const void* data) { data_ = data; }

 private:
  const void* data_ = nullptr;
};

// Whole pages, for memory that an accelerator's driver could pin.
void* host_allocate_pages(std::size_t bytes) noexcept;
void host_release_pages(void* data, std::size_t bytes) noexcept;

}  // namespace mxnet
