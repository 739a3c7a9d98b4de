// SPDX-License-Identifier: Apache-2.0
// Order of passes, and their dumps.
#include "graph/passes.h"

#include <fmt/format.h>

#include <atomic>
#include <fstream>
#include <functional>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "graph/casts.h"
#include "graph/cse.h"
#include "graph/infer.h"
#include "op/named_errors.h"

namespace mxnet {
namespace {

// Shows the text of a graph; `title` is also the file's name.
void dump(const std::string& where, const std::string& title, const std::string& text) {
  if (where == "stderr") {
    log(LogLevel::kInfo, fmt::format("graph {}\n{}", title, text));
    return;
  }
  const std::string path = fmt::format("{}/{}.txt", where, title);
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) {
    throw Error(
        ErrorCode::kValue, "MXNET_GRAPH_DUMP",
        fmt::format("given {}, expected \"stderr\" or a folder that can be written", where));
  }
}

// A line for each node: what it is, and of what type its values are.
std::string text_of_types(const IndexedGraph& graph, const std::vector<ArrayType>& types) {
  std::string text;
  for (int n = 0; n < graph.num_nodes(); ++n) {
    const ir::Node& node = graph.node(n);
    text += fmt::format("{}:", node.is_variable() ? node.name + "(variable)" : title_of(node));
    for (int e = graph.first_entry(n); e < graph.first_entry(n) + graph.num_outputs(n); ++e) {
      const ArrayType& type = types[static_cast<std::size_t>(e)];
      text += fmt::format(" {} {}", dtype_name(type.dtype), to_string(type.shape));
    }
    text += '\n';
  }
  return text;
}

class Runner {
 public:
  explicit Runner(const PassOptions& options) : options_(options) {
    // Relaxed: a number of its own for each graph, in no relation to anything else.
    static std::atomic<int> graphs{0};
    if (!options.dump.empty()) number_ = graphs.fetch_add(1, std::memory_order_relaxed);
  }
  void run(const char* name, ir::Graph* graph,
           const std::function<ir::Graph(const ir::Graph&)>& pass) {
    const auto text = [&] { return Symbol(*graph).debug_text(); };
    show(name, "before", text);
    *graph = pass(*graph);
    show(name, "after", text);
    ++step_;
  }
  // `text` is called only where somebody wants to see it.
  template <class Text>
  void show(const char* name, const char* when, const Text& text) const {
    if (!options_.dump.empty())
      dump(options_.dump, fmt::format("graph{}_{}_{}_{}", number_, step_, name, when), text());
  }

 private:
  const PassOptions& options_;
  int number_ = 0, step_ = 0;
};

void run_untyped(const PassOptions& options, Runner* runner, ir::Graph* graph) {
  if (options.node_elimination) runner->run("eliminate_copies", graph, eliminate_copies);
  if (options.common_expressions)
    runner->run("eliminate_common_expressions", graph, eliminate_common_expressions);
}

}  // namespace

PassOptions configured_passes() {
  const ExecutorConfig& rows = config().executor;
  return {rows.eliminate_common_expr, rows.node_elimination, !rows.disable_remove_casts,
          rows.graph_dump};
}

GradientOptions configured_gradient() {
  GradientOptions options;
  options.inplace_sum_cap = config().executor.inplace_grad_sum_cap;
  return options;
}

ir::Graph run_passes(const ir::Graph& graph, const KnownTypes& known, const PassOptions& options) {
  const IndexedGraph indexed(graph);
  return run_passes(
      indexed, options.cast_pairs ? infer_entries(indexed, known, true) : std::vector<ArrayType>(),
      options);
}

ir::Graph run_passes(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                     const PassOptions& options) {
  ir::Graph result = graph.graph();
  Runner runner(options);
  if (options.cast_pairs) {
    runner.run("remove_cast_pairs", &result,
               [&](const ir::Graph&) { return remove_cast_pairs(graph, types); });
  }
  run_untyped(options, &runner, &result);
  return result;
}

ir::Graph run_joint_passes(const ir::Graph& graph, const PassOptions& options) {
  ir::Graph result = graph;
  Runner runner(options);
  run_untyped(options, &runner, &result);
  return result;
}

ir::Graph run_pass(const char* name, const ir::Graph& graph, const PassOptions& options,
                   const std::function<ir::Graph(const ir::Graph&)>& pass) {
  ir::Graph result = graph;
  Runner(options).run(name, &result, pass);
  return result;
}

bool run_inference(const IndexedGraph& graph, std::vector<ArrayType>* types,
                   const PassOptions& options) {
  const Runner runner(options);
  const auto text = [&] { return text_of_types(graph, *types); };
  runner.show("infer", "before", text);
  const bool complete = infer_graph(graph, types);
  runner.show("infer", "after", text);
  return complete;
}

}  // namespace mxnet
