// SPDX-License-Identifier: Apache-2.0
// Sums of gradients that arrive one after the other.
#pragma once
#include "exec/rule_run.h"

namespace mxnet {

// The gradient of one value so far. Adds in place where it owns the memory.
class GradSum {
 public:
  void add(InputGrad grad);
  bool empty() const { return sum_.is_none(); }
  const NDArray& sum() const { return sum_; }
  NDArray take() { return std::move(sum_); }

 private:
  NDArray sum_;
  bool owned_ = false;
};

// The buffer of a leaf during one backward pass: a write request writes first and adds afterwards.
class LeafBuffer {
 public:
  LeafBuffer(const NDArray& buffer, Request request) : target_{&buffer, request} {}
  // For an operation that can compute straight into the buffer; accept() what came of it.
  GradTarget target() const { return target_; }
  void accept(const InputGrad& grad);
  // Zeros where nothing has arrived, if the request is to write.
  void finish();

 private:
  GradTarget target_;
  bool written_ = false;
};

}  // namespace mxnet
