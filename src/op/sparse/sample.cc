// SPDX-License-Identifier: Apache-2.0
// Neighbourhoods of some vertices of a graph, sampled: breadth first from the seeds, a limited
// number of neighbours of each vertex, uniformly or by weight, none twice.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/error.h"
#include "op/generators/random_streams.h"
#include "op/sparse/graph_op.h"
#include "op/sparse/indices.h"

namespace mxnet {
namespace {

using enum StorageType;

struct SampleParams {
  int32_t num_args;
  int64_t num_hops, num_neighbor, max_num_vertices;
};

// What fills lists of vertices behind their end.
constexpr int64_t kNoVertex = -1;

double draw_uniform(Mt19937& random) {  // in (0, 1)
  uint32_t word;
  random.fill(&word, 1);
  return (static_cast<double>(word) + 0.5) / 4294967296.0;
}

// The edges of one vertex that are followed, ascending.
class EdgeChoice {
 public:
  EdgeChoice(Mt19937& random, int64_t most, const float* weights)
      : random_(random), most_(most), weights_(weights) {}

  std::vector<int64_t> choose(const CsrView& graph, int64_t vertex) {
    std::vector<int64_t> edges(static_cast<std::size_t>(graph.end(vertex) - graph.begin(vertex)));
    std::iota(edges.begin(), edges.end(), graph.begin(vertex));
    if (weights_ != nullptr)
      std::erase_if(edges, [&](int64_t k) { return !(weights_[graph.indices[k]] > 0); });
    if (static_cast<int64_t>(edges.size()) <= most_) return edges;
    weights_ == nullptr ? shuffle_front(edges) : heaviest_keys(graph, edges);
    edges.resize(static_cast<std::size_t>(most_));
    std::sort(edges.begin(), edges.end());
    return edges;
  }

 private:
  void shuffle_front(std::vector<int64_t>& edges) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(most_); ++i) {
      const auto left = static_cast<double>(edges.size() - i);
      std::swap(edges[i], edges[i + static_cast<std::size_t>(draw_uniform(random_) * left)]);
    }
  }
  // Efraimidis and Spirakis: the largest u^(1/w) are a sample without replacement.
  void heaviest_keys(const CsrView& graph, std::vector<int64_t>& edges) {
    std::vector<std::pair<double, int64_t>> keys;
    keys.reserve(edges.size());
    for (int64_t k : edges)
      keys.emplace_back(
          std::log(draw_uniform(random_)) / static_cast<double>(weights_[graph.indices[k]]), k);
    std::nth_element(keys.begin(), keys.begin() + most_, keys.end(), std::greater<>());
    for (std::size_t i = 0; i < static_cast<std::size_t>(most_); ++i) edges[i] = keys[i].second;
  }

  Mt19937& random_;
  const int64_t most_;
  const float* const weights_;
};

struct Sampled {
  std::vector<int64_t> vertices, layers;                    // ascending vertices
  std::unordered_map<int64_t, std::vector<int64_t>> edges;  // followed from a vertex
};

Sampled sample(const SampleParams& params, const CsrView& graph, const std::vector<int64_t>& seeds,
               EdgeChoice choice, const char* op) {
  const auto most = static_cast<std::size_t>(params.max_num_vertices);
  std::unordered_map<int64_t, int64_t> layer_of;
  std::vector<int64_t> queue;
  for (int64_t seed : seeds) {
    if (seed < 0 || seed >= graph.rows)
      throw Error(ErrorCode::kIndex, op,
                  fmt::format("given seed {}, expected 0 <= seed < {}", seed, graph.rows));
    if (layer_of.emplace(seed, 0).second) queue.push_back(seed);
  }
  if (queue.size() > most) {
    throw Error(
        ErrorCode::kValue, op,
        fmt::format("given {} seeds, expected at most max_num_vertices = {}", queue.size(), most));
  }
  Sampled result;
  for (std::size_t i = 0; i < queue.size() && queue.size() < most; ++i) {
    const int64_t vertex = queue[i], layer = layer_of.at(vertex);
    if (layer == params.num_hops) break;
    std::vector<int64_t>& followed = result.edges[vertex];
    for (int64_t k : choice.choose(graph, vertex)) {
      const int64_t target = graph.indices[k];
      if (!layer_of.contains(target)) {
        // An edge to a vertex that does not fit any more is left out with it.
        if (queue.size() == most || target >= graph.rows) continue;
        layer_of.emplace(target, layer + 1);
        queue.push_back(target);
      }
      followed.push_back(k);
    }
  }
  std::sort(queue.begin(), queue.end());
  for (int64_t vertex : queue) result.layers.push_back(layer_of.at(vertex));
  result.vertices = std::move(queue);
  return result;
}

void write_padded(const Tensor& out, const std::vector<int64_t>& values) {
  auto* to = out.as<int64_t>();
  std::fill_n(std::copy(values.begin(), values.end(), to),
              out.size() - static_cast<int64_t>(values.size()), kNoVertex);
}

// Edges keep the columns and numbers that they have in the graph; row i is that of the i-th vertex.
void write_graph(SparseContext& context, int o, const CsrView& graph, const Sampled& sampled) {
  int64_t count = 0;
  for (const auto& [vertex, edges] : sampled.edges) count += static_cast<int64_t>(edges.size());
  const CsrView out = context.make_csr(o, count);
  int64_t at = 0;
  out.indptr[0] = 0;
  for (int64_t row = 0; row < out.rows; ++row) {
    const auto i = static_cast<std::size_t>(row);
    const auto found =
        i < sampled.vertices.size() ? sampled.edges.find(sampled.vertices[i]) : sampled.edges.end();
    if (found != sampled.edges.end()) {
      for (int64_t k : found->second) {
        out.indices[at] = graph.indices[k];
        out.values.as<int64_t>()[at++] = graph.values.as<const int64_t>()[k];
      }
    }
    out.indptr[row + 1] = at;
  }
}

