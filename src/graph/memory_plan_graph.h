// SPDX-License-Identifier: Apache-2.0
// Which memory each value of a graph gets: an array of the caller, or a window of an arena that it
// may share with values that do not live at the same time. There is one arena for each colour of
// the graph's branches (branches.h): one, as a rule.
#pragma once
#include <climits>
#include <cstddef>
#include <vector>

#include "graph/indexed_graph.h"
#include "graph/memory_plan.h"
#include "op/infer.h"

namespace mxnet {

struct Place {
  enum class Kind : unsigned char {
    kUnused,    // nobody needs the value in memory
    kVariable,  // the caller's array for a variable; index = node
    kOutput,    // the caller's array for a result; index = position among the graph's outputs
    kConstant,  // part of the graph (op/create/constant.h); index = node
    kArena,     // offset; index = arena
    kKept,      // memory of its own that outlives a run; index = among those
  };
  Kind kind = Kind::kUnused;
  int index = 0;
  std::size_t offset = 0;
  bool part = false;  // has the bytes of one part of its turns, and each turn uses them again
};

// Steps [first, last] run so many times, each time on another part of all that they read and write:
// a value that is used nowhere else has the bytes of a part.
struct Turns {
  int first = 0, last = 0, parts = 1;
};

struct GraphMemoryOptions {
  PackingOptions packing;
  bool inplace = true;  // MXNET_EXEC_ENABLE_INPLACE
  // Per output of the graph: its array is written as a whole, so that the value may be computed
  // into it. Otherwise the value stays in the arena and is delivered.
  std::vector<bool> direct_outputs;
  // Per entry: bytes of a value that does not lie in plain rows, 0 for others; empty = none.
  std::vector<std::size_t> layout_bytes;
  // Per node: its colour, which is the arena of what it makes; empty = all 0.
  std::vector<int> colors;
  // Per node: its one output is its inputs one behind the other, byte by byte, and it copies none
  // that lies there already; empty = none does.
  std::vector<bool> joins;
  // Per node: its results stay from run to run, each in memory of its own; empty = none do. None of
  // them is an output of the graph.
  std::vector<bool> kept;
  // In order, apart from each other; they make no output of the graph.
  std::vector<Turns> turns;
  // Outputs and steps from here on belong to a second part (backward) that runs later: arrays of
  // its results are not touched before. By default there is no such part.
  int backward_output = INT_MAX, backward_step = INT_MAX;
};

// Whoever runs the graph copies (or adds) a value to output `output` before step `step` runs.
struct Delivery {
  int output = 0;
  int step = 0;
};

struct GraphMemory {
  std::vector<Place> places;         // per entry
  std::vector<Delivery> deliveries;  // by step
  std::vector<int> colors;           // as given
  std::vector<std::size_t> arenas;   // bytes of each
  std::vector<int> kept;             // entries that outlive a run
  std::size_t kept_bytes = 0;        // of these
  std::size_t arena_bytes = 0;       // of all arenas: what is planned
  std::size_t output_bytes = 0;      // values that lie in the caller's arrays for results
  std::size_t unshared_bytes = 0;    // of all values, had each memory of its own
};

// `schedule` lists the nodes that are operators in the order in which they run; `types` are
// complete.
GraphMemory plan_memory(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                        const std::vector<int>& schedule, const GraphMemoryOptions& options);

}  // namespace mxnet
