// SPDX-License-Identifier: Apache-2.0
// What the operations of a call read and write.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mxnet {
class Var;
}

namespace mxnet::kvstore {

// A table of variables that is filled and cleared for each call or bunch, and allocates only while
// it grows. One thread at a time.
class UsedVariables {
 public:
  struct Use {
    const Var* var = nullptr;
    uint64_t bunch = 0;  // other than the present one: the place is free
    bool read = false, written = false;
  };

  Use& operator[](const Var* var);
  void clear() {
    ++bunch_;
    count_ = 0;
  }

 private:
  Use& place(const Var* var);

  std::vector<Use> uses_;  // a power of two
  uint64_t bunch_ = 1;
  std::size_t count_ = 0;
};

}  // namespace mxnet::kvstore
