// SPDX-License-Identifier: Apache-2.0
// Threads that end inside of a function of the program's which the library calls, or inside of the
// library: by pthread_exit or pthread_cancel, or because Python's interpreter, which ends, does so
// with whoever asks for its lock (up to 3.13). The end unwinds the stack like an exception.
#pragma once
#include <cxxabi.h>
#include <unistd.h>

#include <csetjmp>
#include <exception>

namespace mxnet {

// REQUIRES: the caller is in a catch (...). An end that is kept there would be the process's. By
// what only C++ exceptions have: a handler for abi::__forced_unwind binds a reference to nothing.
inline bool thread_is_ending() noexcept { return std::current_exception() == nullptr; }

// Runs a function of the program's below what no end may pass: destructors, and the engine, which
// keeps what an operation throws and would have its variables for ever. A thread that ends in there
// stays instead, until the process is gone, as Python's do from 3.14 on.
template <class Body>
auto or_stay(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    if (!thread_is_ending()) throw;
    for (;;) ::pause();
  }
}

// Runs one from which the thread goes on all the same: false if it has ended it. What lay in the
// function has been unwound by then; the handler is not left but jumped over, as leaving it without
// going on with the end would be the process's.
template <class Body>
[[gnu::noinline]] bool outlived(Body&& body) {
  struct Globals {  // the C++ ABI's, 2.2.2
    void* caught;
    unsigned uncaught;
  };
  auto* const globals = reinterpret_cast<Globals*>(abi::__cxa_get_globals());
  void* const caught = globals->caught;
  std::jmp_buf behind;
  if (setjmp(behind) != 0) return false;
  try {
    body();
  } catch (...) {
    if (!thread_is_ending()) throw;
    globals->caught = caught;
    std::longjmp(behind, 1);  // over nothing that has a destructor: to this very function
  }
  return true;
}

}  // namespace mxnet
