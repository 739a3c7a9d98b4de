// SPDX-License-Identifier: Apache-2.0
// Compression of an array as an engine operation.
#pragma once
#include "kvstore/compression.h"
#include "ndarray/ndarray.h"

namespace mxnet::kvstore {

// Throws Error(kType) for values that have no bits: other than float32.
void check_packable(const NDArray& value);
// rest += value; what of it `packed` says is taken off again. REQUIRES: check_packable(value).
void push_pack(const Compression& compression, const NDArray& value, const NDArray& rest,
               const NDArray& packed, int priority);
// value = what `packed` says.
void push_unpack(const Compression& compression, const NDArray& packed, const NDArray& value,
                 int priority);

}  // namespace mxnet::kvstore
