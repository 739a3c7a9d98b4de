// SPDX-License-Identifier: Apache-2.0
// What of this process's address space may be read and run: for addresses that programs pass as
// texts, of which nothing else tells whether anything is there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mxnet::c_api {

class AddressMap {
 public:
  // As it is now. Where the system does not tell, everything is allowed.
  AddressMap();

  bool readable(uintptr_t address, std::size_t bytes) const;
  // REQUIRES: a function pointer.
  bool runs(uintptr_t address) const;

 private:
  struct Range {
    uintptr_t begin, end;
    bool readable, runs;
  };
  std::vector<Range> ranges_;  // in order; empty where the system does not tell
};

}  // namespace mxnet::c_api
