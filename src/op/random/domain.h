// SPDX-License-Identifier: Apache-2.0
// What a number must be to be a parameter of a distribution.
#pragma once
#include <cstdint>
#include <string>

namespace mxnet::samplers {

enum class Domain : uint8_t { kAny, kPositive, kNotNegative };

bool holds(Domain domain, float number);
// What to say of a parameter that is outside of its domain.
std::string refusal(const char* name, float number, Domain domain);

}  // namespace mxnet::samplers
