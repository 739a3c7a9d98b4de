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
  const KernelEntry* kernel = nullptr;  // on the CPU
  int output = -1;                      // the chain's output that the result is, or
  int slot = -1;                        // the buffer that holds it
  int lent = -1;  // or the output in whose place it lies until that is computed, where it may
};

// What a chain reads from outside.
struct PointwiseInput {
  DType dtype = DType::kUnknown;
  bool single = false;  // one element, for all places
  int last_read = -1;   // the last step that reads it; filled by PointwiseChain::finish()
};

// An input or the result of a step, and where it lies.
struct PointwiseOperand {
  DType dtype = DType::kUnknown;
  bool single = false;
  int input = -1;   // of the chain, or
  int output = -1;  // of the chain, where that has nothing that step `from` or a later one reads,
  int from = 0;
  int slot = -1;  // else this buffer
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

// Parameters of the operator `kName`. Inputs have `shape`'s number of elements, or are single.
struct PointwiseChain {
  static constexpr const char* kName = "_sg_pointwise";

  std::vector<PointwiseStep> steps;
  // Steps whose results are the outputs. The first is the last step, so that its output may lie
  // where an input does: by then all others have read it.
  std::vector<int> outputs;
  Shape shape;
  std::vector<PointwiseInput> inputs;
  const char* title = kName;  // the operators, for traces; lives for ever
  // Filled by finish().
  std::vector<PointwiseOperand> operands;  // of all steps: what each reads, then its result
  int num_slots = 0;
  std::size_t widest = 0;         // bytes of an element of the widest type
  std::size_t element_bytes = 0;  // of all arrays and slots together
  // What a GPU's plug-in has made of the chain (plugin/cuda/rtc/chain_row.cc); not copied.
  ChainSlot compiled;

  // Once all steps and inputs are there: gives each result its output or a buffer (buffers are used
  // again after the last reader), and the chain its title.
  void finish();

 private:
  void give_places(std::vector<int> last_reader);
  void list_operands();
  void lend_outputs(const std::vector<int>& last_reader);
};

// The steps one by one over whole arrays, for GPUs. REQUIRES: portable kernels (op/run/gpu.h).
MX_PLUGIN_API void run_chain_steps(const PointwiseChain& chain, KernelContext& context);

// What traces call an operator, and how many it is: a chain by the names of its own.
const char* operator_title(const OpDef& op, const void* params);
int operator_count(const OpDef& op, const void* params);

}  // namespace mxnet
