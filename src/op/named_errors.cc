// SPDX-License-Identifier: Apache-2.0
// From an exception of any kind to an Error that names an operator.
#include "op/named_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string>

#include "base/error.h"
#include "engine/engine.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

bool answers_to(const OpDef& op, const std::string& name) {
  const std::vector<std::string>& aliases = op.aliases();
  return name == op.name() || std::find(aliases.begin(), aliases.end(), name) != aliases.end();
}

// Whether the tag is more than the name of a helper: that of an operator within this one, or of a
// device whose memory does not suffice.
bool says_more(const Error& error) {
  return error.code() == ErrorCode::kOutOfMemory || Registry::get().find(error.tag()) != nullptr;
}

}  // namespace

void rethrow_told_by(const OpDef& op, std::string_view name,
                     const std::function<std::string()>& after_text) {
  const auto explained = [&](const std::string& text) {
    return after_text ? text + after_text() : text;
  };
  try {
    throw;
  } catch (const Error& error) {
    const bool own = answers_to(op, error.tag());
    if (error.tag() == kEngineTag || (own && name == op.name() && !after_text)) throw;
    throw error.retold(name, explained(!own && says_more(error)
                                           ? fmt::format("{}: {}", error.tag(), error.message())
                                           : error.message()));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory, name, "out of host memory");
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kGeneric, name, explained(error.what()));
  }
}

}  // namespace mxnet
