// SPDX-License-Identifier: Apache-2.0
// A graph compiled for given shapes: the order of the operators, the kernel of each, the memory of
// every value and the engine operations (segments) that they are merged into. Executor, CachedOp
// and the predict API run nothing else.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/invoke.h"
#include "graph/indexed_graph.h"
#include "graph/memory_plan_graph.h"
#include "graph/memory_plan_order.h"
#include "op/prepared_kernel.h"

namespace mxnet {

struct PlanOptions {
  Device device;
  bool training = false;
  // Random numbers that nobody looks at are drawn, too: by a compiled block, whose calls without a
  // plan draw them. An executor of 1.9.1 does not.
  bool dead_draws = false;
  // Outputs that the forward part computes; the others are the backward part's (gradients).
  int forward_outputs = INT_MAX;
  std::vector<Request> requests;  // per output; empty = all kWrite
  // Operators in one engine operation; 0 = all of the part.
  int forward_bulk = 0, backward_bulk = 0;
  // Whoever runs it waits for the result anyway: on the CPU it runs on the caller's own thread,
  // however long it takes.
  bool on_caller = false;
  PackingOptions packing;
  bool inplace = true;
  // Branches with memory of their own, and workspaces of kernels that they share: engine operations
  // of different branches and workspaces may run at the same time.
  int branches = 1, workspaces = 1;
  // Values lie in layouts of the kernels' choice; in inference operators are fused, too.
  bool optimise = false;
  // Neighbouring pointwise operators run as one. On a GPU convolutions take over what follows them,
  // too, and images lie as they want them.
  bool fuse_pointwise = false;
  // Arrays stay where they are from run to run: segments may be graphs of the device.
  bool replay = false;

  // What the configuration says for inference and for training.
  static PlanOptions configured(Device device, bool training);
};

// The order in which a plan with these options runs.
Schedule plan_schedule(const IndexedGraph& graph, const PlanOptions& options);

// Per node, null for those that run as every call does; empty = none.
using PreparedKernels = std::vector<PreparedKernelRef>;

// The memory that a plan with these options has.
GraphMemory plan_graph_memory(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                              const Schedule& schedule, const PlanOptions& options,
                              const PreparedKernels& kernels = {},
                              const std::vector<Turns>& turns = {});

// Immutable, shared by threads; each runs it on a PlanInstance of its own. Arrays of the caller
// ("externals") are numbered: the graph's variables in order, then its outputs.
//
// Invariant: running the steps one after the other computes all outputs, whatever the arena held
// before.
class Plan {
 public:
  // REQUIRES: `types` (one per entry) complete and no operator with shape_from_values. Throws
  // Error(kType) naming the node for which there is no kernel. `memory`: what plan_graph_memory()
  // says of these, if that is known.
  Plan(IndexedGraph graph, std::vector<ArrayType> types, const PlanOptions& options,
       PreparedKernels kernels = {}, std::optional<GraphMemory> memory = {});

  // One kernel call. Its tensors are inputs, then outputs, from `first_tensor` on.
  struct Step {
    const KernelEntry* kernel;       // null where it is prepared
    const PreparedKernel* prepared;  // null for most
    const OpDef* op;
    const char* title;  // of the operator, or of the operators in one
    const void* params;
    int node;
    uint32_t first_tensor;
    uint32_t num_in, num_out;
    // The one output is to be added to its array: the tensor before it holds what is added.
    bool accumulate;
    bool by_pass;       // OpDef::goes_by_pass
    bool kept;          // runs only if what it reads has changed since its last run
    uint8_t workspace;  // of the kernel
  };
  // Where a tensor lies: in an arena, at an external (external >= 0), in a constant, in memory that
  // outlives a run (kept >= 0), or nowhere.
  struct TensorPlace {
    const ArrayType* type;
    std::size_t offset = 0;
    int external = -1;
    int arena = -1;
    int kept = -1;
    const NDArray* constant = nullptr;  // lives in the graph
  };
  // An external that a segment uses, and the tensors that are it: slots[first, first + count).
  struct Use {
    int external;
    bool writes;
    uint32_t first, count;
  };
  // Steps [first, last) that run so many times before the next. Before each time but the first the
  // addresses of these tensors move by so many bytes.
  struct TurnedSteps {
    struct Moving {
      uint32_t tensor;
      std::size_t bytes;
    };
    int first_step, last_step, times;
    std::vector<Moving> moving;
  };
  // Consecutive steps that are one engine operation.
  struct Segment {
    int first_step, last_step;  // [first, last)
    uint32_t first_use, num_uses;
    uint32_t arenas_read, arenas_written;  // a bit for each; workspaces count as what is written
    uint32_t arenas_begun;                 // those that no segment before it has used
    bool cheap;                            // may run on the caller's thread
    bool narrow;                           // so small that one thread computes it as soon
    bool random;                           // draws random numbers
    bool random_on_host;  // also from the host's streams, for a GPU (run_on_host.h)
  };

