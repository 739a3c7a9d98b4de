// SPDX-License-Identifier: Apache-2.0
// From an exception of any kind to an Error that names an operator.
#include "op/named_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>

#include "base/error.h"
#include "engine/engine.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

bool answers_to(const OpDef& op, const std::string& name) {
  const std::vector<std::string>& aliases = op.aliases();
  return name == op.name() || std::find(aliases.begin(), aliases.end(), name) != aliases.end();
}

// Whether the tag is a node's title, such as that of one in the body of a loop.
bool is_title(std::string_view tag) {
  const std::size_t open = tag.rfind('(');
  return open != std::string_view::npos && tag.ends_with(')') &&
         Registry::get().find(tag.substr(open + 1, tag.size() - open - 2)) != nullptr;
}

// Whether the tag is more than the name of a helper: that of an operator or a node within this one,
// or of a device whose memory does not suffice.
bool says_more(const Error& error) {
  return error.code() == ErrorCode::kOutOfMemory || Registry::get().find(error.tag()) != nullptr ||
         is_title(error.tag());
}

}  // namespace

std::string title_of(const ir::Node& node) {
  return fmt::format("{}({})", node.name, node.is_variable() ? "null" : node.op->name());
}

void rethrow_told_by(const OpDef& op, std::string_view name,
                     const std::function<std::string()>& after_text) {
  const auto explained = [&](const std::string& text) {
    return after_text ? text + after_text() : text;
  };
  try {
    throw;
  } catch (const Error& error) {
    const bool own = error.tag() == name || answers_to(op, error.tag());
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
