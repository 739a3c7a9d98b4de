// SPDX-License-Identifier: Apache-2.0
// Passes and partitioners of extension libraries, by name.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c_api/ext_graph.h"
#include "graph/symbol.h"
#include "op/params/param.h"

namespace mxnet::c_api {

// Tables live as long as the process. All, or none with Error(kValue) where a name is taken or a
// table is incomplete. Thread-safe.
void add_ext_passes(std::span<const MXExtPass> passes,
                    std::span<const MXExtPartitioner> partitioners);

// A network as an extension has left it, and the parameters that it has added.
struct ExtResult {
  Symbol symbol;
  std::vector<std::pair<std::string, NDArray>> arguments, states;
};

// Nothing where no extension has a pass or partitioner of this name. Thread-safe.
std::optional<ExtResult> optimize_by_extension(const std::string& name, const Symbol& symbol,
                                               const GraphFacts& facts, const Attrs& options);

// Of passes, which optimize_for takes and executors do not: they may add parameters. Thread-safe.
std::vector<std::string> ext_pass_names();

}  // namespace mxnet::c_api
