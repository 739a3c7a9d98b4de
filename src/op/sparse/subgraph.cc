// SPDX-License-Identifier: Apache-2.0
// Graphs made of parts of graphs: those that some vertices induce, and sampled ones without the
// rows that nobody uses.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "op/numbered_names.h"
#include "op/sparse/graph_op.h"
#include "op/sparse/indices.h"

namespace mxnet {
namespace {

using enum StorageType;

// Entries of the result as rows of (column, edge of the original).
struct Edges {
  std::vector<int64_t> begins{0}, columns, originals;
};

// Position of a vertex in an ascending list, or -1.
int64_t position(std::span<const int64_t> vertices, int64_t vertex) {
  const auto found = std::lower_bound(vertices.begin(), vertices.end(), vertex);
  return found != vertices.end() && *found == vertex ? found - vertices.begin() : -1;
}

// Edges are numbered anew, from 0; the mapping, if asked for, has their old numbers.
void write_edges(SparseContext& context, const CsrView& graph, const Edges& edges, int out,
                 int mapping) {
  const auto count = static_cast<int64_t>(edges.columns.size());
  for (int o : {out, mapping}) {
    if (o < 0) continue;
    const CsrView to = context.make_csr(o, count);
    std::copy(edges.begins.begin(), edges.begins.end(), to.indptr);
    std::copy(edges.columns.begin(), edges.columns.end(), to.indices);
    auto* values = to.values.as<int64_t>();
    for (int64_t k = 0; k < count; ++k)
      values[k] =
          o == out ? k
                   : graph.values.as<const int64_t>()[edges.originals[static_cast<std::size_t>(k)]];
  }
}

// --- _contrib_dgl_subgraph -----------------------------------------------------------------------

struct SubgraphParams {
  int32_t num_args;
  bool return_mapping;
  int lists() const { return num_args - 1; }
};

MX_OP(_contrib_dgl_subgraph, SubgraphParams)
.doc(
    "For each list of vertices, the graph of the edges between them; then, if asked for, the old "
    "numbers of these edges.")
    .input("graph", "A graph: csr, of int64 edge numbers.")
    .inputs("data", "Ascending lists of vertices.", &SubgraphParams::num_args, "num_args")
    .input_names([](const SubgraphParams& p) {
      std::vector<std::string> names = numbered_names("varray", p.lists());
      names.insert(names.begin(), "graph");
      return names;
    })
    .outputs([](const SubgraphParams& p) { return p.lists() * (p.return_mapping ? 2 : 1); })
    .param("num_args", &SubgraphParams::num_args, "Number of inputs.")
    .at_least<int32_t>(2)
    .type_text("int, required")
    .param("return_mapping", &SubgraphParams::return_mapping, "Whether old numbers are returned.")
    .dtypes(DTypeSet::of(DType::kInt64))
    .infer([](const SubgraphParams&, Infer& infer) {
      const int lists = infer.num_in() - 1;
      for (int o = 0; o < infer.num_out(); ++o) {
        infer.out(o).set_dtype(DType::kInt64);
        InferArg list = infer.in(1 + o % lists);
        if (!list.rank_known()) continue;
        if (list.ndim() != 1) list.fail("one dimension");
        infer.out(o).set_shape({list.dim(0), list.dim(0)});
      }
    })
    .cpu(no_dense_kernel)
    .makes_sparse(always);

void subgraphs(const SubgraphParams& params, SparseContext& context) {
  const CsrView graph = context.csr(0);
  for (int i = 0; i < params.lists(); ++i) {
    const std::vector<int64_t> vertices = read_indices(context.dense(1 + i));
    const bool ascending = std::adjacent_find(vertices.begin(), vertices.end(),
                                              std::greater_equal<int64_t>()) == vertices.end();
    if (!ascending ||
        (!vertices.empty() && (vertices.front() < 0 || vertices.back() >= graph.rows))) {
      throw Error(ErrorCode::kValue, "_contrib_dgl_subgraph",
                  fmt::format("given list {} of vertices, expected an ascending one of numbers in "
                              "[0, {})",
                              i, graph.rows));
    }
    Edges edges;
    for (int64_t vertex : vertices) {
      for (int64_t k = graph.begin(vertex); k < graph.end(vertex); ++k) {
        const int64_t column = position(vertices, graph.indices[k]);
        if (column < 0) continue;
        edges.columns.push_back(column);
        edges.originals.push_back(k);
      }
      edges.begins.push_back(static_cast<int64_t>(edges.columns.size()));
    }
    write_edges(context, graph, edges, i, params.return_mapping ? params.lists() + i : -1);
  }
}

// --- _contrib_dgl_graph_compact ------------------------------------------------------------------

struct CompactParams {
  int32_t num_args;
  bool return_mapping;
  std::vector<int64_t> graph_sizes;
  int graphs() const { return num_args / 2; }
};

MX_OP(_contrib_dgl_graph_compact, CompactParams)
.doc(
    "Sampled graphs without unused rows and columns; then, if asked for, the old numbers of their "
    "edges.")
    .inputs("graph_data", "Sampled graphs, then their lists of vertices.", &CompactParams::num_args,
            "num_args")
    .input_names([](const CompactParams& p) {
      std::vector<std::string> names = numbered_names("graph", p.graphs());
      for (std::string& name : numbered_names("varray", p.graphs()))
        names.push_back(std::move(name));
      return names;
    })
    .outputs([](const CompactParams& p) { return p.graphs() * (p.return_mapping ? 2 : 1); })
    .param("num_args", &CompactParams::num_args, "Number of inputs.")
    .param("return_mapping", &CompactParams::return_mapping, "Whether old numbers are returned.")
    .param("graph_sizes", &CompactParams::graph_sizes, "Number of vertices of each graph.")
    .dtypes(DTypeSet::of(DType::kInt64))
    .infer([](const CompactParams& params, Infer& infer) {
      const int graphs = params.graphs();
      if (params.num_args < 2 || params.num_args % 2 != 0 ||
          params.graph_sizes.size() != static_cast<std::size_t>(graphs)) {
        infer.fail(
            fmt::format("given {} inputs and {} graph_sizes, expected two inputs for each size",
                        params.num_args, params.graph_sizes.size()));
      }
      for (int o = 0; o < infer.num_out(); ++o) {
        const int64_t size = params.graph_sizes[static_cast<std::size_t>(o % graphs)];
        if (size < 0) infer.fail(fmt::format("given graph size {}, expected 0 or more", size));
        infer.out(o).set_shape({size, size}).set_dtype(DType::kInt64);
      }
    })
    .cpu(no_dense_kernel)
    .makes_sparse(always);

void compact(const CompactParams& params, SparseContext& context) {
  for (int i = 0; i < params.graphs(); ++i) {
    const CsrView graph = context.csr(i);
    std::vector<int64_t> vertices = read_indices(context.dense(params.graphs() + i));
    const auto size = static_cast<std::size_t>(params.graph_sizes[static_cast<std::size_t>(i)]);
    const auto complain = [&](const std::string& what) {
      throw Error(ErrorCode::kValue, "_contrib_dgl_graph_compact",
                  fmt::format("graph {} of {} vertices: {}", i, size, what));
    };
    if (size > vertices.size() || static_cast<int64_t>(size) > graph.rows)
      complain(fmt::format("given {} vertices and {} rows, expected as many at least",
                           vertices.size(), graph.rows));
    vertices.resize(size);
    if (!std::is_sorted(vertices.begin(), vertices.end())) complain("expected ascending vertices");
    Edges edges;
    for (std::size_t row = 0; row < size; ++row) {
      const auto at = static_cast<int64_t>(row);
      for (int64_t k = graph.begin(at); k < graph.end(at); ++k) {
        const int64_t column = position(vertices, graph.indices[k]);
        if (column < 0)
          complain(
              fmt::format("given an edge to {}, expected one of its vertices", graph.indices[k]));
        edges.columns.push_back(column);
        edges.originals.push_back(k);
      }
      edges.begins.push_back(static_cast<int64_t>(edges.columns.size()));
    }
    write_edges(context, graph, edges, i, params.return_mapping ? params.graphs() + i : -1);
  }
}

bool all_csr(const StorageTypes& types) {
  for (StorageType& type : types.out) {
    if (type != kUndefined && type != kCSR) return false;
    type = kCSR;
  }
  return true;
}

[[maybe_unused]] const bool defined = [] {
  add_sparse<SubgraphParams>(
      "_contrib_dgl_subgraph",
      [](const SubgraphParams&, const StorageTypes& types) {
        require_csr(types, 0, "_contrib_dgl_subgraph");
        return all_csr(types);
      },
      subgraphs, IndexCheck::kInside);
  add_sparse<CompactParams>(
      "_contrib_dgl_graph_compact",
      [](const CompactParams& params, const StorageTypes& types) {
        for (int i = 0; i < params.graphs(); ++i)
          require_csr(types, static_cast<std::size_t>(i), "_contrib_dgl_graph_compact");
        return all_csr(types);
      },
      compact, IndexCheck::kInside);
  return true;
}();

}  // namespace
}  // namespace mxnet
