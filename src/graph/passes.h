// SPDX-License-Identifier: Apache-2.0
// The passes that every graph goes through before it is compiled, in their order, each shown before
// and after where somebody wants to see it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "graph/gradient.h"
#include "graph/infer_symbol.h"

namespace mxnet {

struct PassOptions {
  bool common_expressions = true;  // MXNET_ELIMINATE_COMMON_EXPR
  bool node_elimination = true;    // MXNET_NODE_ELIMINATION
  bool cast_pairs = true;          // not MXNET_DISABLE_REMOVE_CASTS_PROPERTY
  // Where graphs are shown around each pass: nowhere, "stderr", or a folder (MXNET_GRAPH_DUMP).
  std::string dump;
};

// As the configuration says at the moment.
PassOptions configured_passes();
GradientOptions configured_gradient();

// `known` is what is known of the variables' types, for the passes that go by types. Nodes that
// nothing needs are no part of a graph, so that no pass has to look for them. Thread-safe.
ir::Graph run_passes(const ir::Graph& graph, const KnownTypes& known, const PassOptions& options);
// The same where the type of every entry is known.
ir::Graph run_passes(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                     const PassOptions& options);

// The passes that go over a forward and a backward part as one graph: what backward computes
// although forward has it already is computed once.
ir::Graph run_joint_passes(const ir::Graph& graph, const PassOptions& options);

// Any one pass, shown before and after where somebody wants to see it.
ir::Graph run_pass(const char* name, const ir::Graph& graph, const PassOptions& options,
                   const std::function<ir::Graph(const ir::Graph&)>& pass);

// infer_graph(), with what is known of every value shown before and after in the same way.
bool run_inference(const IndexedGraph& graph, std::vector<ArrayType>* types,
                   const PassOptions& options);

}  // namespace mxnet
