// SPDX-License-Identifier: Apache-2.0
// What must hold for every text that a configuration parser is fed; shared by the bounded
// random test and the libFuzzer target.
#pragma once
#include <string_view>

namespace mxnet::testing {

// Parses `text` as every value type and against every row. Throws
// std::logic_error that names the broken property.
void check_config_parsers(std::string_view text);

}  // namespace mxnet::testing
