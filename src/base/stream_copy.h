// SPDX-License-Identifier: Apache-2.0
// Copies past the caches, for results too big to stay in them until somebody reads them: memory is
// written without being read first.
#pragma once
#include <cstddef>

namespace mxnet {

// As memcpy. Other threads see the bytes after finish_stream_copies(). Any alignment. Thread-safe.
void stream_copy(void* to, const void* from, std::size_t bytes) noexcept;
// Orders this thread's copies before whatever it writes next.
void finish_stream_copies() noexcept;

}  // namespace mxnet
