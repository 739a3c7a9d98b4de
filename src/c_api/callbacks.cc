// SPDX-License-Identifier: Apache-2.0
// Ownership of callbacks.
#include "c_api/callbacks.h"

#include <fmt/format.h>

#include <atomic>

#include "c_api/guard.h"

namespace mxnet::c_api {
namespace {

std::atomic<bool> g_ended{false};

}  // namespace

// Relaxed: a mark on its own; the program orders its end after its last calls.
void end_callbacks() noexcept { g_ended.store(true, std::memory_order_relaxed); }
bool callbacks_ended() noexcept { return g_ended.load(std::memory_order_relaxed); }

Callbacks::Callbacks(const MXCallbackList& list, int deleter)
    : functions_(list.callbacks, list.callbacks + list.num_callbacks),
      contexts_(list.contexts, list.contexts + list.num_callbacks),
      deleter_(deleter) {}

std::string Callbacks::failure(std::string_view what) {
  const std::string_view reason = last_error();
  return reason.empty() ? std::string(what) : fmt::format("{}: {}", what, reason);
}

void Callbacks::forget_error() noexcept { set_last_error(""); }

Callbacks::~Callbacks() {
  // All kinds of deleters have one signature.
  if (has(deleter_) && !callbacks_ended()) call<CustomOpDelFunc>(deleter_);
}

}  // namespace mxnet::c_api
