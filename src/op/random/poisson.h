// SPDX-License-Identifier: Apache-2.0
// Runs of Poisson numbers of one large mean, those of RandomNumbers::poisson() bit for bit.
#pragma once
#include <cstdint>

#include "op/generators/mt19937.h"

namespace mxnet {

// Whether the mean is one that candidates are drawn and rejected for; of others nothing is drawn.
bool fill_poisson(Mt19937& stream, float* out, int64_t n, float mean);

}  // namespace mxnet
