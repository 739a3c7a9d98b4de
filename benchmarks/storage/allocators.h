// SPDX-License-Identifier: Apache-2.0
// The pool and its peers behind one pair of calls. All pay the same indirect call.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "storage/storage.h"

namespace mxnet::bench {

// Thread-safe.
class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual std::string name() const = 0;
  virtual Block allocate(std::size_t bytes) = 0;
  virtual void release(const Block& block) = 0;
};

// The pool with each strategy, then glibc's malloc and whichever of mimalloc and jemalloc is there;
// says what is not.
std::vector<std::unique_ptr<Allocator>> all_allocators();

}  // namespace mxnet::bench
