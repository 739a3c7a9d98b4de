// SPDX-License-Identifier: Apache-2.0
// Apart from the distributions, which kernels of GPUs are compiled from.
#include "op/random/domain.h"

#include <fmt/format.h>

namespace mxnet::samplers {

bool holds(Domain domain, float number) {
  return domain == Domain::kAny || number > 0 || (domain == Domain::kNotNegative && number == 0);
}

std::string refusal(const char* name, float number, Domain domain) {
  return fmt::format("given {} = {}, expected a number {} 0", name, number,
                     domain == Domain::kPositive ? "above" : "not below");
}

}  // namespace mxnet::samplers
