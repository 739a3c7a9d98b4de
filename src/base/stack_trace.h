// SPDX-License-Identifier: Apache-2.0
// The stack of the calling thread as text, for error messages.
#pragma once
#include <string>

namespace mxnet {

// Up to `max_frames` lines "  [bt] (0) library(function(int)+0x12) [0x7f..]", innermost first, each
// led by a newline. What this project does to raise an Error is left out. Thread-safe; symbols are
// cached per address.
std::string stack_trace(int max_frames);

// DMLC_LOG_STACK_TRACE_DEPTH, the frames that each new Error records; 0 until the configuration is
// resolved, because resolving it may throw errors itself.
int error_stack_depth() noexcept;

}  // namespace mxnet
