// SPDX-License-Identifier: Apache-2.0
// row_sparse and csr: parts, conversions in all directions, slices, what the format check finds.
#include <numeric>
#include <random>

#include "arrays.h"
#include "ndarray/sparse_check.h"
#include "ndarray/sparse_convert.h"
#include "ndarray/sparse_store.h"

namespace mxnet {
namespace {

using namespace testing_arrays;

constexpr uint32_t kSeed = 4711;
const StorageType kTypes[] = {StorageType::kDense, StorageType::kRowSparse, StorageType::kCSR};

// [[0,1,0],[2,0,3]]
NDArray small_csr() { return make_csr(Shape{2, 3}, {1, 2, 3}, {0, 1, 3}, {1, 0, 2}); }

TEST(Sparse, StartsWithNothingStored) {
  const NDArray csr(StorageType::kCSR, Shape{4, 2}, DType::kFloat32, Device::cpu());
  EXPECT_EQ(csr.storage_type(), StorageType::kCSR);
  EXPECT_EQ(csr.shape(), (Shape{4, 2}));
  EXPECT_EQ(copy_part(csr, kValuesPart).shape(), Shape{0});
  const NDArray rows(StorageType::kRowSparse, Shape{4, 2}, DType::kFloat32, Device::cpu());
  EXPECT_EQ(copy_part(rows, kValuesPart).shape(), (Shape{0, 2}));
  EXPECT_EQ(copy_part(rows, 0).shape(), Shape{0});
  check_format(csr, true);
  check_format(rows, true);
  for (const NDArray& zeros : {csr, rows})
    EXPECT_EQ(floats(cast_storage(zeros, StorageType::kDense)), std::vector<float>(8, 0.0f));
}

TEST(Sparse, PartsAreCopies) {
  const NDArray csr = small_csr();
  NDArray data = copy_part(csr, kValuesPart);
  EXPECT_EQ(floats(data), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(aux(csr, 0), (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(aux(csr, 1), (std::vector<int64_t>{1, 0, 2}));
  const std::vector<float> nines(3, 9.0f);
  data.sync_copy_from(nines.data(), 3);
  EXPECT_EQ(floats(copy_part(csr, kValuesPart)), (std::vector<float>{1, 2, 3}));
  EXPECT_THROW(copy_part(csr, 2), Error);
  EXPECT_THROW(copy_part(counting(Shape{2}), 0), Error);
  EXPECT_EQ(aux_dtype(csr, 1), DType::kInt64);
}

TEST(Sparse, CopiesShareIndicesUntilOneIsFilledAnew) {
  NDArray csr = small_csr();
  NDArray copy = csr.copy(Device::cpu());
  copy.wait_to_read();
  const auto address = [](const NDArray& array, int i) { return array.sparse().aux_data(i); };
  for (const int i : {SparseStore::kIndptr, SparseStore::kIndices})
    EXPECT_EQ(address(csr, i), address(copy, i));
  EXPECT_NE(csr.sparse().values(), copy.sparse().values());
  // Of the same size: the memory would do.
  sync_copy_into(copy, make<int64_t>(Shape{3}, {2, 1, 2}), SparseStore::kIndices);
  EXPECT_EQ(aux(csr, 1), (std::vector<int64_t>{1, 0, 2}));
  EXPECT_EQ(aux(copy, 1), (std::vector<int64_t>{2, 1, 2}));
  EXPECT_EQ(address(csr, 0), address(copy, 0));
  // The last one that has it may write it: no memory is taken.
  const void* const before = address(copy, 1);
  sync_copy_into(copy, make<int64_t>(Shape{3}, {0, 0, 1}), SparseStore::kIndices);
  EXPECT_EQ(address(copy, 1), before);
  // Each lives as long as somebody has it.
  csr = NDArray();
  EXPECT_EQ(aux(copy, 0), (std::vector<int64_t>{0, 1, 3}));
  copy.sparse().resize(0, Device::cpu());
  EXPECT_EQ(aux(copy, 0), (std::vector<int64_t>{0, 0, 0}));
}

TEST(Sparse, IndicesOfOtherTypesAndDevicesAreCopied) {
  const NDArray csr = small_csr();
  const NDArray narrow(StorageType::kCSR, csr.shape(), csr.dtype(), Device::cpu(),
                       {DType::kInt32, DType::kInt64});
  csr.copy_to(narrow);
  narrow.wait_to_read();
  EXPECT_EQ(values<int32_t>(copy_part(narrow, 0)), (std::vector<int32_t>{0, 1, 3}));
  EXPECT_EQ(narrow.sparse().aux_data(1), csr.sparse().aux_data(1));
  const NDArray pinned = csr.copy(Device::cpu_pinned());
  pinned.wait_to_read();
  EXPECT_NE(pinned.sparse().aux_data(1), csr.sparse().aux_data(1));
  EXPECT_EQ(aux(pinned, 1), (std::vector<int64_t>{1, 0, 2}));
}

TEST(Sparse, HasNoViewsAndNoFlatCopies) {
  NDArray csr = small_csr();
  float buffer[6];
  EXPECT_NE(error_of([&] { csr.slice(0, 1); }).find("given a csr array, expected a dense one"),
            std::string::npos);
  EXPECT_THROW(csr.at(0), Error);
  EXPECT_THROW(csr.reshape(Shape{6}), Error);
  EXPECT_THROW(csr.sync_copy_to(buffer, 6), Error);
  EXPECT_THROW(csr.sync_copy_from(buffer, 6), Error);
}

TEST(Sparse, LayoutsNeedTheirDimensions) {
  EXPECT_THROW(NDArray(StorageType::kCSR, Shape{4}, DType::kFloat32, Device::cpu()), Error);
  EXPECT_THROW(NDArray(StorageType::kCSR, Shape{4, 2, 2}, DType::kFloat32, Device::cpu()), Error);
  EXPECT_THROW(NDArray(StorageType::kRowSparse, Shape::scalar(), DType::kFloat32, Device::cpu()),
               Error);
  EXPECT_THROW(NDArray(StorageType::kCSR, Shape{4, 2}, DType::kFloat32, Device::cpu(),
                       {DType::kInt64, DType::kFloat32}),
               Error);
}

TEST(SparseConvert, WhatIsNotZeroIsKeptWithItsPlace) {
  const std::vector<float> dense_values{0, 1, 0, 2, 0, 3};
  const NDArray dense = make<float>(Shape{2, 3}, dense_values);
  const NDArray csr = cast_storage(dense, StorageType::kCSR);
  EXPECT_EQ(floats(copy_part(csr, kValuesPart)), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(aux(csr, 0), (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(aux(csr, 1), (std::vector<int64_t>{1, 0, 2}));
  EXPECT_EQ(floats(cast_storage(csr, StorageType::kDense)), dense_values);

  const NDArray tall = make<float>(Shape{4, 2}, {0, 0, 1, 2, 0, 0, 0, 4});
  const NDArray rows = cast_storage(tall, StorageType::kRowSparse);
  EXPECT_EQ(floats(copy_part(rows, kValuesPart)), (std::vector<float>{1, 2, 0, 4}));
  EXPECT_EQ(aux(rows, 0), (std::vector<int64_t>{1, 3}));
}

TEST(SparseConvert, NegativeZeroIsZeroAndNaNIsNot) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const NDArray csr = cast_storage(make<float>(Shape{1, 3}, {-0.0f, nan, 0.0f}), StorageType::kCSR);
  EXPECT_EQ(aux(csr, 1), std::vector<int64_t>{1});
  const NDArray half = make<float16>(Shape{1, 2}, {float16(-0.0f), float16(0x1p-24f)});
  EXPECT_EQ(aux(cast_storage(half, StorageType::kCSR), 1), std::vector<int64_t>{1});
}

// Random matrices of every type through every chain of three layouts come out as they went in.
TEST(SparseConvert, EveryChainOfLayoutsKeepsValues) {
  std::mt19937 random(kSeed);
  for (int round = 0; round < 40; ++round) {
    const int64_t rows = random() % 9, columns = random() % 9;
    const double density = (random() % 5) / 4.0;
    for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kInt64, DType::kUInt8,
                        DType::kFloat64, DType::kBool, DType::kBFloat16}) {
      std::vector<float> wanted(static_cast<std::size_t>(rows * columns));
      for (float& x : wanted)
        x = random() % 1000 < density * 1000 ? static_cast<float>(1 + random() % 100) : 0.0f;
      NDArray dense(Shape{rows, columns}, dtype, Device::cpu());
      sync_copy_into(dense, make(Shape{rows, columns}, wanted), kValuesPart);
      for (StorageType a : kTypes) {
        for (StorageType b : kTypes) {
          const NDArray through = cast_storage(cast_storage(dense, a), b);
          EXPECT_EQ(through.storage_type(), b);
          check_format(through, true);
          const NDArray back = cast_storage(through, StorageType::kDense);
          const std::size_t bytes = dense.bytes();
          dense.wait_to_read();
          back.wait_to_read();
          ASSERT_TRUE(bytes == 0 || std::memcmp(dense.data(), back.data(), bytes) == 0)
              << rows << "x" << columns << " " << dtype_name(dtype) << " " << storage_type_name(a)
              << " " << storage_type_name(b) << " seed " << kSeed;
        }
      }
    }
  }
}

// Rows are looked through by blocks: one number wherever it stands in a long row keeps the row.
TEST(SparseConvert, ALoneNumberKeepsItsRowWhereverItStands) {
  constexpr int64_t kColumns = 150;
  NDArray dense(Shape{kColumns + 1, kColumns}, DType::kFloat64, Device::cpu());
  std::vector<double> numbers(static_cast<std::size_t>((kColumns + 1) * kColumns), -0.0);
  for (int64_t i = 0; i < kColumns; ++i)
    numbers[static_cast<std::size_t>((i + 1) * kColumns + i)] = -1e-310;
  dense.sync_copy_from(numbers.data(), static_cast<int64_t>(numbers.size()));
  const NDArray rows = cast_storage(dense, StorageType::kRowSparse);
  std::vector<int64_t> wanted(kColumns);
  std::iota(wanted.begin(), wanted.end(), int64_t{1});
  EXPECT_EQ(aux(rows, 0), wanted);
}

TEST(SparseConvert, StoredRowsLoseTheirZerosInCSR) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const NDArray rows = make_row_sparse(Shape{4, 3}, {0, -0.0f, 0, nan, 0, 2}, {1, 3});
  const NDArray csr = cast_storage(rows, StorageType::kCSR);
  EXPECT_EQ(aux(csr, 0), (std::vector<int64_t>{0, 0, 0, 0, 2}));
  EXPECT_EQ(aux(csr, 1), (std::vector<int64_t>{0, 2}));
}

TEST(SparseConvert, RowSparseOfMoreThanTwoDimensions) {
  const NDArray rows = make_row_sparse(Shape{3, 2, 2}, {1, 2, 3, 4}, {1});
  EXPECT_EQ(floats(cast_storage(rows, StorageType::kDense)),
            (std::vector<float>{0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0}));
  EXPECT_THROW(cast_storage(rows, StorageType::kCSR), Error);
}

TEST(SparseCopy, KeepsPartsOnAnyDevice) {
  for (Device device : {Device::cpu(), Device::cpu_pinned(), Device::gpu(0)}) {
    SCOPED_TRACE(to_string(device));
    const NDArray there = small_csr().copy(device);
    EXPECT_EQ(there.device(), device);
    const NDArray back = there.copy(Device::cpu());
    EXPECT_EQ(floats(copy_part(back, kValuesPart)), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(aux(back, 0), (std::vector<int64_t>{0, 1, 3}));
    EXPECT_EQ(aux(there, 1), (std::vector<int64_t>{1, 0, 2}));
    check_format(there, true);
  }
}

TEST(SparseCopy, ReplacesWhatWasStored) {
  const NDArray to = make_csr(Shape{2, 3}, {7, 7, 7, 7}, {0, 2, 4}, {0, 1, 1, 2});
  small_csr().copy_to(to);
  EXPECT_EQ(floats(copy_part(to, kValuesPart)), (std::vector<float>{1, 2, 3}));
  NDArray(StorageType::kCSR, Shape{2, 3}, DType::kFloat32, Device::cpu()).copy_to(to);
  EXPECT_EQ(floats(cast_storage(to, StorageType::kDense)), std::vector<float>(6, 0.0f));
}

TEST(SparseCopy, ConvertsIndexTypes) {
  NDArray narrow(StorageType::kCSR, Shape{2, 3}, DType::kFloat32, Device::cpu(),
                 {DType::kInt32, DType::kInt32});
  small_csr().copy_to(narrow);
  EXPECT_EQ(values<int32_t>(copy_part(narrow, 1)), (std::vector<int32_t>{1, 0, 2}));
  EXPECT_EQ(floats(cast_storage(narrow, StorageType::kDense)),
            (std::vector<float>{0, 1, 0, 2, 0, 3}));
  EXPECT_EQ(aux_dtype(narrow.copy(Device::cpu()), 0), DType::kInt32);
}

TEST(SliceCSR, AgreesWithTheDenseSlice) {
  std::mt19937 random(kSeed);
  for (int round = 0; round < 200; ++round) {
    const int64_t rows = random() % 7, columns = random() % 7;
    std::vector<float> dense(static_cast<std::size_t>(rows * columns));
    for (float& x : dense) x = random() % 2 ? static_cast<float>(random() % 50) : 0.0f;
    const int64_t r0 = random() % (rows + 1), r1 = r0 + random() % (rows - r0 + 1);
    const int64_t c0 = random() % (columns + 1), c1 = c0 + random() % (columns - c0 + 1);
    std::vector<float> expected;
    for (int64_t r = r0; r < r1; ++r)
      for (int64_t c = c0; c < c1; ++c)
        expected.push_back(dense[static_cast<std::size_t>(r * columns + c)]);
    const NDArray csr = cast_storage(make(Shape{rows, columns}, dense), StorageType::kCSR);
    const NDArray part = slice_csr(csr, r0, r1, c0, c1);
    check_format(part, true);
    ASSERT_EQ(floats(cast_storage(part, StorageType::kDense)), expected) << "seed " << kSeed;
  }
}

TEST(SliceCSR, OutsideIsAnError) {
  EXPECT_THROW(slice_csr(small_csr(), 0, 3, 0, 3), Error);
  EXPECT_THROW(slice_csr(small_csr(), 0, 2, 2, 1), Error);
  EXPECT_THROW(slice_csr(counting(Shape{2, 3}), 0, 1, 0, 1), Error);
}

struct BadCSR {
  const char* name;
  std::vector<int64_t> indptr, indices;
  bool only_full;  // found by the full check alone
  const char* message;
};

class CheckCSR : public ::testing::TestWithParam<BadCSR> {};

TEST_P(CheckCSR, NamesWhatIsWrong) {
  const BadCSR& bad = GetParam();
  const NDArray csr = make_csr(Shape{2, 3}, {1, 2}, bad.indptr, bad.indices);
  const std::string text = error_of([&] { check_format(csr, true); });
  EXPECT_NE(text.find(bad.message), std::string::npos) << text;
  if (bad.only_full) {
    EXPECT_NO_THROW(check_format(csr, false));
  } else {
    EXPECT_THROW(check_format(csr, false), Error);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, CheckCSR,
    ::testing::Values(
        BadCSR{
            "IndexTooLarge", {0, 1, 2}, {0, 5}, true, "indices[1] is 5, expected 0 <= index < 3"},
        BadCSR{"IndexNegative", {0, 2, 2}, {-1, 0}, true, "indices[0] is -1"},
        BadCSR{"Unsorted", {0, 2, 2}, {1, 0}, true, "indices[1] is 0 after 1"},
        BadCSR{"Twice", {0, 2, 2}, {1, 1}, true, "indices[1] is 1 after 1"},
        BadCSR{"PointerDescends", {0, 3, 2}, {0, 1}, true, "indptr[1] is 3 after 0"},
        BadCSR{"PointerEnd", {0, 1, 1}, {0, 1}, false, "indptr[2] is 1, expected 2"},
        BadCSR{"PointerStart", {1, 1, 2}, {0, 1}, false, "indptr[0] is 1, expected 0"},
        BadCSR{"PointerCount", {0, 2}, {0, 1}, false, "indptr of 2 entries, expected 3"},
        BadCSR{"IndexCount", {0, 1, 3}, {0, 1, 2}, false, "values of shape (2,) for 3 indices"}),
    [](const auto& info) { return info.param.name; });

TEST(CheckRowSparse, NamesWhatIsWrong) {
  const auto check = [](const std::vector<int64_t>& rows) {
    return error_of([&] { check_format(make_row_sparse(Shape{4, 1}, {1, 2}, rows), true); });
  };
  EXPECT_NE(check({2, 1}).find("indices[1] is 1 after 2"), std::string::npos);
  EXPECT_NE(check({1, 1}).find("indices[1] is 1 after 1"), std::string::npos);
  EXPECT_NE(check({1, 9}).find("indices[1] is 9"), std::string::npos);
  EXPECT_NE(check({-1, 1}).find("indices[0] is -1"), std::string::npos);
  check_format(make_row_sparse(Shape{4, 1}, {1, 2}, {0, 3}), true);
  check_format(counting(Shape{2}), true);
}

TEST(CheckFormat, ConversionsRefuseIndicesOutside) {
  // An index from outside must not become a write outside: the operation fails, the wait says so.
  const NDArray bad = make_csr(Shape{2, 3}, {1, 2}, {0, 1, 2}, {0, 1 << 30});
  for (StorageType type : {StorageType::kDense, StorageType::kRowSparse}) {
    const NDArray result = cast_storage(bad, type);
    EXPECT_NE(error_of([&] { result.wait_to_read(); }).find("indices[1] is 1073741824"),
              std::string::npos);
  }
  const NDArray bad_rows = make_row_sparse(Shape{4, 1}, {1}, {-7});
  const NDArray dense = cast_storage(bad_rows, StorageType::kDense);
  EXPECT_THROW(dense.wait_to_read(), Error);
  const NDArray part = slice_csr(bad, 0, 1, 0, 1);
  EXPECT_THROW(part.wait_to_read(), Error);
}

}  // namespace
}  // namespace mxnet
