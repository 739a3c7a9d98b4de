// SPDX-License-Identifier: Apache-2.0
// Memory that other processes can map: how DataLoader workers hand batches over. A segment is an
// anonymous file that has no name anywhere, only descriptors and mappings: when the last process
// that holds one ends, in whatever way, the kernel frees it. Nothing is left in /dev/shm, because
// nothing was ever there.
#pragma once
#include <cstddef>
#include <cstdint>

#include "storage/memory_source.h"

namespace mxnet {

// The two integers of the C ABI (MXNDArrayGetSharedMemHandle). Good until the maker releases the
// block or ends; a duplicate of the descriptor (multiprocessing's DupFd, SCM_RIGHTS) keeps the
// memory beyond that.
struct SharedHandle {
  int32_t pid = 0;  // who made the segment
  int32_t fd = -1;  // its descriptor there, or a duplicate of it here
};

// All of these are thread-safe.

// A new segment of `bytes`, all zero; data == nullptr when the system has no memory or descriptors
// left.
RawBlock create_segment(std::size_t bytes);
// Unmaps and closes. Other processes' mappings stay good.
void close_segment(const RawBlock& block) noexcept;

// The handle to send. From now on the segment is never reused by its pool, because nobody can know
// when the others have done with it: released, it goes back to the system. REQUIRES: a block of
// create_segment, or attached.
SharedHandle export_segment(const RawBlock& block);
// Whether no other process can see it: made here, never exported, and no fork since.
bool is_private(const RawBlock& block) noexcept;

// Maps another process's segment (or again one of this process) for at least `bytes`. `fd` may be
// the maker's descriptor, opened through /proc, or a duplicate that this process was given, which
// is then taken over. Throws Error(kValue) that says what is wrong: the process is gone, may not be
// looked into, has released the segment; the descriptor is something else; the segment is too
// small.
RawBlock attach_segment(SharedHandle handle, std::size_t bytes);

}  // namespace mxnet
