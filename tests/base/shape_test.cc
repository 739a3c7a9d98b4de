// SPDX-License-Identifier: Apache-2.0
// Shapes: known, partly known, unknown; inline and on the heap; products that do not fit.
#include "base/shape.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/error.h"
#include "base/numpy_shape.h"

namespace mxnet {
namespace {

Shape many(int ndim) {
  Shape shape = Shape::scalar();
  for (int i = 0; i < ndim; ++i) shape.push_back(i + 1);
  return shape;
}

TEST(Shape, UnknownScalarAndEmptyAreThreeThings) {
  const Shape unknown, scalar = Shape::scalar(), zero{0};
  EXPECT_FALSE(unknown.rank_known());
  EXPECT_FALSE(unknown.known());
  EXPECT_EQ(unknown.ndim(), -1);
  EXPECT_TRUE(scalar.known());
  EXPECT_EQ(scalar.ndim(), 0);
  EXPECT_EQ(scalar.size(), 1);
  EXPECT_EQ(zero.size(), 0);
  EXPECT_NE(unknown, scalar);
  EXPECT_NE(scalar, zero);
  EXPECT_FALSE(Shape::unknown(2).known());
  EXPECT_TRUE(Shape::unknown(2).rank_known());
}

TEST(Shape, ReadsAsPythonWritesTuples) {
  EXPECT_EQ(to_string(Shape()), "None");
  EXPECT_EQ(to_string(Shape::scalar()), "()");
  EXPECT_EQ(to_string(Shape{4}), "(4,)");
  EXPECT_EQ(to_string(Shape{2, 3}), "(2,3)");
  EXPECT_EQ(to_string(Shape{-1, 3}), "(?,3)");
}

TEST(Shape, CopiesAndMovesKeepEveryNumberOfDimensions) {
  for (int ndim = 0; ndim <= Shape::kMaxDims; ++ndim) {
    Shape shape = many(ndim);
    ASSERT_EQ(shape.ndim(), ndim);
    const Shape copy = shape;
    EXPECT_EQ(copy, shape);
    const Shape moved = std::move(shape);
    EXPECT_EQ(moved, copy);
    EXPECT_FALSE(shape.rank_known());  // NOLINT(bugprone-use-after-move): what a move leaves
    Shape assigned = many(ndim % 7);
    assigned = copy;
    EXPECT_EQ(assigned, copy);
    assigned = many(Shape::kMaxDims - ndim);
    EXPECT_EQ(assigned, many(Shape::kMaxDims - ndim));
    for (int i = 0; i < ndim; ++i) EXPECT_EQ(copy[i], i + 1);
    if (ndim > 0) {
      EXPECT_EQ(copy.back(), ndim);
    }
  }
}

TEST(Shape, AssignmentToItselfChangesNothing) {
  Shape shape = many(9);
  const Shape& same = shape;
  shape = same;
  EXPECT_EQ(shape, many(9));
}

TEST(Shape, TooManyDimensionsAreAnError) {
  Shape shape = many(Shape::kMaxDims);
  EXPECT_THROW(shape.push_back(1), Error);
  EXPECT_THROW(Shape(std::vector<int64_t>(33, 1)), Error);
  EXPECT_THROW(Shape(33, 1), Error);
}

TEST(Shape, ProductsThatDoNotFitAreErrorsUnlessZero) {
  const int64_t big = int64_t{1} << 32;
  EXPECT_THROW((Shape{big, big}).size(), Error);
  EXPECT_EQ((Shape{big, big, 0}).size(), 0);
  EXPECT_EQ((Shape{0, big, big}).size(), 0);
  EXPECT_EQ((Shape{big, 2, 3}).size(1, 3), 6);
  EXPECT_EQ((Shape{big, big}).size(2, 2), 1);
}

TEST(Shape, NegativeAxesCountFromTheEnd) {
  EXPECT_EQ(normalize_axis(-1, 3, "probe"), 2);
  EXPECT_EQ(normalize_axis(-3, 3, "probe"), 0);
  EXPECT_EQ(normalize_axis(2, 3, "probe"), 2);
  EXPECT_THROW(normalize_axis(3, 3, "probe"), Error);
  EXPECT_THROW(normalize_axis(-4, 3, "probe"), Error);
  EXPECT_THROW(normalize_axis(0, 0, "probe"), Error);
}

class NumpyShapeMode : public ::testing::Test {
 protected:
  void TearDown() override { set_numpy_shape(0); }
};

TEST_F(NumpyShapeMode, SettingReturnsWhatWas) {
  EXPECT_EQ(numpy_shape(), NumpyShape::kOff);
  EXPECT_EQ(set_numpy_shape(1), NumpyShape::kOff);
  EXPECT_EQ(set_numpy_shape(2), NumpyShape::kThread);
  EXPECT_EQ(set_numpy_shape(0), NumpyShape::kGlobal);
  EXPECT_FALSE(is_numpy_shape()) << "off clears both";
  EXPECT_THROW(set_numpy_shape(3), Error);
  EXPECT_THROW(set_numpy_shape(-1), Error);
}

TEST_F(NumpyShapeMode, OnlyTheGlobalOneReachesOtherThreads) {
  const auto seen = [] {
    NumpyShape mode{};
    std::thread([&] { mode = numpy_shape(); }).join();
    return mode;
  };
  set_numpy_shape(1);
  EXPECT_EQ(seen(), NumpyShape::kOff);
  set_numpy_shape(2);
  EXPECT_EQ(seen(), NumpyShape::kGlobal);
}

}  // namespace
}  // namespace mxnet
