// SPDX-License-Identifier: Apache-2.0
// Writing into an array's memory on the caller's thread, outside of the engine.
#pragma once
#include "ndarray/ndarray.h"

namespace mxnet {

// While one lives the caller writes into the array: all operations pushed before are done, and when
// it goes a version is counted, however far the caller has come, so that operations after it find
// nothing kept of the values before. May not be used inside an operation. Rethrows, as a wait does.
class HostWrite {
 public:
  explicit HostWrite(const NDArray& array);
  ~HostWrite();
  HostWrite(const HostWrite&) = delete;
  HostWrite& operator=(const HostWrite&) = delete;

 private:
  const Ref<Chunk> chunk_;
};

}  // namespace mxnet
