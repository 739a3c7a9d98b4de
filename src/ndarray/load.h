// SPDX-License-Identifier: Apache-2.0
// Arrays read from files and memory, V0 to V3. The bytes may come from anywhere: what does not hold
// together is an error that names file and offset; no field makes us take more memory than the file
// is long. See params_format.h.
#pragma once
#include <string>
#include <vector>

#include "base/numpy_shape.h"
#include "ndarray/byte_source.h"
#include "ndarray/ndarray.h"

namespace mxnet {

struct LoadedArrays {
  std::vector<NDArray> arrays;
  std::vector<std::string> names;  // as many as arrays, or none: a list
};

// One record, placed where it was saved if that GPU is here, else on cpu(0). `mode` decides which
// versions are welcome: V3 needs NumPy shapes; the others need them off or global, then dense only.
NDArray load_record(ByteSource& source, NumpyShape mode);

// A whole file; bytes after it are ignored.
LoadedArrays load_arrays(ByteSource& source, NumpyShape mode);

}  // namespace mxnet
