// SPDX-License-Identifier: Apache-2.0
// Calls that hand over a null or a number without meaning, by function; each must be an error.
#pragma once
#include <functional>
#include <map>
#include <string>

using NullCall = std::function<int()>;

std::multimap<std::string, NullCall> data_null_calls();
std::multimap<std::string, NullCall> profiler_null_calls();
