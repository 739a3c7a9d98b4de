// SPDX-License-Identifier: Apache-2.0
// Running passes and partitioners of extensions on networks.
#include "c_api/ext_passes.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "base/leaked.h"
#include "base/lock.h"
#include "c_api/ext_operator.h"
#include "graph/backends.h"
#include "graph/partition.h"

namespace mxnet::c_api {
namespace {

struct Tables {
  Mutex mutex;
  std::map<std::string, const MXExtPass*> passes MX_GUARDED_BY(mutex);
  std::map<std::string, const MXExtPartitioner*> partitioners MX_GUARDED_BY(mutex);
};

Tables& tables() {
  static Leaked<Tables> tables;
  return *tables;
}

[[noreturn]] void taken(const char* name) {
  throw Error(ErrorCode::kValue, "MXLoadLib",
              fmt::format("given a pass or partitioner '{}', expected a name that is free", name));
}

// The host's side of MXExtRewrite.
struct Rewriting {
  std::string pass;
  std::optional<Symbol> accepted;
  std::vector<std::pair<std::string, NDArray>> arguments, states;
};

Rewriting& rewriting(const MXExtRewrite* rewrite) {
  return *static_cast<Rewriting*>(rewrite->host);
}

int accept(const MXExtRewrite* rewrite, const MXExtGraph* graph, MXExtMessage* message) {
  return answer_extension(message, [&] {
    rewriting(rewrite).accepted = symbol_of_ext(*graph, rewriting(rewrite).pass);
  });
}

int parameter(const MXExtRewrite* rewrite, const char* name, const MXExtShape* shape, int32_t dtype,
              int32_t auxiliary, MXExtTensor* made, MXExtMessage* message) {
  return answer_extension(message, [&] {
    Rewriting& mine = rewriting(rewrite);
    const auto type = static_cast<DType>(dtype);
    const Shape dims = shape_of_ext(*shape);
    if (!kAllTypes.contains(type) || !dims.known()) {
      throw Error(ErrorCode::kValue, mine.pass,
                  fmt::format("given a parameter {} of type {} and shape {}, expected both known",
                              name, dtype, to_string(dims)));
    }
    auto& list = auxiliary != 0 ? mine.states : mine.arguments;
    const NDArray& array =
        list.emplace_back(name, NDArray(dims, type, Device{}, "extension")).second;
    *made = ext_tensor(array.data(), array.shape(), array.dtype(), array.device());
  });
}

ExtResult run_pass(const MXExtPass& pass, const Symbol& symbol, const GraphFacts& facts,
                   const MXExtAttrs& options) {
  Rewriting mine{pass.name, std::nullopt, {}, {}};
  const MXExtRewrite rewrite{accept, parameter, &mine};
  const ExtGraphView view(symbol.graph(), facts);
  call_extension(pass.name, [&](MXExtMessage* message) {
    return pass.run(pass.self, &view.get(), &options, &rewrite, message);
  });
  return {mine.accepted.value_or(symbol), std::move(mine.arguments), std::move(mine.states)};
}

// One strategy on one network.
class ExtStrategy final : public Partitioner {
 public:
  ExtStrategy(const MXExtStrategy& strategy, const ir::Graph& graph, const GraphFacts& facts,
              const MXExtAttrs& options)
      : strategy_(strategy), options_(options) {
    const ExtGraphView view(graph, facts);
    std::vector<int32_t> ids(static_cast<std::size_t>(view.get().num_nodes), kMXExtStays);
    call_extension(strategy.name, [&](MXExtMessage* message) {
      return strategy.select(strategy.self, &view.get(), &options, ids.data(), message);
    });
    const std::vector<ir::Node*> nodes = ir::topological_order(graph.outputs);
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (ids[n] != kMXExtStays) groups_[nodes[n]] = ids[n];
  }
  bool selects(const ir::Node& node) const override { return groups_.count(&node) > 0; }
  int group(const ir::Node& node) const override { return groups_.at(&node); }
  std::string_view subgraph_op() const override { return strategy_.subgraph_op; }
  bool takes(const ir::Graph& part, int number, Attrs* attrs) const override {
    if (strategy_.review == nullptr) return true;
    const ExtGraphView view(part);
    const auto set_attr = [](const MXExtReview* review, const char* key, const char* value) {
      MXExtMessage ignored;
      return answer_extension(&ignored,
                              [&] { static_cast<Attrs*>(review->host)->emplace_back(key, value); });
    };
    const MXExtReview review{set_attr, attrs};
    int32_t accepted = 1;
    call_extension(strategy_.name, [&](MXExtMessage* message) {
      return strategy_.review(strategy_.self, &view.get(), number, &options_, &accepted, &review,
                              message);
    });
    return accepted != 0;
  }

