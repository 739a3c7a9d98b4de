// SPDX-License-Identifier: Apache-2.0
// From a set of variables to a Config, without touching the environment: what config() does once
// with the process's own variables, and tests with any they like.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "base/config_row.h"

namespace mxnet {

using EnvSnapshot = std::map<std::string, std::string, std::less<>>;

// A copy of the process's environment. Not safe against a concurrent
// setenv: nothing is, hence it is called once.
EnvSnapshot snapshot_environment();

// Throws Error(kValue) that tells all that is wrong at once: bad values, two spellings of one row
// that disagree and, under MXNET_STRICT_ENV=1, unknown MXNET_* names. Without strict mode, those go
// to `warnings` if given, a line each.
Config resolve(const EnvSnapshot& variables, std::vector<std::string>* warnings = nullptr);

// "NAME: given ..., expected ...", where `spelling` is the name that the user wrote.
std::string bad_value_text(const Row& row, std::string_view spelling, std::string_view value);

// Rows that nobody set and whose default is the value of another row take that value.
void follow_defaults(Config& config);

}  // namespace mxnet
