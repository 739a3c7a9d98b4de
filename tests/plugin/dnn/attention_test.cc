// SPDX-License-Identifier: Apache-2.0
// Attention as cuDNN's operation, which the library checks without a GPU when it is finalized.
#include "plugin/cuda/dnn/attention.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "plugin/cuda/dnn/convolution.h"

namespace mxnet::cuda {
namespace {

Attention example() {
  return {.dtype = DType::kFloat16,
          .batch = 2,
          .heads = 4,
          .size = 64,
          .queries = 128,
          .keys = 77,
          .query_parts = 1,
          .memory_parts = 2,
          .scale = 0.125f};
}

TEST(Attention, CudnnTakesTheOperationOfBothTypesAndAllLayouts) {
  if (CUDNN_VERSION < 91300) GTEST_SKIP() << "built with an older cuDNN";
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (const int64_t size : {8, 64, 128}) {
      for (const bool self : {false, true}) {
        Attention attention = example();
        attention.dtype = dtype;
        attention.size = size;
        if (self) {
          attention.query_parts = attention.memory_parts = 3;
          attention.keys = attention.queries;
        }
        SCOPED_TRACE(attention.to_string());
        EXPECT_EQ(attention_operations(attention).size(), 1u);
      }
    }
  }
}

TEST(Attention, TypesWithoutAttentionAreRefused) {
  Attention integers = example();
  integers.dtype = DType::kInt32;
  EXPECT_THROW(attention_operations(integers), Error);
}

TEST(Attention, EachShapeHasAKeyAndATextOfItsOwn) {
  std::set<PlanKey> keys;
  std::set<std::string> texts;
  for (int field = 0; field < 9; ++field) {
    Attention attention = example();
    if (field == 1) attention.dtype = DType::kBFloat16;
    if (field == 2) ++attention.batch;
    if (field == 3) ++attention.heads;
    if (field == 4) ++attention.size;
    if (field == 5) ++attention.queries;
    if (field == 6) ++attention.keys;
    if (field == 7) attention.query_parts = 3;
    if (field == 8) attention.memory_parts = 3;
    PlanKey key{1, 2, 3};
    attention.set_key(&key);
    EXPECT_TRUE(keys.insert(key).second) << field;
    EXPECT_TRUE(texts.insert(attention.to_string()).second) << field;
  }
  // A plan reads the scale when it runs.
  Attention scaled = example();
  scaled.scale = 1;
  PlanKey key;
  scaled.set_key(&key);
  EXPECT_EQ(keys.count(key), 1u);
}

}  // namespace
}  // namespace mxnet::cuda
