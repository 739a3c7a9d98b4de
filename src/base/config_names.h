// SPDX-License-Identifier: Apache-2.0
// Names that are no rows: whose they are, and what the user probably meant.
#pragma once
#include <string>
#include <string_view>

namespace mxnet {

// Whether an unknown variable of this name deserves a word: it starts with MXNET_ and is not one of
// those that Kubernetes makes for a service called mxnet-...
bool is_ours(std::string_view name);

// The known name (a row's or an alias) closest to `name`; empty if none is close.
std::string nearest_name(std::string_view name);

// "MXNET_FOO is not a known variable; did you mean MXNET_FOOD?"
std::string unknown_name_text(std::string_view name);

}  // namespace mxnet