 private:
  const MXExtStrategy& strategy_;
  const MXExtAttrs& options_;
  std::unordered_map<const ir::Node*, int32_t> groups_;
};

ir::Graph run_partitioner(const MXExtPartitioner& partitioner, ir::Graph graph,
                          const GraphFacts& facts, const MXExtAttrs& options) {
  for (int32_t s = 0; s < partitioner.num_strategies; ++s) {
    // Types are those of the network as it was given.
    const GraphFacts known{facts.parameters, s == 0 ? facts.types : std::vector<ArrayType>{}};
    graph = partition(graph, ExtStrategy(partitioner.strategies[s], graph, known, options));
  }
  return graph;
}

// For executors, with MXNET_SUBGRAPH_BACKEND: what is bound has types, and values that will change.
GraphBackend bound_by(const MXExtPartitioner* partitioner) {
  return [partitioner](const ir::Graph& graph, const std::vector<ArrayType>& types,
                       const Attrs& options) {
    const ExtAttrList texts(options);
    return run_partitioner(*partitioner, graph, {{}, types}, texts.get());
  };
}

}  // namespace

void add_ext_passes(std::span<const MXExtPass> passes,
                    std::span<const MXExtPartitioner> partitioners) {
  std::map<std::string, const MXExtPass*> new_passes;
  std::map<std::string, const MXExtPartitioner*> new_partitioners;
  for (const MXExtPass& pass : passes) {
    if (pass.name == nullptr || pass.run == nullptr)
      throw Error(ErrorCode::kValue, "MXLoadLib", "given a pass without a name or a body");
    if (!new_passes.emplace(pass.name, &pass).second) taken(pass.name);
  }
  for (const MXExtPartitioner& partitioner : partitioners) {
    if (partitioner.name == nullptr || partitioner.num_strategies < 1)
      throw Error(ErrorCode::kValue, "MXLoadLib",
                  "given a partitioner without a name or a strategy");
    if (!new_partitioners.emplace(partitioner.name, &partitioner).second ||
        new_passes.count(partitioner.name) > 0)
      taken(partitioner.name);
  }
  const MutexLock lock(tables().mutex);
  const auto check = [&](const std::string& name) MX_REQUIRES(tables().mutex) {
    if (tables().passes.count(name) > 0 || tables().partitioners.count(name) > 0)
      taken(name.c_str());
  };
  for (const auto& [name, pass] : new_passes) check(name);
  for (const auto& [name, partitioner] : new_partitioners) check(name);
  for (const auto& [name, partitioner] : new_partitioners)
    register_graph_backend(name, bound_by(partitioner));
  tables().passes.merge(new_passes);
  tables().partitioners.merge(new_partitioners);
}

std::optional<ExtResult> optimize_by_extension(const std::string& name, const Symbol& symbol,
                                               const GraphFacts& facts, const Attrs& options) {
  const MXExtPass* pass = nullptr;
  const MXExtPartitioner* partitioner = nullptr;
  {
    const MutexLock lock(tables().mutex);
    if (const auto at = tables().passes.find(name); at != tables().passes.end()) pass = at->second;
    if (const auto at = tables().partitioners.find(name); at != tables().partitioners.end())
      partitioner = at->second;
  }
  const ExtAttrList texts(options);
  const MXExtAttrs lent = texts.get();
  if (pass != nullptr) return run_pass(*pass, symbol, facts, lent);
  if (partitioner == nullptr) return std::nullopt;
  return ExtResult{Symbol(run_partitioner(*partitioner, symbol.graph(), facts, lent)), {}, {}};
}

std::vector<std::string> ext_pass_names() {
  const MutexLock lock(tables().mutex);
  std::vector<std::string> names;
  for (const auto& [name, pass] : tables().passes) names.push_back(name);
  return names;
}

}  // namespace mxnet::c_api