// Inputs: graph, weights if there are any, lists of seeds. Outputs, one for each list: vertices
// with their number at the end, graphs, weights if there are any, layers.
template <bool weighted>
struct Sampling {
  static constexpr const char* kName = weighted ? "_contrib_dgl_csr_neighbor_non_uniform_sample"
                                                : "_contrib_dgl_csr_neighbor_uniform_sample";
  static constexpr int kFirstList = weighted ? 2 : 1;
  static int lists(const SampleParams& p) { return std::max(p.num_args - kFirstList, 0); }

  static void run(const SampleParams& params, SparseContext& context) {
    const CsrView graph = context.csr(0);
    const int n = lists(params);
    const Tensor weights = weighted ? context.dense(1) : Tensor();
    if (weighted && (weights.size() < graph.columns))
      throw Error(ErrorCode::kValue, kName,
                  fmt::format("given {} weights, expected one for each of {} vertices",
                              weights.size(), graph.columns));
    Mt19937& random = RandomStreams::of(Device::cpu()).sequential();
    for (int i = 0; i < n; ++i) {
      const EdgeChoice choice(random, params.num_neighbor,
                              weighted ? weights.as<const float>() : nullptr);
      const Sampled sampled =
          sample(params, graph, read_indices(context.dense(kFirstList + i)), choice, kName);
      const Tensor vertices = context.dense_out(i);
      write_padded(vertices, sampled.vertices);
      vertices.as<int64_t>()[params.max_num_vertices] =
          static_cast<int64_t>(sampled.vertices.size());
      write_graph(context, n + i, graph, sampled);
      if (weighted) {
        const Tensor out = context.dense_out(2 * n + i);
        std::fill_n(out.as<float>(), out.size(), 0.0f);
        for (std::size_t v = 0; v < sampled.vertices.size(); ++v)
          out.as<float>()[v] = weights.as<const float>()[sampled.vertices[v]];
      }
      write_padded(context.dense_out((weighted ? 3 : 2) * n + i), sampled.layers);
    }
  }

  static bool layout(const SampleParams& params, const StorageTypes& types) {
    require_csr(types, 0, kName);
    const auto n = static_cast<std::size_t>(lists(params));
    for (std::size_t o = 0; o < types.out.size(); ++o) {
      const StorageType type = o / n == 1 ? kCSR : kDense;
      if (types.out[o] != kUndefined && types.out[o] != type) return false;
      types.out[o] = type;
    }
    return std::all_of(types.in.begin() + 1, types.in.end(),
                       [](StorageType type) { return type == kDense; });
  }

  static void infer(const SampleParams& params, Infer& infer) {
    const int n = lists(params);
    if (n < 1) infer.fail(fmt::format("given {} inputs, expected lists of seeds", params.num_args));
    infer.in(0).set_dtype(DType::kInt64);
    if (weighted) infer.in(1).set_dtype(DType::kFloat32);
    if (!infer.in(0).rank_known()) return;
    if (infer.in(0).ndim() != 2) infer.in(0).fail("a matrix");
    const int64_t most = params.max_num_vertices;
    for (int i = 0; i < n; ++i) {
      infer.out(i).set_shape({most + 1}).set_dtype(DType::kInt64);
      infer.out(n + i).set_shape({most, infer.in(0).dim(1)}).set_dtype(DType::kInt64);
      if (weighted) infer.out(2 * n + i).set_shape({most}).set_dtype(DType::kFloat32);
      infer.out((weighted ? 3 : 2) * n + i).set_shape({most}).set_dtype(DType::kInt64);
    }
  }

  static bool define() {
    OpBuilder<SampleParams> op(kName);
    op.doc(
          "Sampled neighbourhoods of lists of vertices: the vertices, their number last; a graph "
          "of the edges that "
          "were followed; the number of hops to each vertex.")
        .input("csr_matrix", "A graph: csr, of int64 edge numbers.");
    if (weighted) op.input("probability", "How likely a vertex is chosen, relative to others.");
    op.inputs("seed_arrays", "Lists of vertices to start from.", &SampleParams::num_args,
              "num_args")
        .input_names([](const SampleParams& p) {
          std::vector<std::string> names{"csr_matrix"};
          if (weighted) names.emplace_back("probability");
          for (int i = 0; i < lists(p); ++i) names.push_back("seed_array" + std::to_string(i));
          return names;
        })
        .outputs([](const SampleParams& p) { return lists(p) * (weighted ? 4 : 3); })
        .param("num_args", &SampleParams::num_args, "Number of inputs.")
        .param("num_hops", &SampleParams::num_hops, int64_t{1}, "How far from the seeds.")
        .template at_least<int64_t>(0)
        .param("num_neighbor", &SampleParams::num_neighbor, int64_t{2},
               "Neighbours chosen of each vertex, at most.")
        .template at_least<int64_t>(0)
        .param("max_num_vertices", &SampleParams::max_num_vertices, int64_t{100},
               "Size of the results.")
        .template at_least<int64_t>(1)
        .infer(infer)
        .cpu(no_dense_kernel)
        .makes_sparse(always)
        .uses_random();
    add_sparse<SampleParams>(kName, layout, run, IndexCheck::kInside);
    return true;
  }
};

[[maybe_unused]] const bool defined = Sampling<false>::define() && Sampling<true>::define();

}  // namespace
}  // namespace mxnet
