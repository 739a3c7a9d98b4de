// SPDX-License-Identifier: Apache-2.0
// Names, numbers and sizes of element types; sets of them.
#include "base/dtype.h"

#include <gtest/gtest.h>

namespace mxnet {
namespace {

TEST(DType, NumbersNamesAndSizesAreThoseOfTheABI) {
  const struct {
    int number;
    const char* name;
    std::size_t size;
  } expected[] = {{0, "float32", 4}, {1, "float64", 8}, {2, "float16", 2},
                  {3, "uint8", 1},   {4, "int32", 4},   {5, "int8", 1},
                  {6, "int64", 8},   {7, "bool", 1},    {12, "bfloat16", 2}};
  for (const auto& row : expected) {
    const auto dtype = dtype_from_number(row.number);
    ASSERT_TRUE(dtype) << row.name;
    EXPECT_EQ(static_cast<int>(*dtype), row.number);
    EXPECT_EQ(dtype_name(*dtype), row.name);
    EXPECT_EQ(dtype_size(*dtype), row.size);
    EXPECT_EQ(dtype_from_name(row.name), dtype);
  }
}

TEST(DType, ReservedAndForeignNumbersAreNone) {
  for (int number : {-2, -1, 8, 9, 10, 11, 13, 255, 256}) EXPECT_FALSE(dtype_from_number(number));
  for (const char* name : {"", "int16", "Float32", "float", "unknown"})
    EXPECT_FALSE(dtype_from_name(name));
  EXPECT_EQ(dtype_size(DType::kUnknown), 0u);
  EXPECT_EQ(dtype_name(DType::kUnknown), "unknown");
}

TEST(DTypeSet, HoldsWhatItWasGiven) {
  EXPECT_TRUE(kFloating.contains(DType::kBFloat16));
  EXPECT_FALSE(kFloating.contains(DType::kInt32));
  EXPECT_TRUE(kAllTypes.contains(DType::kBool));
  EXPECT_FALSE(kNumeric.contains(DType::kBool));
  EXPECT_FALSE(kAllTypes.contains(DType::kUnknown));
  EXPECT_FALSE(DTypeSet().contains(DType::kFloat32));
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    EXPECT_TRUE(is_floating(dtype));
    EXPECT_FALSE(is_integer(dtype));
  }
  EXPECT_TRUE(is_integer(DType::kUInt8));
  EXPECT_FALSE(is_integer(DType::kBool));
  EXPECT_FALSE(is_floating(DType::kBool));
}

}  // namespace
}  // namespace mxnet
