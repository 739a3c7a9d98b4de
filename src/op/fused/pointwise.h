// SPDX-License-Identifier: Apache-2.0
// Chains of pointwise operators as one: a tile of a few thousand elements goes through all of them
// while it is in cache, so that values between them never reach memory. Each step runs the
// operator's own kernel on the tile, so that results are those of the operators one by one, bit
// for bit.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/export.h"
#include "base/shape.h"
#include "op/op_def.h"

namespace mxnet {

struct PointwiseStep {
  const OpDef* op = nullptr;
  std::shared_ptr<const void> params;
  std::vector<int> in;            // i: input i of the chain; -1 - k: what step k computed
  DType dtype = DType::kUnknown;  // of the result
  // Filled by PointwiseChain::finish().
  int output = -1;  // the chain's output that the result is, or
  int slot = -1;    // the buffer that holds it
  int lent = -1;    // or the output in whose place it lies until that is computed, where it may
};

// A place for what is derived from a chain. Thread-safe: whoever fills it fills in the same.
class ChainSlot {
 public:
  ChainSlot() = default;
  ChainSlot(const ChainSlot&) {}
  ChainSlot& operator=(const ChainSlot&) { return *this; }

  // Acquire and release: what the pointer leads to is seen.
  const void* get() const { return made_.load(std::memory_order_acquire); }
  void set(const void* made) const { made_.store(made, std::memory_order_release); }

 private:
  mutable std::atomic<const void*> made_{nullptr};
};

// Parameters of the operator `kName`. Inputs have `shape`'s number of elements, or one.
struct PointwiseChain {
  static constexpr const char* kName = "_sg_pointwise";

  std::vector<PointwiseStep> steps;
  // Steps whose results are the outputs. The first is the last step, so that its output may lie
  // where an input does: by then all others have read it.
  std::vector<int> outputs;
  Shape shape;
  int num_inputs = 0;
  int num_slots = 0;
  std::vector<int> last_read;  // of each input: the last step that reads it, or -1
  const char* title = kName;   // the operators, for traces; lives for ever
  // What a GPU's plug-in has made of the chain (plugin/cuda/rtc/chain_row.cc); not copied.
  ChainSlot compiled;

  // Once all steps are there: gives each result its output or a buffer (buffers are used again
  // after the last reader), and the chain its title.
  void finish();

 private:
  void lend_outputs(const std::vector<int>& last_reader);
};

// The steps one by one over whole arrays, for GPUs. REQUIRES: portable kernels (op/gpu.h).
MX_PLUGIN_API void run_chain_steps(const PointwiseChain& chain, KernelContext& context);

// What traces call an operator, and how many it is: a chain by the names of its own.
const char* operator_title(const OpDef& op, const void* params);
int operator_count(const OpDef& op, const void* params);

}  // namespace mxnet
