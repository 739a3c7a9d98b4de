// SPDX-License-Identifier: Apache-2.0
// Arrays on their way to a primitive and back: through a layout and a type of its choice, or as
// they are.
#include "op/onednn/operand.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/half.h"
#include "kernel_call.h"

namespace mxnet::onednn {
namespace {

using dnnl::memory;

class OnednnOperand : public ::testing::Test {
 protected:
  KernelContext context() { return {{}, {}, Device::cpu(), nullptr, false, resources_}; }
  CountingResources resources_;
  const memory::desc plain_ = plain_desc({2, 3}, memory::data_type::f32);
  const memory::desc turned_{{2, 3}, memory::data_type::f32, memory::dims{1, 2}};
};

TEST_F(OnednnOperand, WhatIsAsWantedIsNotCopied) {
  Operand operand(plain_, plain_, false);
  float values[6] = {};
  void* handle = nullptr;
  dnnl_memory_get_data_handle(operand.load(context(), values), &handle);
  EXPECT_EQ(handle, values);
  EXPECT_FALSE(operand.is_reordered());
  EXPECT_EQ(resources_.total, 0u);
}

TEST_F(OnednnOperand, GoesThroughAnotherLayoutAndBack) {
  float values[6], result[6] = {};
  std::iota(values, values + 6, 1.0f);
  Operand in(plain_, turned_, false), out(plain_, turned_, true);
  void* handle = nullptr;
  dnnl_memory_get_data_handle(in.load(context(), values), &handle);
  const float* turned = static_cast<float*>(handle);
  EXPECT_EQ(std::vector<float>(turned, turned + 6), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  void* place = nullptr;
  dnnl_memory_get_data_handle(out.place(context(), result), &place);
  std::copy_n(turned, 6, static_cast<float*>(place));
  out.store();
  EXPECT_TRUE(std::equal(values, values + 6, result));
}

TEST_F(OnednnOperand, HalfTypesAreWidened) {
  bfloat16 values[6], result[6];
  for (int i = 0; i < 6; ++i) values[i] = bfloat16(0.5f * static_cast<float>(i));
  const memory::desc half = plain_desc({2, 3}, memory::data_type::bf16);
  Operand in(half, plain_, false), out(half, plain_, true);
  void *wide = nullptr, *place = nullptr;
  dnnl_memory_get_data_handle(in.load(context(), values), &wide);
  EXPECT_EQ(static_cast<float*>(wide)[3], 1.5f);
  dnnl_memory_get_data_handle(out.place(context(), result), &place);
  std::copy_n(static_cast<float*>(wide), 6, static_cast<float*>(place));
  out.store();
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(static_cast<float>(result[i]), static_cast<float>(values[i]));
}

TEST_F(OnednnOperand, AnAbsentArgumentIsNull) {
  Operand absent;
  EXPECT_EQ(absent.load(context(), nullptr), nullptr);
  absent.store();
  EXPECT_FALSE(absent.is_reordered());
}

}  // namespace
}  // namespace mxnet::onednn
