// SPDX-License-Identifier: Apache-2.0
// SEED: the base helper completes this (stack traces).
#include "base/error.h"

namespace mxnet {

struct Error::State {
  ErrorCode code;
  std::string tag, message, text;
  std::source_location where;
};

const char* error_class_name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kValue: return "ValueError";
    case ErrorCode::kType: return "TypeError";
    case ErrorCode::kIndex: return "IndexError";
    case ErrorCode::kAttribute: return "AttributeError";
    case ErrorCode::kNotImplemented: return "NotImplementedError";
    default: return "MXNetError";
  }
}

Error::Error(ErrorCode code, std::string message, std::source_location where)
    : Error(code, "", std::move(message), where) {}
Error::Error(ErrorCode code, std::string_view tag, std::string message, std::source_location where) {
  auto s = std::make_shared<State>();
  s->code = code;
  s->tag = tag;
  s->message = std::move(message);
  s->where = where;
  s->text = std::string(error_class_name(code)) + ": " + (tag.empty() ? "" : "[" + s->tag + "] ") + s->message;
  state_ = std::move(s);
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
  throw Error(ErrorCode::kInternal, std::string("assertion failed: ") + expression, where);
}
}  // namespace mxnet
