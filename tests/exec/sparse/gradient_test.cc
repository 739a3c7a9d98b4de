// SPDX-License-Identifier: Apache-2.0
// Gradients into row_sparse buffers and sums of gradients of different layouts.
#include <gtest/gtest.h>

#include "exec/sparse/sparse_arrays.h"

namespace mxnet {
namespace {

using enum StorageType;

NDArray attach_row_sparse_grad(NDArray& array, Request request, Indices rows = {},
                               Values values = {}) {
  NDArray grad = rows.empty() ? NDArray(kRowSparse, array.shape(), array.dtype(), Device::cpu())
                              : row_sparse_of(array.shape(), std::move(rows), std::move(values));
  mark_variable(array, request, grad);
  return grad;
}

NDArray lookup(NDArray& table, Values ids) {
  NDArray positions = array_of(std::move(ids));
  return call("Embedding", {&positions, &table},
              {{"input_dim", "4"}, {"output_dim", "2"}, {"sparse_grad", "True"}});
}

TEST(SparseGradients, EmbeddingGivesTheRowsThatWereUsed) {
  NDArray table = array_of(Values(8, 1), {4, 2});
  NDArray grad = attach_row_sparse_grad(table, Request::kWrite);
  NDArray y;
  {
    const Recording recording;
    y = lookup(table, {3, 1, 3});
  }
  backward_from(y);
  EXPECT_EQ(indices_of(grad), (Indices{1, 3}));
  EXPECT_EQ(elements_of(grad), (Values{0, 0, 1, 1, 0, 0, 2, 2}));
}

TEST(SparseGradients, AreAddedWithinAPassAndToEarlierOnes) {
  NDArray table = array_of(Values(8, 1), {4, 2});
  NDArray grad = attach_row_sparse_grad(table, Request::kAdd, {0}, {5, 5});
  for (int pass = 0; pass < 2; ++pass) {
    NDArray y;
    {
      const Recording recording;
      NDArray a = lookup(table, {3}), b = lookup(table, {1});
      y = call("elemwise_add", {&a, &b});
    }
    backward_from(y);
  }
  EXPECT_EQ(grad.storage_type(), kRowSparse);
  EXPECT_EQ(indices_of(grad), (Indices{0, 1, 3}));
  EXPECT_EQ(elements_of(grad), (Values{5, 5, 2, 2, 0, 0, 2, 2}));
}

TEST(SparseGradients, SparseAndDenseOnesOfOneArrayAddUp) {
  NDArray table = array_of(Values(8, 1), {4, 2});
  NDArray grad = attach_grad(table);
  NDArray y;
  {
    const Recording recording;
    NDArray a = lookup(table, {3, 0, 0, 0});
    NDArray b = times(table, "10");
    y = call("elemwise_add", {&a, &b});
  }
  backward_from(y);
  EXPECT_EQ(values_of(grad), (Values{13, 13, 10, 10, 10, 10, 11, 11}));
}

TEST(SparseGradients, OfAProductWithACsrMatrixFollowTheBuffer) {
  NDArray x = csr_of({2, 4}, {0, 1, 2}, {1, 3}, {2, 3});
  for (const bool sparse : {false, true}) {
    NDArray w = array_of(Values(4, 1), {4, 1});
    NDArray grad = sparse ? attach_row_sparse_grad(w, Request::kWrite) : attach_grad(w);
    NDArray y;
    {
      const Recording recording;
      y = call("dot", {&x, &w});
    }
    backward_from(y);
    EXPECT_EQ(grad.is_sparse(), sparse);
    if (sparse) EXPECT_EQ(indices_of(grad), (Indices{1, 3}));
    EXPECT_EQ(elements_of(grad), (Values{0, 2, 0, 3}));
  }
}

TEST(SparseGradients, WhereNoneArrivesABufferIsEmptied) {
  NDArray used = array_of({1, 2}, {2, 1}), unused = array_of({1, 2}, {2, 1});
  NDArray grad = attach_grad(used);
  NDArray other = attach_row_sparse_grad(unused, Request::kWrite, {0}, {9});
  NDArray y;
  {
    const Recording recording;
    NDArray stopped = call("BlockGrad", {&unused});
    y = call("elemwise_mul", {&used, &stopped});
  }
  backward_from(y);
  EXPECT_EQ(values_of(grad), (Values{1, 2}));
  EXPECT_EQ(elements_of(other), (Values{0, 0}));
}

TEST(SparseGradients, CastingStoragePassesThemOn) {
  NDArray x = array_of({0, 1, 2, 0}, {2, 2});
  NDArray grad = attach_grad(x);
  NDArray y;
  {
    const Recording recording;
    NDArray csr = call("cast_storage", {&x}, {{"stype", "csr"}});
    NDArray w = array_of({1, 10}, {2, 1});
    y = call("dot", {&csr, &w});
  }
  backward_from(y);
  EXPECT_EQ(values_of(grad), (Values{1, 10, 1, 10}));
}

}  // namespace
}  // namespace mxnet
