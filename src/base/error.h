// SPDX-License-Identifier: Apache-2.0
// The one exception of the project. The user's fault: `throw Error(code, tag, "given ..., expected
// ...")`. Our fault: MX_ASSERT. The code picks the Python class at the border; nobody branches on
// message text.
#pragma once
#include <exception>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "base/export.h"

namespace mxnet {

// Each code is an exception class of the Python front end (see error_class_name).
enum class ErrorCode : unsigned char {
  kGeneric,         // MXNetError
  kValue,           // ValueError
  kType,            // TypeError
  kIndex,           // IndexError
  kAttribute,       // AttributeError
  kNotImplemented,  // NotImplementedError
  kOutOfMemory,     // MXNetError; a pool's table is in the message
  kInternal,        // MXNetError; a broken invariant of ours
};

const char* error_class_name(ErrorCode code) noexcept;

// Immutable and cheap to copy (shared state), so that one failure can travel along many engine
// variables.
class MX_PLUGIN_API Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message,
        std::source_location where = std::source_location::current());
  // `tag` names the operator, variable or subsystem that complains; shown as "[tag] message".
  Error(ErrorCode code, std::string_view tag, std::string message,
        std::source_location where = std::source_location::current());
  ~Error() override;
  // The same failure, told by somebody else: code, place and stack trace are those of this one.
  Error retold(std::string_view tag, std::string message) const;
  Error(const Error&) noexcept;
  Error& operator=(const Error&) noexcept;

  ErrorCode code() const noexcept;
  const std::string& tag() const noexcept;
  const std::string& message() const noexcept;  // without class name, tag and trace
  const std::source_location& where() const noexcept;
  // "ValueError: [tag] message", then, with DMLC_LOG_STACK_TRACE_DEPTH > 0, "\nStack trace:\n" and
  // frames.
  const char* what() const noexcept override;

 private:
  struct State;
  explicit Error(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

[[noreturn]] MX_PLUGIN_API void assertion_failed(
    const char* expression, std::source_location where = std::source_location::current());

}  // namespace mxnet

// An invariant of ours. Throws Error(kInternal) in every build: a wrong result is worse than an
// error.
#define MX_ASSERT(condition)                                                \
  (__builtin_expect(static_cast<bool>(condition), 1) ? static_cast<void>(0) \
                                                     : ::mxnet::assertion_failed(#condition))
