// SPDX-License-Identifier: Apache-2.0
// Flags of cached ops, read from text.
#include <fmt/format.h>

#include "base/error.h"
#include "exec/cached_op.h"
#include "op/params/param_text.h"

namespace mxnet {
namespace {

template <class T>
T flag_value(std::string_view key, std::string_view text) {
  try {
    return ParamText<T>::parse(text);
  } catch (const ParamError& error) {
    throw Error(ErrorCode::kValue, "CachedOp",
                fmt::format("given {}='{}', expected {}{}{}", key, text, ParamText<T>::kType,
                            error.detail.empty() ? "" : ": ", error.detail));
  }
}

std::vector<int> indices_of(std::string_view key, std::string_view text) {
  if (text.empty() || text == "[]" || text == "()") return {};
  std::vector<int> indices;
  for (int64_t index : flag_value<std::vector<int64_t>>(key, text))
    indices.push_back(static_cast<int>(index));
  return indices;
}

}  // namespace

CachedOpFlags CachedOpFlags::parse(AttrList flags) {
  CachedOpFlags result;
  for (const auto& [key, text] : flags) {
    if (key == "static_alloc") {
      result.static_alloc = flag_value<bool>(key, text);
    } else if (key == "static_shape") {
      result.static_shape = flag_value<bool>(key, text);
    } else if (key == "is_np_shape") {
      result.is_np_shape = flag_value<bool>(key, text);
    } else if (key == "inline_limit") {
      result.inline_limit = flag_value<int32_t>(key, text);
    } else if (key == "forward_bulk_size") {
      result.forward_bulk_size = flag_value<int32_t>(key, text);
    } else if (key == "backward_bulk_size") {
      result.backward_bulk_size = flag_value<int32_t>(key, text);
    } else if (key == "data_indices") {
      result.data_indices = indices_of(key, text);
    } else if (key == "param_indices") {
      result.param_indices = indices_of(key, text);
    } else if (!key.starts_with("__")) {
      throw Error(ErrorCode::kValue, "CachedOp",
                  fmt::format("given unknown flag '{}', expected static_alloc, static_shape, "
                              "is_np_shape, inline_limit, forward_bulk_size, backward_bulk_size, "
                              "data_indices or param_indices",
                              key));
    }
  }
  if (result.static_shape && !result.static_alloc) {
    throw Error(ErrorCode::kValue, "CachedOp",
                "given static_shape without static_alloc, expected both");
  }
  return result;
}

}  // namespace mxnet
