// SPDX-License-Identifier: Apache-2.0
// The mode that says what 0 means in a shape that a caller hands over or gets: with NumPy semantics
// a dimension of that size, without them "unknown". Inside the library unknown is always -1 (see
// shape.h); only the border and saved files ask for the mode.
#pragma once

namespace mxnet {

// The numbers are those of the C ABI.
enum class NumpyShape : int { kOff = 0, kThread = 1, kGlobal = 2 };

// As the calling thread sees it: global wins. Thread-safe.
NumpyShape numpy_shape() noexcept;
inline bool is_numpy_shape() noexcept { return numpy_shape() != NumpyShape::kOff; }

// Returns the mode before. kOff clears both the thread's and the global one; throws Error(kValue)
// on another number.
NumpyShape set_numpy_shape(int mode);

}  // namespace mxnet
