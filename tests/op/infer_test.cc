// SPDX-License-Identifier: Apache-2.0
// Merging of what is known of shapes and types, in both directions.
#include "op/infer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

const Shape kNone;

// Two inputs and an output of an operator without rule.
struct Case {
  std::vector<ArrayType> in = std::vector<ArrayType>(2), out = std::vector<ArrayType>(1);
  OpDef op{"test_infer"};
  Infer infer{op, nullptr, in, out};
};

Shape broadcast(const Shape& a, const Shape& b) {
  Shape result;
  EXPECT_TRUE(broadcast_shapes(a, b, &result));
  return result;
}

TEST(MergeShape, UnknownPartsTakeKnownOnes) {
  Shape shape;
  EXPECT_TRUE(merge_shape(&shape, {2, -1}));
  EXPECT_TRUE(merge_shape(&shape, kNone));
  EXPECT_TRUE(merge_shape(&shape, {-1, 3}));
  EXPECT_EQ(shape, (Shape{2, 3}));
}

TEST(MergeShape, KnownPartsMustAgree) {
  Shape shape{2, 3};
  EXPECT_FALSE(merge_shape(&shape, {2, 4}));
  EXPECT_FALSE(merge_shape(&shape, {2, 3, 1}));
  EXPECT_EQ(shape, (Shape{2, 3}));
}

TEST(MergeShape, ZeroIsADimensionLikeAnyOther) {
  Shape shape{0, -1};
  EXPECT_FALSE(merge_shape(&shape, {1, 2}));
  EXPECT_TRUE(merge_shape(&shape, {0, 2}));
  EXPECT_EQ(shape, (Shape{0, 2}));
}

TEST(BroadcastShapes, OnesYield) {
  EXPECT_EQ(broadcast({2, 1, 3}, {4, 1}), (Shape{2, 4, 3}));
  EXPECT_EQ(broadcast(Shape::scalar(), {2, 3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast({1}, {0}), Shape{0});
}

TEST(BroadcastShapes, UnknownDimensionsStayOpen) {
  EXPECT_EQ(broadcast({-1, 3}, {1, 3}), (Shape{-1, 3}));
  EXPECT_EQ(broadcast({-1, 3}, {4, 3}), (Shape{4, 3}));
  EXPECT_FALSE(broadcast(kNone, {4, 3}).rank_known());
}

TEST(BroadcastShapes, OthersDoNotFit) {
  Shape result;
  EXPECT_FALSE(broadcast_shapes({2}, {3}, &result));
  EXPECT_FALSE(broadcast_shapes({0}, {2}, &result));
}

TEST(Infer, SameAsTeachesBothSides) {
  Case c;
  c.in[0] = {{2, -1}, DType::kUnknown};
  c.out[0] = {{-1, 3}, DType::kFloat16};
  c.infer.in(0).same_as(c.infer.out(0));
  EXPECT_EQ(c.in[0].shape, (Shape{2, 3}));
  EXPECT_EQ(c.in[0].dtype, DType::kFloat16);
  EXPECT_EQ(c.out[0].shape, (Shape{2, 3}));
  EXPECT_TRUE(c.out[0].complete());
}

TEST(Infer, OneTypeSpreadsFromWhereverItIsKnown) {
  Case c;
  c.out[0].dtype = DType::kInt64;
  c.infer.one_dtype();
  EXPECT_EQ(c.in[1].dtype, DType::kInt64);
}

TEST(Infer, OneTypeFallsBack) {
  Case c;
  c.infer.one_dtype(DType::kFloat32);
  EXPECT_EQ(c.in[0].dtype, DType::kFloat32);
}

TEST(Infer, ConflictsNameOperatorArgumentGivenAndExpected) {
  Case c;
  c.in[0] = {{2, 3}, DType::kFloat32};
  try {
    c.infer.out(0).set_shape({2, 3}).set_dtype(DType::kFloat64).set_dtype(DType::kFloat32);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.tag(), "test_infer");
    EXPECT_NE(error.message().find("output 0"), std::string::npos);
    EXPECT_NE(error.message().find("float64"), std::string::npos);
    EXPECT_NE(error.message().find("expected type float32"), std::string::npos);
  }
}

TEST(Infer, DimensionsAreSetOneByOne) {
  Case c;
  c.in[0].shape = Shape::unknown(2);
  c.infer.in(0).set_dim(1, 5).set_dim(0, -1);
  EXPECT_EQ(c.in[0].shape, (Shape{-1, 5}));
  EXPECT_THROW(c.infer.in(0).set_dim(1, 6), Error);
}

TEST(Infer, AxisCountsFromTheEnd) {
  Case c;
  c.in[0].shape = {2, 3, 4};
  EXPECT_EQ(c.infer.axis(-1, c.infer.in(0)), 2);
  EXPECT_EQ(c.infer.axis(0, c.infer.in(0)), 0);
  EXPECT_THROW(c.infer.axis(3, c.infer.in(0)), Error);
}

// The rule of an operator that doubles the first dimension.
void doubled(const int& factor, Infer& infer) {
  infer.one_dtype();
  if (!infer.in(0).rank_known()) return;
  infer.out(0).set_shape({infer.in(0).dim(0) * factor});
}

TEST(Infer, FollowsTheRuleOfAnotherOperator) {
  Case c;
  c.in[1] = {{3}, DType::kFloat32};
  c.infer.follow(doubled, 2, {c.infer.in(1)}, {c.infer.in(0)});
  EXPECT_EQ(c.in[0].shape, Shape{6});
}

TEST(Infer, FollowingAnotherRuleLeavesTypesAsTheyAre) {
  Case c;
  c.in[0].dtype = DType::kFloat64;
  c.in[1] = {{3}, DType::kFloat32};
  c.infer.follow(doubled, 2, {c.infer.in(1)}, {c.infer.in(0)});
  EXPECT_EQ(c.in[0].dtype, DType::kFloat64);
  EXPECT_EQ(c.in[1].dtype, DType::kFloat32);
}

TEST(Infer, ComplaintsOfAnotherRuleNameArgumentsAsTheyAreCalledHere) {
  Case c;
  c.in[0].shape = {5};
  c.in[1] = {{3}, DType::kFloat32};
  try {
    c.infer.follow(doubled, 2, {c.infer.in(1)}, {c.infer.in(0)});
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.tag(), "test_infer");
    EXPECT_TRUE(error.message().starts_with("given " + c.infer.in(0).name() + " of shape (5,)"))
        << error.message();
  }
}

}  // namespace
}  // namespace mxnet
