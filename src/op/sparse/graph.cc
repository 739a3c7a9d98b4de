// SPDX-License-Identifier: Apache-2.0
// Questions about one graph: how many edges, which edge, which neighbours.
#include <algorithm>
#include <optional>

#include "op/sparse/graph_op.h"
#include "op/sparse/indices.h"

namespace mxnet {
namespace {

using enum StorageType;

// --- _contrib_getnnz -----------------------------------------------------------------------------

struct CountParams {
  std::optional<int32_t> axis;
};

MX_OP(_contrib_getnnz, CountParams)
.doc("How many elements a csr matrix stores: altogether, in each column or in each row.")
    .input("data", "A csr matrix.")
    .param("axis", &CountParams::axis, std::optional<int32_t>(),
           "None: all; 0: of each column; 1: of each row.")
    .infer([](const CountParams& params, Infer& infer) {
      infer.out(0).set_dtype(DType::kInt64);
      if (!params.axis) {
        infer.out(0).set_shape({1});
      } else if (infer.in(0).rank_known()) {
        if (infer.in(0).ndim() != 2) infer.in(0).fail("a matrix");
        infer.out(0).set_shape({infer.in(0).dim(1 - infer.axis(*params.axis, infer.in(0)))});
      }
    })
    .cpu(no_dense_kernel)
    .makes_sparse(always);

void count(const CountParams& params, SparseContext& context) {
  const CsrView csr = context.csr(0);
  const Tensor out = context.dense_out(0);
  auto* counts = out.as<int64_t>();
  if (!params.axis) {
    counts[0] = csr.stored;
  } else if (normalize_axis(*params.axis, 2, "_contrib_getnnz") == 1) {
    for (int64_t row = 0; row < csr.rows; ++row) counts[row] = csr.end(row) - csr.begin(row);
  } else {
    std::fill_n(counts, out.size(), int64_t{0});
    for (int64_t k = 0; k < csr.stored; ++k) ++counts[csr.indices[k]];
  }
}

// --- _contrib_edge_id ----------------------------------------------------------------------------

MX_OP(_contrib_edge_id, NoParams)
.doc("The elements of a csr matrix at (u[i], v[i]); -1 where it stores none.")
    .input("data", "A csr matrix.")
    .input("u", "Rows.")
    .input("v", "Columns.")
    .lenient()
    .infer([](const NoParams&, Infer& infer) {
      infer.in(1).same_shape(infer.in(2)).same_shape(infer.out(0));
      infer.in(0).same_dtype(infer.out(0));
      if (infer.in(1).rank_known() && infer.in(1).ndim() != 1) infer.in(1).fail("one dimension");
    })
    .dtypes(kNumeric)
    .cpu(no_dense_kernel)
    .makes_sparse(always);

void edge_id(const AnyParams&, SparseContext& context) {
  const CsrView csr = context.csr(0);
  const std::vector<int64_t> u = read_indices(context.dense(1)), v = read_indices(context.dense(2));
  const Tensor out = context.dense_out(0);
  dispatch_dtype<kNumeric>(out.dtype, "_contrib_edge_id", [&]<class T>(TypeTag<T>) {
    for (std::size_t i = 0; i < u.size(); ++i) {
      out.as<T>()[i] = static_cast<T>(-1);
      if (u[i] < 0 || u[i] >= csr.rows) continue;
      const int64_t *begin = csr.indices + csr.begin(u[i]), *end = csr.indices + csr.end(u[i]);
      const int64_t* found = std::find(begin, end, v[i]);
      if (found != end) out.as<T>()[i] = csr.values.as<const T>()[found - csr.indices];
    }
  });
}

// --- _contrib_dgl_adjacency ----------------------------------------------------------------------

MX_OP(_contrib_dgl_adjacency, NoParams)
.doc("The adjacency matrix of a graph: a one for each edge.")
    .input("data", "A graph: csr, of int64 edge numbers.")
    .lenient()
    .dtypes(DTypeSet::of(DType::kInt64))
    .infer([](const NoParams&, Infer& infer) {
      infer.in(0).same_shape(infer.out(0));
      infer.out(0).set_dtype(DType::kFloat32);
    })
    .cpu(no_dense_kernel)
    .makes_sparse(always);

void adjacency(const AnyParams&, SparseContext& context) {
  const Tensor out = context.make_like(0, 0);
  std::fill_n(out.as<float>(), out.size(), 1.0f);
}

[[maybe_unused]] const bool defined = [] {
  add_sparse<CountParams>(
      "_contrib_getnnz",
      [](const CountParams&, const StorageTypes& types) {
        require_csr(types, 0, "_contrib_getnnz");
        return types.give(kDense);
      },
      count, IndexCheck::kInside);
  add_sparse<AnyParams>(
      "_contrib_edge_id",
      [](const AnyParams&, const StorageTypes& types) {
        require_csr(types, 0, "_contrib_edge_id");
        return types.in[1] == kDense && types.in[2] == kDense && types.give(kDense);
      },
      edge_id, IndexCheck::kInside);
  add_sparse<AnyParams>(
      "_contrib_dgl_adjacency",
      [](const AnyParams&, const StorageTypes& types) {
        require_csr(types, 0, "_contrib_dgl_adjacency");
        return types.give(kCSR);
      },
      adjacency, IndexCheck::kInside);
  return true;
}();

}  // namespace
}  // namespace mxnet
