// SPDX-License-Identifier: Apache-2.0
// Sparse kernels around their arrays: outputs in place and added to, index types, and arrays whose
// indices describe nothing.
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "exec/sparse/sparse_arrays.h"
#include "ndarray/copy_into.h"
#include "ndarray/sparse_check.h"
#include "ndarray/sparse_store.h"

namespace mxnet {
namespace {

using enum StorageType;

void add_into(NDArray& out, const char* name, std::vector<const NDArray*> in) {
  const OpDef& op = Registry::get().at(name);
  NDArray* output = &out;
  const Request add = Request::kAdd;
  invoke(op, parse_attrs(op, {})->params(), in, {&output, 1}, {.requests = {&add, 1}});
}

TEST(SparseKernels, AnOutputMayBeAnInput) {
  NDArray x = row_sparse_of({4, 2}, {1, 3}, {1, -2, 3, -4});
  call_into(x, "abs", {&x});
  EXPECT_EQ(elements_of(x), (Values{0, 0, 1, 2, 0, 0, 3, 4}));
  NDArray y = row_sparse_of({4, 2}, {0, 3}, {5, 5, 1, 1});
  call_into(x, "elemwise_add", {&x, &y});
  EXPECT_EQ(indices_of(x), (Indices{0, 1, 3}));
  EXPECT_EQ(elements_of(x), (Values{5, 5, 1, 2, 0, 0, 4, 5}));
}

TEST(SparseKernels, ResultsAreAddedToWhatIsThere) {
  NDArray x = row_sparse_of({3, 1}, {1}, {-2}), out = row_sparse_of({3, 1}, {0, 1}, {7, 7});
  add_into(out, "abs", {&x});
  EXPECT_EQ(indices_of(out), (Indices{0, 1}));
  EXPECT_EQ(elements_of(out), (Values{7, 9, 0}));
  NDArray csr = csr_of({1, 2}, {0, 1}, {1}, {3}), rhs = array_of({1, 2}, {2, 1});
  NDArray dense = array_of({100}, {1, 1});
  add_into(dense, "dot", {&csr, &rhs});
  EXPECT_EQ(values_of(dense), Values{106});
}

TEST(SparseKernels, IndicesOf32BitsAreReadAndKept) {
  NDArray narrow(kRowSparse, {3, 1}, DType::kFloat32, Device::cpu(),
                 {DType::kInt32, DType::kInt32});
  NDArray x = row_sparse_of({3, 1}, {0, 2}, {1, -2});
  x.copy_to(narrow);
  NDArray y = call("negative", {&narrow});
  EXPECT_EQ(y.sparse().aux_dtype(0), DType::kInt64);
  EXPECT_EQ(elements_of(y), (Values{-1, 0, 2}));
  call_into(narrow, "elemwise_add", {&narrow, &x});
  EXPECT_EQ(narrow.sparse().aux_dtype(0), DType::kInt32);
  EXPECT_EQ(elements_of(narrow), (Values{2, 0, -4}));
}

TEST(SparseKernels, ZerosIntoAHugeArrayCostNothing) {
  NDArray x(kRowSparse, {int64_t{1} << 40, 4}, DType::kFloat32, Device::cpu());
  call_into(x, "_zeros", {}, {{"shape", "(1099511627776, 4)"}});
  NDArray y = call("zeros_like", {&x});
  y.wait_to_read();
  EXPECT_EQ(y.storage_type(), kRowSparse);
  EXPECT_EQ(y.sparse().stored(), 0);
}

TEST(SparseKernels, ResultsHaveSoundIndices) {
  NDArray a = csr_of({3, 4}, {0, 2, 2, 3}, {1, 3, 0}, {1, 2, 3});
  NDArray b = array_of(Values(12, 2), {3, 4});
  for (NDArray result : {call("elemwise_mul", {&a, &b}), call("elemwise_add", {&a, &a}),
                         call("slice", {&a}, {{"begin", "(0, 1)"}, {"end", "(2, 4)"}}),
                         call("dot", {&a, &b}, {{"transpose_a", "True"}}),
                         call("Concat", {&a, &a}, {{"dim", "0"}, {"num_args", "2"}})}) {
    EXPECT_TRUE(result.is_sparse());
    check_format(result, true);
  }
}

struct Malformed {
  const char* what;
  NDArray array;
};

std::vector<Malformed> malformed_arrays() {
  return {
      {"row out of range", row_sparse_of({3, 2}, {1, 3}, {1, 2, 3, 4})},
      {"negative row", row_sparse_of({3, 2}, {-1, 1}, {1, 2, 3, 4})},
      {"fewer values than rows", row_sparse_of({3, 2}, {0}, {1, 2})},
      {"column out of range", csr_of({3, 2}, {0, 1, 1, 2}, {1, 2}, {1, 2})},
      {"negative column", csr_of({3, 2}, {0, 1, 1, 2}, {-1, 0}, {1, 2})},
      {"least column",
       csr_of({3, 2}, {0, 1, 1, 2}, {std::numeric_limits<int64_t>::min(), 0}, {1, 2})},
      {"indptr descends", csr_of({3, 2}, {0, 2, 1, 2}, {0, 1}, {1, 2})},
      {"indptr ends beyond", csr_of({3, 2}, {0, 1, 1, 9}, {0, 1}, {1, 2})},
      {"indptr too short", csr_of({3, 2}, {0, 2}, {0, 1}, {1, 2})},
  };
}

TEST(SparseKernels, MalformedIndicesAreErrorsAndNeverFollowed) {
  std::vector<Malformed> arrays = malformed_arrays();
  // More rows' numbers than rows of values.
  NDArray longer({2}, DType::kInt64, Device::cpu());
  const int64_t rows[] = {0, 1};
  longer.sync_copy_from(rows, 2);
  sync_copy_into(arrays[2].array, longer, SparseStore::kRows);
  NDArray dense = array_of(Values(6, 1), {3, 2}), square = array_of(Values(4, 1), {2, 2});
  for (Malformed& m : arrays) {
    NDArray& x = m.array;
    const auto fails = [&](const char* op, auto&& body) {
      EXPECT_THROW(NDArray(body()).wait_to_read(), Error) << m.what << ", " << op;
    };
    fails("elemwise_add", [&] { return call("elemwise_add", {&x, &x}); });
    fails("elemwise_mul", [&] { return call("elemwise_mul", {&x, &dense}); });
    fails("cast_storage", [&] { return call("cast_storage", {&x}, {{"stype", "default"}}); });
    fails("sum", [&] { return call("sum", {&x}, {{"axis", "0"}}); });
    fails("exp", [&] { return call("exp", {&x}); });
    if (x.storage_type() == kCSR) {
      fails("dot", [&] { return call("dot", {&x, &square}); });
      fails("dot", [&] { return call("dot", {&x, &dense}, {{"transpose_a", "1"}}); });
      fails("slice", [&] { return call("slice", {&x}, {{"begin", "(0,)"}, {"end", "(2,)"}}); });
      fails("where", [&] { return call("where", {&x, &dense, &dense}); });
    } else {
      NDArray weight = array_of(Values(6, 1), {3, 2});
      fails("sgd_update", [&] {
        call_into(weight, "sgd_update", {&weight, &x}, {{"lr", "1"}});
        return weight;
      });
    }
  }
}

TEST(SparseKernels, MatricesWithoutACommonElementHaveAnEmptyProduct) {
  NDArray a = csr_of({2, 4}, {0, 2, 4}, {0, 2, 1, 3}, {1, 2, 3, 4}),
          b = csr_of({2, 4}, {0, 2, 4}, {1, 3, 0, 2}, {5, 6, 7, 8});
  NDArray product = call("elemwise_mul", {&a, &b});
  check_format(product, true);
  EXPECT_EQ(product.sparse().stored(), 0);
  EXPECT_EQ(elements_of(product), Values(8, 0));
}

TEST(SparseKernels, UnsortedAndRepeatedRowsAreRefusedWhereOrderMatters) {
  NDArray unsorted = row_sparse_of({3, 1}, {2, 0}, {1, 2}),
          twice = row_sparse_of({3, 1}, {1, 1}, {1, 2});
  for (NDArray* x : {&unsorted, &twice}) {
    EXPECT_THROW(call("elemwise_add", {x, x}).wait_to_read(), Error);
    EXPECT_NO_THROW(call("abs", {x}).wait_to_read());
  }
}

TEST(SparseKernels, RepeatedColumnsOfAMatrixAddUpInProducts) {
  NDArray x = csr_of({1, 3}, {0, 3}, {2, 0, 2}, {1, 10, 100}), y = array_of({1, 2, 3}, {3, 1});
  EXPECT_EQ(elements_of(call("dot", {&x, &y})), Values{313});
  NDArray z = array_of({1}, {1, 1});
  EXPECT_EQ(elements_of(call("dot", {&x, &z}, {{"transpose_a", "True"}})), (Values{10, 0, 101}));
}

}  // namespace
}  // namespace mxnet
