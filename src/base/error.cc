// SPDX-License-Identifier: Apache-2.0
// The text of an Error is made once, where it is thrown; copies share it.
#include "base/error.h"

#include <fmt/format.h>

#include "base/source_path.h"
#include "base/stack_trace.h"

namespace mxnet {

struct Error::State {
  ErrorCode code;
  std::string tag, message, trace, text;
  std::source_location where;
};

namespace {

std::string make_text(ErrorCode code, std::string_view tag, std::string_view message,
                      std::string_view trace, const std::source_location& where) {
  std::string text = fmt::format("{}: ", error_class_name(code));
  if (!tag.empty()) text += fmt::format("[{}] ", tag);
  text += message;
  // Where we are at fault, the reader of the message is one of us.
  if (code == ErrorCode::kInternal) {
    text += fmt::format(" (internal error at {}:{}; please report it)",
                        short_source_path(where.file_name()), where.line());
  }
  return text.append(trace);
}

// "\nStack trace:\n" and frames, where a row asks for them.
std::string make_trace() {
  const int depth = error_stack_depth();
  return depth > 0 ? "\nStack trace:" + stack_trace(depth) : std::string();
}

}  // namespace

const char* error_class_name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kValue:
      return "ValueError";
    case ErrorCode::kType:
      return "TypeError";
    case ErrorCode::kIndex:
      return "IndexError";
    case ErrorCode::kAttribute:
      return "AttributeError";
    case ErrorCode::kNotImplemented:
      return "NotImplementedError";
    case ErrorCode::kGeneric:
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kInternal:
      break;
  }
  return "MXNetError";
}

Error::Error(ErrorCode code, std::string message, std::source_location where)
    : Error(code, "", std::move(message), where) {}

Error::Error(ErrorCode code, std::string_view tag, std::string message,
             std::source_location where) {
  std::string trace = make_trace();
  std::string text = make_text(code, tag, message, trace, where);
  state_ = std::make_shared<const State>(
      State{code, std::string(tag), std::move(message), std::move(trace), std::move(text), where});
}

Error Error::retold(std::string_view tag, std::string message) const {
  std::string text = make_text(code(), tag, message, state_->trace, where());
  return Error(std::make_shared<const State>(State{code(), std::string(tag), std::move(message),
                                                   state_->trace, std::move(text), where()}));
}

Error::~Error() = default;
Error::Error(const Error&) noexcept = default;
Error& Error::operator=(const Error&) noexcept = default;

ErrorCode Error::code() const noexcept { return state_->code; }
const std::string& Error::tag() const noexcept { return state_->tag; }
const std::string& Error::message() const noexcept { return state_->message; }
const std::source_location& Error::where() const noexcept { return state_->where; }
const char* Error::what() const noexcept { return state_->text.c_str(); }

void assertion_failed(const char* expression, std::source_location where) {
  throw Error(ErrorCode::kInternal, fmt::format("assertion failed: {}", expression), where);
}

}  // namespace mxnet
