// SPDX-License-Identifier: Apache-2.0
// What operators on graphs have in common: a graph is a csr matrix whose element (u, v) is the
// number of the edge from u to v, and there is no other form of it.
#pragma once
#include <string>

#include "base/error.h"
#include "op/op_builder.h"
#include "op/sparse_op.h"

namespace mxnet {

// Throws Error(kType) at the call for a graph that is not csr.
inline void require_csr(const StorageTypes& types, std::size_t i, const char* op) {
  if (types.in[i] == StorageType::kCSR) return;
  throw Error(ErrorCode::kType, op,
              "given a " + std::string(storage_type_name(types.in[i])) + " array as input " +
                  std::to_string(i) + ", expected a csr one");
}

// Stands where an operator has no dense kernel: rules refuse such calls before.
template <class P>
void no_dense_kernel(const P&, KernelContext&) {
  throw Error(ErrorCode::kType, "graph", "given dense arrays, expected csr ones");
}

template <class P>
bool always(const P&) {
  return true;
}

}  // namespace mxnet
