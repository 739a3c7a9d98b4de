// SPDX-License-Identifier: Apache-2.0
// Arrays written to files and memory, byte for byte as MXNet 1.x writes them. See params_format.h.
#pragma once
#include <span>
#include <string>

#include "ndarray/byte_sink.h"
#include "ndarray/ndarray.h"

namespace mxnet {

// One record: V3 with `numpy_shapes`, else V2. Waits for the array. Throws Error(kValue) for an
// array without data, for a sparse one with `numpy_shapes` (the format has none), and for a scalar
// without.
void save_record(const NDArray& array, bool numpy_shapes, ByteSink& sink);

// A whole file: a list where `names` is empty, else a dictionary in the given order (one name an
// array, Error(kValue) otherwise). Duplicate names are written as given.
void save_arrays(std::span<const NDArray> arrays, std::span<const std::string> names,
                 bool numpy_shapes, ByteSink& sink);

// To `path`, atomically: on any failure the old file stays.
void save_file(const std::string& path, std::span<const NDArray> arrays,
               std::span<const std::string> names, bool numpy_shapes);

}  // namespace mxnet
