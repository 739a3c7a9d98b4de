// SPDX-License-Identifier: Apache-2.0
// Small questions about texts that come from outside: configuration, parameters of operators,
// files.
#pragma once
#include <string>
#include <string_view>

namespace mxnet {

// `text` without blanks and line ends around it: shells and YAML files add them unseen.
std::string_view trimmed(std::string_view text);
std::string_view trimmed_front(std::string_view text);             // in front only
bool equal_ignoring_case(std::string_view a, std::string_view b);  // ASCII only
bool is_utf8(std::string_view text);

// For messages: in double quotes, what is not printable ASCII as \xNN, and cut with a note of the
// true length.
std::string quote_text(std::string_view text);

}  // namespace mxnet
