// SPDX-License-Identifier: Apache-2.0
// What a full pool asks before it refuses: whether memory is on its way back, which whoever runs
// the releases knows. Asked then only; pools know nothing of who answers.
#pragma once
#include <atomic>

#include "base/device.h"

namespace mxnet {

// Tries the request again; true once it has found memory, after which it is not called any more.
using MemoryRetry = bool (*)(void* request);
// Lets releases run and end, and calls `retry` after that, until it says true or nothing more is to
// be hoped for. Called with no lock held, on any thread, also inside of an operation.
using MemoryRelief = void (*)(Device device, MemoryRetry retry, void* request);

// Release: who sees it may call it.
inline constinit std::atomic<MemoryRelief> g_memory_relief{nullptr};

}  // namespace mxnet
