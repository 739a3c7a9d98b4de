// SPDX-License-Identifier: Apache-2.0
// How the axes of a reduction collapse.
#include "op/reducing/reduce_plan.h"

#include <gtest/gtest.h>

#include "reduce_run.h"

namespace mxnet {
namespace {

TEST(ReducePlan, NeighboursThatBehaveAlikeBecomeOneDimension) {
  const ReducePlan rows(Shape{2, 3, 4, 5}, axis_set({2, 3}));
  EXPECT_TRUE(rows.inner_reduced());
  EXPECT_EQ(rows.run(), 20);
  EXPECT_EQ(rows.outputs(), 6);
  EXPECT_EQ(rows.kept().count(), 1);
  EXPECT_EQ(rows.reduced().count(), 0);
}

TEST(ReducePlan, DimensionsOfOneDoNotSeparateOthers) {
  const ReducePlan plan(Shape{4, 1, 5}, axis_set({0, 2}));
  EXPECT_EQ(plan.run(), 20);
  EXPECT_EQ(plan.outputs(), 1);
}

TEST(ReducePlan, AlternatingAxesKeepTheirStrides) {
  const ReducePlan plan(Shape{2, 3, 4, 5}, axis_set({0, 2}));
  EXPECT_FALSE(plan.inner_reduced());
  EXPECT_EQ(plan.run(), 5);
  EXPECT_EQ(plan.outputs(), 15);
  EXPECT_EQ(plan.extent(), 8);
  EXPECT_EQ(plan.reduced().offset(5), 60 + 5);  // second of dimension 0, second of dimension 2
}

TEST(ReducePlan, AScalarIsOneOutputOfOneElement) {
  const ReducePlan plan(Shape::scalar(), 0);
  EXPECT_EQ(plan.outputs(), 1);
  EXPECT_EQ(plan.extent(), 1);
}

}  // namespace
}  // namespace mxnet
