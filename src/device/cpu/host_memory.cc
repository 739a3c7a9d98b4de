// SPDX-License-Identifier: Apache-2.0
// Two sources: malloc, and mappings aligned to huge pages. The size alone says which one a block
// came from, so that releasing it needs no bookkeeping.
#include "device/cpu/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace mxnet {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

// From one huge page on, faulting it in at once beats 512 faults. Under AddressSanitizer malloc
// serves everything, so that overruns of large arrays are seen too.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kMapFrom = SIZE_MAX;
#else
constexpr std::size_t kMapFrom = kHugePage;
#endif

thread_local FreshMapping* t_fresh = nullptr;

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// 0 when the sum does not fit.
std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return bytes > SIZE_MAX - (unit - 1) ? 0 : (bytes + unit - 1) & ~(unit - 1);
}

// Maps one huge page more than needed and gives the misaligned ends back.
void* map_aligned(std::size_t bytes) {
  const std::size_t size = round_up(bytes, page_size());
  if (size == 0 || size > SIZE_MAX - kHugePage) return nullptr;
  void* raw =
      mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t data = (begin + kHugePage - 1) & ~(kHugePage - 1);
  const std::uintptr_t end = begin + size + kHugePage;
  if (data > begin) munmap(raw, data - begin);
  if (end > data + size) munmap(reinterpret_cast<void*>(data + size), end - (data + size));
  // Advice: where the kernel has no huge pages, small ones serve.
  madvise(reinterpret_cast<void*>(data), size, MADV_HUGEPAGE);
  if (t_fresh != nullptr) t_fresh->note(reinterpret_cast<void*>(data));
  return reinterpret_cast<void*>(data);
}

void* malloc_aligned(std::size_t bytes, std::size_t alignment) {
  const std::size_t size = round_up(std::max<std::size_t>(bytes, 1), alignment);
  return size == 0 ? nullptr : std::aligned_alloc(alignment, size);
}

void release_any(void* data, std::size_t bytes) {
  if (data == nullptr) return;
  if (bytes >= kMapFrom) {
    munmap(data, round_up(bytes, page_size()));
  } else {
    std::free(data);
  }
}

}  // namespace

FreshMapping::FreshMapping() { t_fresh = this; }
FreshMapping::~FreshMapping() { t_fresh = nullptr; }

void* host_allocate(std::size_t bytes) noexcept {
  return bytes >= kMapFrom ? map_aligned(bytes) : malloc_aligned(bytes, kHostAlignment);
}

void host_release(void* data, std::size_t bytes) noexcept { release_any(data, bytes); }

void host_use_first(void* data, std::size_t bytes, std::size_t used) noexcept {
  // More than half full, it is worth its part that is not used: small ones are slower to walk.
  const std::size_t whole = used & ~(kHugePage - 1);
  if (bytes < kMapFrom || used == whole || used - whole > kHugePage / 2 ||
      bytes - whole < kHugePage)
    return;
  madvise(static_cast<char*>(data) + whole, round_up(bytes, page_size()) - whole, MADV_NOHUGEPAGE);
}

void* host_allocate_pages(std::size_t bytes) noexcept {
  return bytes >= kMapFrom ? map_aligned(bytes) : malloc_aligned(bytes, page_size());
}

void host_release_pages(void* data, std::size_t bytes) noexcept { release_any(data, bytes); }

}  // namespace mxnet
