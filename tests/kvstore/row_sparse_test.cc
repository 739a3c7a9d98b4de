// SPDX-License-Identifier: Apache-2.0
// row_sparse and csr arrays in stores.
#include <gtest/gtest.h>

#include "kvstore/local_store.h"
#include "kvstore/stores.h"
#include "ndarray/sparse_convert.h"
#include "ndarray/sparse_store.h"

namespace mxnet::kvstore {
namespace {

using namespace testing_kvstore;  // NOLINT(google-build-using-namespace)
using testing_arrays::aux;
using Some = std::vector<Key>;
using Arrays = std::vector<NDArray>;
const Shape kShape{6, 2};

struct Rows {
  std::vector<int64_t> numbers;
  std::vector<float> values;
  bool operator==(const Rows&) const = default;
};

Rows rows_of(const NDArray& array) {
  return {aux(array, SparseStore::kRows), floats(copy_part(array, kValuesPart))};
}

class SparseStores : public testing::TestWithParam<const char*> {
 protected:
  SparseStores() {
    store_->init(Some{"e"}, Arrays{make_row_sparse(kShape, {1, 1, 2, 2, 3, 3}, {0, 3, 5})});
  }
  NDArray empty() {
    return NDArray(StorageType::kRowSparse, kShape, DType::kFloat32, Device::cpu());
  }
  Rows stored() {
    const Arrays out{empty()};
    store_->pull(Some{"e"}, out, 0, false);
    return rows_of(out[0]);
  }
  Rows pulled_rows(const NDArray& row_ids) {
    const Arrays out{empty()};
    store_->pull_rows(Some{"e"}, out, Arrays{row_ids}, 0);
    return rows_of(out[0]);
  }
  std::unique_ptr<KVStore> store_ = KVStore::create(GetParam());
};
INSTANTIATE_TEST_SUITE_P(, SparseStores, testing::Values("local", "device"));

TEST_P(SparseStores, PushMergesRowsAndKeepsThoseThatCancel) {
  push(*store_, "e",
       {make_row_sparse(kShape, {5, 5, 6, 6}, {1, 2}),
        make_row_sparse(kShape, {1, 1, -6, -6}, {0, 2})});
  EXPECT_EQ(stored(), (Rows{{0, 1, 2}, {1, 1, 5, 5, 0, 0}}));
}

TEST_P(SparseStores, RowsArePulledOnceEachInOrderAndZeroWhereNothingIsStored) {
  EXPECT_EQ(pulled_rows(make<int64_t>({4}, {3, 5, 3, 1})), (Rows{{1, 3, 5}, {0, 0, 2, 2, 3, 3}}));
  EXPECT_EQ(pulled_rows(make<float>({2, 2}, {3, 1, 0, 0})), (Rows{{0, 1, 3}, {1, 1, 0, 0, 2, 2}}));
}

TEST_P(SparseStores, ARowOutsideIsAnErrorOfTheOut) {
  const Arrays out{empty()};
  store_->pull_rows(Some{"e"}, out, Arrays{make<int64_t>({1}, {6})}, 0);
  EXPECT_NE(error_of([&] { out[0].wait_to_read(); }).find("row 6"), std::string::npos);
}

TEST_P(SparseStores, RowsOntoADevice) {
  const Arrays out{NDArray(StorageType::kRowSparse, kShape, DType::kFloat32, Device::gpu(1))};
  store_->pull_rows(Some{"e"}, out, Arrays{make<int64_t>({1}, {3}, Device::gpu(1))}, 0);
  EXPECT_EQ(rows_of(out[0].copy(Device::cpu())), (Rows{{3}, {2, 2}}));
}

TEST_P(SparseStores, RowsFromDevicesAreSummed) {
  push(*store_, "e",
       {make_row_sparse(kShape, {5, 5}, {1}).copy(Device::gpu(0)),
        make_row_sparse(kShape, {1, 1, 2, 2}, {1, 4}).copy(Device::gpu(1))});
  EXPECT_EQ(stored(), (Rows{{1, 4}, {6, 6, 2, 2}}));
}

TEST_P(SparseStores, LayoutsAreConvertedToWhatIsStored) {
  push(*store_, "e", {make_row_sparse(kShape, {5, 5}, {1}), filled(kShape, 1)});
  EXPECT_EQ(stored().values, (std::vector<float>{1, 1, 6, 6, 1, 1, 1, 1, 1, 1, 1, 1}));
  store_->init(Some{"d"}, Arrays{filled(kShape, 1)});
  push(*store_, "d", {make_row_sparse(kShape, {5, 5}, {1})});
  EXPECT_EQ(pulled(*store_, "d", kShape), (std::vector<float>{0, 0, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_P(SparseStores, AnUpdaterGetsRows) {
  Rows seen;
  store_->set_updater(
      [&](const Key&, const NDArray& pushed, const NDArray&) { seen = rows_of(pushed); });
  push(*store_, "e", {make_row_sparse(kShape, {5, 5}, {1}), make_row_sparse(kShape, {1, 1}, {1})});
  EXPECT_EQ(seen, (Rows{{1}, {6, 6}}));
}

TEST_P(SparseStores, APlainPullLeavesSparseArraysAlone) {
  const Arrays out{empty()};
  store_->pull(Some{"e"}, out, 0, true);
  EXPECT_EQ(rows_of(out[0]), Rows{});
}

TEST_P(SparseStores, CsrCanBeStoredButNotPushed) {
  const NDArray csr = make_csr(kShape, {4}, {0, 0, 1, 1, 1, 1, 1}, {1});
  store_->init(Some{"c"}, Arrays{csr});
  EXPECT_EQ(pulled(*store_, "c", kShape)[3], 4);
  EXPECT_NE(error_of([&] { push(*store_, "c", {csr}); }).find("csr"), std::string::npos);
}

TEST_P(SparseStores, RowSparsePullTakesRowSparseOnly) {
  store_->init(Some{"d"}, Arrays{filled(kShape, 1)});
  const Arrays ids{make<int64_t>({1}, {1})};
  EXPECT_NE(
      error_of([&] { store_->pull_rows(Some{"d"}, Arrays{empty()}, ids, 0); }).find("stored array"),
      std::string::npos);
  EXPECT_NE(error_of([&] {
              store_->pull_rows(Some{"e"}, Arrays{filled(kShape, 0)}, ids, 0);
            }).find("an out"),
            std::string::npos);
}

}  // namespace
}  // namespace mxnet::kvstore
