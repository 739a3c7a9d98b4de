// SPDX-License-Identifier: Apache-2.0
// Guards are whole pages, so that blocks are aligned as well as a device's.
#include "guarded_memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace mxnet::testing {
namespace {

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kMemoryGuard - 1) / kMemoryGuard * kMemoryGuard;
}

std::size_t bytes_behind(std::size_t bytes) { return whole_pages(bytes) - bytes + kMemoryGuard; }

// Whether the guards of a block may be read and written.
void open_guards([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes,
                 [[maybe_unused]] bool open) {
#if defined(__SANITIZE_ADDRESS__)
  const auto* const begin = static_cast<const unsigned char*>(data);
  const auto set = open ? __asan_unpoison_memory_region : __asan_poison_memory_region;
  set(begin - kMemoryGuard, kMemoryGuard);
  set(begin + bytes, bytes_behind(bytes));
#endif
}

// Where in [at, at + bytes) a guard's byte is none any more; `bytes` if all are.
std::size_t first_written(const unsigned char* at, std::size_t bytes) {
  return static_cast<std::size_t>(
      std::find_if(at, at + bytes, [](unsigned char byte) { return byte != kGuardByte; }) - at);
}

}  // namespace

void* allocate_guarded(std::size_t bytes) {
  const std::size_t behind = bytes_behind(bytes);
  auto* const memory =
      static_cast<unsigned char*>(std::aligned_alloc(kMemoryGuard, kMemoryGuard + bytes + behind));
  if (memory == nullptr) return nullptr;
  std::memset(memory, kGuardByte, kMemoryGuard);
  std::memset(memory + kMemoryGuard, kUnwritten, bytes);
  std::memset(memory + kMemoryGuard + bytes, kGuardByte, behind);
  open_guards(memory + kMemoryGuard, bytes, false);
  return memory + kMemoryGuard;
}

void free_guarded(void* data, std::size_t bytes) {
  open_guards(data, bytes, true);
  std::free(static_cast<unsigned char*>(data) - kMemoryGuard);
}

bool guards_hold(const void* data, std::size_t bytes) {
  const auto* const begin = static_cast<const unsigned char*>(data);
  const std::size_t behind = bytes_behind(bytes);
  open_guards(data, bytes, true);
  const std::size_t before = first_written(begin - kMemoryGuard, kMemoryGuard),
                    after = first_written(begin + bytes, behind);
  open_guards(data, bytes, false);
  if (before < kMemoryGuard)
    std::fprintf(stderr, "somebody wrote %zu bytes before a block of %zu bytes of device memory\n",
                 kMemoryGuard - before, bytes);
  if (after < behind)
    std::fprintf(stderr, "somebody wrote %zu bytes behind a block of %zu bytes of device memory\n",
                 after, bytes);
  return before == kMemoryGuard && after == behind;
}

}  // namespace mxnet::testing
