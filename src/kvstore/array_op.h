// SPDX-License-Identifier: Apache-2.0
// A piece of work on whole arrays as an engine operation.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ndarray/ndarray.h"

namespace mxnet::kvstore {

// Where the elements lie, in the order in which the arrays were given.
struct Addresses {
  std::vector<const void*> reads;
  std::vector<void*> writes;
};

struct ArrayOp {
  std::vector<NDArray> reads, writes;            // an array may be in both
  const char* name;                              // a literal
  std::shared_ptr<const void> params = nullptr;  // of the plug-in's kernel of that name, if any
  int priority = 0;
  bool serial = false;  // one after the other with all others that say so
};

// Pushes `body`, for dense arrays in host memory or on one simulated GPU, whose kernels run on the
// host. On a real GPU it is the plug-in's kernel of the operation's name; throws
// Error(kNotImplemented) where it has none.
void push_dense(ArrayOp op, std::function<void(const Addresses&)> body);
// Pushes `body`, which reaches into the arrays itself; all in host memory.
void push_on_host(ArrayOp op,
                  std::function<void(std::span<const NDArray>, std::span<const NDArray>)> body);

}  // namespace mxnet::kvstore
