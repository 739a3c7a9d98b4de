// SPDX-License-Identifier: Apache-2.0
// Counts every operator new of the program that includes this, in one of its files.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {
std::atomic<uint64_t> g_allocations{0};
}  // namespace

// The address sanitizer has its own operators, and pairs them; the count is then taken in the other
// builds.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCounts = false;
#else
constexpr bool kCounts = true;
__attribute__((noinline)) void* operator new(std::size_t bytes) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif
