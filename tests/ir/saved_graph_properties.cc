// SPDX-License-Identifier: Apache-2.0
// Reading and writing of arbitrary texts.
#include "saved_graph_properties.h"

#include <stdexcept>

#include "base/error.h"
#include "ir/saved_graph.h"

namespace mxnet::ir {

void check_saved_graph(std::string_view text) {
  SavedGraph graph;
  try {
    graph = parse_saved_graph(text);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kValue) throw std::logic_error(error.what());
    return;
  }
  const std::string written = print_saved_graph(graph);
  if (print_saved_graph(parse_saved_graph(written)) != written)
    throw std::logic_error("a graph changes when it is written and read:\n" + written);
}

}  // namespace mxnet::ir
