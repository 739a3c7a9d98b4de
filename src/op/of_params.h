// SPDX-License-Identifier: Apache-2.0
// A function of an operator's parameters whose readers do not know their type: two pointers, where
// a std::function would be code of its own for each type of parameters.
#pragma once
#include <utility>

namespace mxnet {

template <class Signature>
class OfParams;

template <class Result, class... Arguments>
class OfParams<Result(Arguments...)> {
 public:
  OfParams() = default;
  template <class P>
  OfParams(Result (*function)(const P&, Arguments...))
      : call_(function != nullptr ? &call<P> : nullptr),
        function_(reinterpret_cast<void (*)()>(function)) {}
  // One that is untyped already: of a plug-in, of an extension.
  OfParams(Result (*function)(const void*, Arguments...))
      : call_(function != nullptr ? &call_untyped : nullptr),
        function_(reinterpret_cast<void (*)()>(function)) {}

  explicit operator bool() const { return call_ != nullptr; }
  Result operator()(const void* params, Arguments... arguments) const {
    return call_(params, std::forward<Arguments>(arguments)..., function_);
  }

 private:
  template <class P>
  static Result call(const void* params, Arguments... arguments, void (*function)()) {
    return reinterpret_cast<Result (*)(const P&, Arguments...)>(function)(
        *static_cast<const P*>(params), std::forward<Arguments>(arguments)...);
  }
  static Result call_untyped(const void* params, Arguments... arguments, void (*function)()) {
    return reinterpret_cast<Result (*)(const void*, Arguments...)>(function)(
        params, std::forward<Arguments>(arguments)...);
  }

  // The function last: what is before it stays in the registers in which it came.
  Result (*call_)(const void*, Arguments..., void (*)()) = nullptr;
  void (*function_)() = nullptr;
};

}  // namespace mxnet
