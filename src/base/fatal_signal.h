// SPDX-License-Identifier: Apache-2.0
// What a crash leaves behind: a symbolised trace on stderr and, unchanged, the core dump or the
// handler that was there before (Python's faulthandler). The feature SIGNAL_HANDLER.
#pragma once

namespace mxnet {

// Takes SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT. On the first of them it prints the trace of
// the thread at fault, puts the earlier action back and lets the fault happen again, so that a core
// dump shows the true place. Idempotent, thread-safe; the calling thread gets an alternate stack.
void install_fatal_signal_handler();

// Gives the calling thread a stack on which the handler runs, so that even a stack overflow is
// reported; freed with the thread. A thread that has one already keeps it. For the start of every
// worker thread.
void use_alternate_signal_stack() noexcept;

}  // namespace mxnet
