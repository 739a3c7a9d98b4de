// SPDX-License-Identifier: Apache-2.0
// The stack of the calling thread as text for error messages, and the depth at which errors record
// it. The depth lies here and not in Config, so that Config may throw errors itself; the start of
// the library copies the row in.
#pragma once
#include <string>

namespace mxnet {

// Up to `max_frames` lines "  [bt] (0) library(function(int)+0x12) [0x7f..]", innermost first, each
// led by a newline. What this project does to raise an Error is left out. Thread-safe; symbols are
// cached per address.
std::string stack_trace(int max_frames);

// DMLC_LOG_STACK_TRACE_DEPTH: frames added to each new Error, 0 = none.
void set_error_stack_depth(int frames) noexcept;
int error_stack_depth() noexcept;

}  // namespace mxnet
