// SPDX-License-Identifier: Apache-2.0
// More than 2^31 elements: offsets, counts and file fields that do not fit 32 bits. Skipped where
// there is not memory enough.
#include "arrays.h"
#include "base/cpu_info.h"
#include "ndarray/dlpack.h"

namespace mxnet {
namespace {

using namespace testing_arrays;

TEST(Large, MoreThanTwoToThe31Elements) {
  constexpr int64_t kRows = (int64_t{1} << 31) / 1024 + 3, kColumns = 1024;
  if (host_memory().available < 3 * static_cast<uint64_t>(kRows * kColumns))
    GTEST_SKIP() << "needs three times " << kRows * kColumns << " bytes of free memory";
  // Fresh pages are zero, so that only what is written takes memory.
  const NDArray array(Shape{kRows, kColumns}, DType::kUInt8, Device::cpu());
  EXPECT_EQ(array.size(), (int64_t{1} << 31) + 3072);
  NDArray last = array.slice(kRows - 1, kRows);
  std::vector<uint8_t> row(static_cast<std::size_t>(kColumns));
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<uint8_t>(i % 251);
  last.sync_copy_from(row.data(), kColumns);
  EXPECT_EQ(values<uint8_t>(array.at(kRows - 1)), row);
  EXPECT_EQ(last.offset(), static_cast<std::size_t>((kRows - 1) * kColumns));

  const NDArray flat = array.reshape(Shape{kRows * kColumns});
  EXPECT_EQ(values<uint8_t>(flat.at(kRows * kColumns - 1))[0], 1023 % 251);
  flat.slice((int64_t{1} << 31) + 2048, (int64_t{1} << 31) + 3072).copy_to(flat.slice(0, 1024));
  EXPECT_EQ(values<uint8_t>(array.at(0)), row);

  DLManagedTensor* tensor = to_dlpack(flat);
  EXPECT_EQ(tensor->tensor.shape[0], kRows * kColumns);
  const NDArray again = from_dlpack(tensor, false);
  EXPECT_EQ(values<uint8_t>(again.slice(kRows * kColumns - 1, kRows * kColumns))[0], 1023 % 251);
}

}  // namespace
}  // namespace mxnet
