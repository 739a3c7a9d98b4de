// SPDX-License-Identifier: Apache-2.0
// The one wrapper around the bodies of exported functions: it starts the library and turns whatever
// is thrown into -1 and this thread's error text. Also the checks and the per-thread store that
// those bodies share.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/device.h"
#include "base/error.h"
#include "base/hooks.h"
#include "base/thread_end.h"

namespace mxnet::c_api {

// Resolves the configuration, installs the fatal-signal handler and sets up OpenMP: at the first
// call that succeeds. Throws, at every call, when the environment holds a bad value. Thread-safe;
// one load afterwards.
void start_library();

// The error text of this thread. Setting never throws: without memory for the text a fixed one
// stands in.
void set_last_error(std::string_view text) noexcept;
const char* last_error() noexcept;
// The same with the class that tells the kind of fault.
const char* last_typed_error() noexcept;
// Makes the text of the exception that is being handled.
void set_last_error_from_current_exception() noexcept;

// Strings that go out through pointers: kept until the next one on this thread.
const char* keep_for_caller(std::string text);

// For the profiler's own functions, which do not watch themselves; all others take guarded().
template <class Body>
int unobserved(Body&& body) {
  try {
    start_library();
    body();
    return 0;
  } catch (...) {
    if (thread_is_ending()) throw;
    set_last_error_from_current_exception();
    return -1;
  }
}

// `function` is the name of the exported function, under which a profile has the call.
template <class Body>
int guarded(const char* function, Body&& body) {
  return unobserved([&] {
    // After the start, which may be the profiler's too.
    const Span span(SpanKind::kCCall, function);
    body();
  });
}
// For the exported functions themselves; a body that several share is told who has called it.
template <class Body>
int guarded(Body&& body, const char* function = __builtin_FUNCTION()) {
  return guarded(function, std::forward<Body>(body));
}

// A null `pointer` is the caller's fault.
inline void require(const void* pointer, std::string_view function, const char* parameter) {
  if (pointer == nullptr) {
    throw Error(ErrorCode::kValue, function,
                std::string("given null for ") + parameter + ", expected a pointer");
  }
}

// A number of texts that no call has is the caller's fault: below 0, or of a variable that nobody
// set, which would lead far beyond the caller's arrays.
void check_text_count(std::string_view function, int64_t count);

// fn(key, value) for each pair that the caller gives.
template <class Fn>
void for_each_text(std::string_view function, int64_t count, const char* const* keys,
                   const char* const* values, Fn&& fn) {
  check_text_count(function, count);
  if (count > 0) {
    require(keys, function, "keys");
    require(values, function, "vals");
  }
  for (int64_t i = 0; i < count; ++i) {
    require(keys[i], function, "a key");
    require(values[i], function, keys[i]);
    fn(keys[i], values[i]);
  }
}

// From the numbers of the ABI; unknown kinds and GPUs that are not there are errors.
Device checked_device(std::string_view function, int type, int id);

}  // namespace mxnet::c_api
