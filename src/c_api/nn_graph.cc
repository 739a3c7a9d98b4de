// SPDX-License-Identifier: Apache-2.0
// Graphs with attributes, as the older interface has them: a symbol, texts by name, and passes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "c_api/symbol_calls.h"
#include "graph/casts.h"
#include "graph/cse.h"
#include "graph/load.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

struct GraphObject {
  Symbol symbol;
  std::map<std::string, std::string> attrs;  // JSON
  std::map<std::string, Symbol> lists;
};

HandlePool<GraphObject>& graph_pool() {
  static constinit HandlePool<GraphObject> pool("graph");
  return pool;
}

struct Pass {
  std::string_view name;
  void (*run)(GraphObject* graph);
};

constexpr Pass kPasses[] = {
    {"EliminateCommonExpr",
     [](GraphObject* g) { g->symbol = Symbol(eliminate_common_expressions(g->symbol.graph())); }},
    {"NodeElimination",
     [](GraphObject* g) { g->symbol = Symbol(eliminate_copies(g->symbol.graph())); }},
    {"RemoveAmpCast",
     [](GraphObject* g) { g->symbol = Symbol(remove_amp_casts(g->symbol.graph())); }},
    {"SaveJSON", [](GraphObject* g) { g->attrs["json"] = save_symbol(g->symbol); }},
    {"LoadJSON", [](GraphObject* g) { g->symbol = load_symbol(g->attrs["json"]); }},
};

const Pass& pass_by_name(std::string_view name) {
  std::string known;
  for (const Pass& pass : kPasses) {
    if (pass.name == name) return pass;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", pass.name);
  }
  throw Error(ErrorCode::kValue, "NNGraphApplyPasses",
              fmt::format("given pass {}, expected one of: {}", name, known));
}

}  // namespace

int NNGraphCreate(SymbolHandle symbol, GraphHandle* graph) {
  return guarded([&] {
    require(graph, "NNGraphCreate", "graph");
    *graph = graph_pool().create(GraphObject{symbol_of(symbol, "NNGraphCreate"), {}, {}});
  });
}

int NNGraphFree(GraphHandle handle) {
  return guarded([&] { graph_pool().destroy(handle, "NNGraphFree"); });
}

int NNGraphGetSymbol(GraphHandle graph, SymbolHandle* symbol) {
  return guarded([&] {
    require(symbol, "NNGraphGetSymbol", "symbol");
    *symbol = new_handle(graph_pool().get(graph, "NNGraphGetSymbol").symbol);
  });
}

int NNGraphSetJSONAttr(GraphHandle handle, const char* key, const char* json_value) {
  return guarded([&] {
    require(key, "NNGraphSetJSONAttr", "key");
    require(json_value, "NNGraphSetJSONAttr", "json_value");
    graph_pool().get(handle, "NNGraphSetJSONAttr").attrs[key] = json_value;
  });
}

int NNGraphGetJSONAttr(GraphHandle handle, const char* key, const char** json_out, int* success) {
  return guarded([&] {
    require(key, "NNGraphGetJSONAttr", "key");
    require(json_out, "NNGraphGetJSONAttr", "json_out");
    require(success, "NNGraphGetJSONAttr", "success");
    const GraphObject& graph = graph_pool().get(handle, "NNGraphGetJSONAttr");
    const auto at = graph.attrs.find(key);
    *success = at != graph.attrs.end() ? 1 : 0;
    *json_out = *success != 0 ? keep_for_caller(at->second) : nullptr;
  });
}

int NNGraphSetNodeEntryListAttr_(GraphHandle handle, const char* key, SymbolHandle list) {
  return guarded([&] {
    require(key, "NNGraphSetNodeEntryListAttr_", "key");
    const Symbol& values = symbol_of(list, "NNGraphSetNodeEntryListAttr_");
    graph_pool().get(handle, "NNGraphSetNodeEntryListAttr_").lists[key] = values;
  });
}

int NNGraphApplyPasses(GraphHandle src, nn_uint num_pass, const char** pass_names,
                       GraphHandle* dst) {
  return guarded([&] {
    require(dst, "NNGraphApplyPasses", "dst");
    GraphObject graph = graph_pool().get(src, "NNGraphApplyPasses");
    for (const std::string_view name : checked_names("NNGraphApplyPasses", num_pass, pass_names))
      pass_by_name(name).run(&graph);
    *dst = graph_pool().create(std::move(graph));
  });
}

int NNAddControlDeps(SymbolHandle handle, SymbolHandle src_dep) {
  return guarded([&] {
    const char* const function = "NNAddControlDeps";
    ir::Node* node = symbol_of(handle, function).node();
    const Symbol& source = symbol_of(src_dep, function);
    if (node == nullptr || source.node() == nullptr) {
      throw Error(ErrorCode::kValue, function,
                  "given outputs of several nodes, expected those of one node");
    }
    const std::vector<ir::Node*> before = ir::topological_order(source.outputs());
    if (std::find(before.begin(), before.end(), node) != before.end()) {
      throw Error(ErrorCode::kValue, function,
                  fmt::format("given {}, which depends on {}, expected a node that does not",
                              source.node()->name, node->name));
    }
    auto extras = node->extras ? std::make_shared<ir::NodeExtras>(*node->extras)
                               : std::make_shared<ir::NodeExtras>();
    extras->control_deps.emplace_back(source.node());
    node->extras = std::move(extras);
  });
}
