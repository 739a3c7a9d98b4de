// SPDX-License-Identifier: Apache-2.0
// Backends by name: what optimize_for, get_backend_symbol and MXNET_SUBGRAPH_BACKEND do to a graph.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/infer_symbol.h"
#include "graph/partition.h"
#include "op/params/param.h"

namespace mxnet {

// Registering a name again replaces it; thread-safe.
void register_backend(const std::string& name, std::shared_ptr<const Partitioner> partitioner);
bool remove_backend(const std::string& name);
// One that looks at a whole graph and takes its parts out by itself, with operators of its own: an
// extension's. Executors run what it leaves. `types`: of each entry, as far as they are known, or
// none. Stays as long as the process lives, whatever register_backend does with its name.
using GraphBackend = std::function<ir::Graph(
    const ir::Graph& graph, const std::vector<ArrayType>& types, const Attrs& options)>;
void register_graph_backend(const std::string& name, GraphBackend backend);
// Empty where there is none of this name.
GraphBackend graph_backend(const std::string& name);
// Throws Error(kValue) with the names there are, `others` among them: what the caller takes
// besides.
void check_backend(const std::string& name, std::span<const std::string> others = {});
// Throws as check_backend does. Null for the backends that select nothing by themselves: those that
// work when a graph is compiled (ONEDNN, or MKLDNN, and the one that prepares for quantization),
// and those of whole graphs.
std::shared_ptr<const Partitioner> backend(const std::string& name);

// ONEDNN or its older name: graphs are fused and laid out when they are compiled.
inline bool is_onednn_backend(std::string_view name) {
  return name == "ONEDNN" || name == "MKLDNN";
}

// The graph as the backend leaves it. `known` is what is known of its variables. Options:
// dedup_subgraph (parts that compute the same share one graph), and the backend's own.
ir::Graph optimize_for_backend(const ir::Graph& graph, const std::string& name,
                               const Attrs& options, const KnownTypes& known);

// What an executor with this backend runs, as a symbol that can be saved: `compiled` are its
// passes' results. Layers that run as one are one node, in inference.
ir::Graph shown_for_backend(const ir::Graph& compiled, const std::string& name, bool training);

}  // namespace mxnet
