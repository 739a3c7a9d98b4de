// SPDX-License-Identifier: Apache-2.0
// From an address of this process to "library(function+0x12)", without malloc and locks: the same
// code serves error texts and the fatal-signal handler, where neither may be trusted.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mxnet {

struct FrameInfo {
  char module[256] = "";    // path of the library or program; empty when the address is in no file
  char function[512] = "";  // mangled; empty when unknown
  uint64_t offset = 0;  // from the start of the function, else from the start of the module's file
};

// Async-signal-safe: reads /proc/self/maps and maps the module's file for the time of the call.
// Cost: about 1 ms for a large library, hence callers cache where they can.
void symbolize(uintptr_t address, FrameInfo& out) noexcept;

// Writes the readable form of a simple mangled name (namespaces, classes, functions; no templates
// or operators), else the name itself. Async-signal-safe, unlike __cxa_demangle. Returns `out`,
// always terminated.
const char* demangle_simple(const char* mangled, char* out, std::size_t size) noexcept;

}  // namespace mxnet
