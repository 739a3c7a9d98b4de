// SPDX-License-Identifier: Apache-2.0
// Lists of callbacks that programs hand over, as C++ objects: what the functions and operators of
// users are made of.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_end.h"
#include "mxnet/c_api.h"

namespace mxnet::c_api {

// From now on no callback is told of its end: the program may have taken its code down.
// Thread-safe.
void end_callbacks() noexcept;
bool callbacks_ended() noexcept;

// Owns what the list stands for, and calls its `deleter` at the end. Immutable.
class Callbacks {
 public:
  Callbacks(const MXCallbackList& list, int deleter);
  ~Callbacks();
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;

  bool has(int i) const {
    return i < static_cast<int>(functions_.size()) &&
           functions_[static_cast<std::size_t>(i)] != nullptr;
  }
  // REQUIRES: has(i). The list holds all kinds as one type; by way of void(*)(), which says that
  // this is meant.
  template <class Callback, class... Args>
  int call(int i, Args... args) const {
    const auto at = static_cast<std::size_t>(i);
    const auto function = reinterpret_cast<Callback>(reinterpret_cast<void (*)()>(functions_[at]));
    return or_stay([&] { return function(args..., contexts_[at]); });
  }
  // What a callback of this thread has failed of must not be taken for the reason of the next.
  static void forget_error() noexcept;
  // The same for those that may fail: an error text that is there afterwards is the callback's.
  template <class Callback, class... Args>
  int attempt(int i, Args... args) const {
    forget_error();
    return call<Callback>(i, args...);
  }
  // "`what`: REASON" after an attempt() that has failed on this thread; the reason is what the
  // callback has given to NNAPISetLastError, if anything.
  static std::string failure(std::string_view what);

 private:
  std::vector<int (*)(void)> functions_;
  std::vector<void*> contexts_;
  const int deleter_;
};

}  // namespace mxnet::c_api
