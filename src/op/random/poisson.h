// SPDX-License-Identifier: Apache-2.0
// Runs of Poisson numbers of one mean, or of means that are drawn, too: those of
// RandomNumbers::poisson() and gamma() bit for bit.
#pragma once
#include <cstdint>

#include "op/generators/mt19937.h"

namespace mxnet {

// Whether the mean is one that numbers are drawn for; of others (NaN, or too large) nothing is.
bool fill_poisson(Mt19937& stream, float* out, int64_t n, float mean);

// Numbers [first, last), of which `each` in turn have the mean of one place, whatever that is.
void fill_poisson_of_means(Mt19937& stream, float* out, int64_t first, int64_t last,
                           const double* means, int64_t each);

// Each of a mean that is a gamma number, of so many words that follow.
void fill_gamma_poisson(Mt19937& stream, float* out, int64_t n, float alpha, float beta);

}  // namespace mxnet