  const IndexedGraph& graph() const { return graph_; }
  const std::vector<ArrayType>& types() const { return types_; }
  const PlanOptions& options() const { return options_; }
  const GraphMemory& memory() const { return memory_; }

  int num_variables() const { return static_cast<int>(graph_.variables().size()); }
  int num_outputs() const { return static_cast<int>(graph_.outputs().size()); }
  int num_externals() const { return num_variables() + num_outputs(); }
  const ArrayType& external_type(int external) const;

  int num_arenas() const { return static_cast<int>(memory_.arenas.size()); }
  int num_workspaces() const { return std::min(options_.workspaces, num_arenas()); }
  std::span<const Step> steps() const { return steps_; }
  std::span<const TensorPlace> tensors() const { return tensors_; }
  std::span<const TurnedSteps> turned() const { return turned_; }
  std::span<const Segment> segments() const { return segments_; }
  std::span<const Segment> forward_segments() const {
    return segments().first(static_cast<std::size_t>(num_forward_segments_));
  }
  std::span<const Segment> backward_segments() const {
    return segments().subspan(static_cast<std::size_t>(num_forward_segments_));
  }
  std::span<const Use> uses(const Segment& segment) const {
    return std::span(uses_).subspan(segment.first_use, segment.num_uses);
  }
  std::span<const uint32_t> slots(const Use& use) const {
    return std::span(slots_).subspan(use.first, use.count);
  }
  // Whether anybody reads the values of output `o` of a step's operator: a step, or whoever wants
  // the results.
  bool is_read(const Step& step, int o) const {
    const int entry = graph_.first_entry(step.node) + o;
    return read_[static_cast<std::size_t>(entry)];
  }
  // Whether a run writes the array of an output as a whole.
  bool overwrites(int output) const;
  // For traces: the operator of a segment of one, else "forward" or "backward".
  const char* segment_name(const Segment& segment) const;
  // "fc1(FullyConnected)"
  std::string step_name(const Step& step) const;
  const char* kernel_name(const Step& step) const {
    return step.prepared != nullptr ? step.prepared->name() : step.kernel->name;
  }
  bool has_prepared() const { return !kernels_.empty(); }
  const ArrayType& kept_type(int kept) const {
    return types_[static_cast<std::size_t>(memory_.kept[static_cast<std::size_t>(kept)])];
  }
  // Every step with its memory, and the totals.
  std::string debug_str() const;
  std::string memory_str() const;

 private:
  void find_reads();
  void add_steps(const Schedule& schedule);
  void add_node(int n);
  void add_turned(const Turns& turns, int first_step);
  void add_delivery(const Delivery& delivery);
  void add_tensor(int entry, bool value);
  void add_segments(int first_step, int last_step, int bulk);
  void add_uses(Segment* segment);
  void add_arenas(Segment* segment) const;
  uint8_t workspace_of(int n) const;
  int64_t elements_of_operator(const Step& step) const;

  const IndexedGraph graph_;
  const std::vector<ArrayType> types_;
  const PlanOptions options_;
  PreparedKernels kernels_;  // those of turns are replaced at first
  std::vector<Turns> turns_;
  GraphMemory memory_;
  std::vector<int> variable_index_;  // per node: position among the variables
  std::vector<bool> read_;           // per entry
  std::vector<Step> steps_;
  std::vector<TensorPlace> tensors_;
  std::vector<TurnedSteps> turned_;
  std::deque<ArrayType> parts_;  // types of tensors of turns
  std::vector<Segment> segments_;
  std::vector<Use> uses_;
  std::vector<uint32_t> slots_;
  int num_forward_steps_ = 0, num_forward_segments_ = 0;
};

}  // namespace mxnet
