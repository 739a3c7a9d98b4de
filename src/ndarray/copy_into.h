// SPDX-License-Identifier: Apache-2.0
// Filling the parts of arrays one by one, and copies of the parts: how front ends build sparse
// arrays and look into them.
#pragma once
#include "ndarray/ndarray.h"

namespace mxnet {

inline constexpr int kValuesPart = -1;  // else the number of an index array

// Blocks. Puts the values of `from` (the stored ones, if it is sparse) into `to`: into its elements
// or stored values (`part` kValuesPart), or into an index array. Types are converted. What is
// written takes the shape of `from`: a dense `to` gets memory of its own where the old window is
// too small, which is an Error(kValue) for a view.
void sync_copy_into(NDArray& to, const NDArray& from, int part);

// Blocks. A dense copy of the values or of an index array. Throws Error(kValue or kIndex) where
// there is no such part.
NDArray copy_part(const NDArray& array, int part);

// The number of a part's index type. Throws as copy_part.
DType aux_dtype(const NDArray& array, int aux);

}  // namespace mxnet
