// SPDX-License-Identifier: Apache-2.0
// Target shapes with instructions, as the reference answers them for an array of shape (2,3,4).
#include "ndarray/reshape_codes.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"

namespace mxnet {
namespace {

struct Case {
  std::vector<int64_t> target;
  bool reverse;
  const char* expected;  // null: an error
};

class ReshapeCodes : public ::testing::TestWithParam<Case> {};

TEST_P(ReshapeCodes, AnswersAsTheReference) {
  const Case& c = GetParam();
  if (c.expected == nullptr) {
    EXPECT_THROW(resolve_reshape(Shape{2, 3, 4}, c.target, c.reverse), Error);
  } else {
    EXPECT_EQ(to_string(resolve_reshape(Shape{2, 3, 4}, c.target, c.reverse)), c.expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Targets, ReshapeCodes,
    ::testing::Values(Case{{6, 4}, false, "(6,4)"}, Case{{-1}, false, "(24,)"},
                      Case{{0, -1}, false, "(2,12)"}, Case{{0, -1}, true, "(3,8)"},
                      Case{{-2}, false, "(2,3,4)"}, Case{{4, -1, 2}, false, "(4,3,2)"},
                      Case{{-3, 4}, false, "(6,4)"}, Case{{-3, 4}, true, "(6,4)"},
                      Case{{-4, 1, 2, 3, 4}, false, "(1,2,3,4)"},
                      Case{{-4, 1, 2, 3, 4}, true, nullptr},
                      Case{{-4, 1, 2, -2}, false, "(1,2,3,4)"}, Case{{-4, 1, 2, -2}, true, nullptr},
                      Case{{0, 0, -1}, true, "(2,3,4)"}, Case{{5}, false, "(5,)"},
                      Case{{-1, -1}, false, nullptr}, Case{{}, false, "()"},
                      Case{{-4, -1, 2, -2}, false, "(1,2,3,4)"}, Case{{-3, -3}, false, nullptr},
                      Case{{-3, -3}, true, nullptr}, Case{{-2, 1, 1}, false, "(2,3,4,1,1)"},
                      Case{{-2, 1, 1}, true, "(2,1,1)"}, Case{{-5, 4}, false, nullptr},
                      Case{{-6, 1, 2, -4}, true, nullptr}, Case{{-3, 2, 3, 4}, false, "(6,2,3,4)"},
                      Case{{-3, 2, 3, 4}, true, nullptr}, Case{{-3, 24}, true, "(6,24)"},
                      Case{{-2, -2, -2}, true, "(2,3,4)"}, Case{{2, -4}, false, nullptr},
                      Case{{0, 0, 0, 0}, false, nullptr}, Case{{-4, -1, -1}, false, nullptr},
                      Case{{-4, 2, 2}, false, nullptr}, Case{{-4, 0, 0}, false, nullptr}));

TEST(ReshapeCodes, EmptyArraysInferZero) {
  EXPECT_EQ(to_string(resolve_reshape(Shape{0, 2}, std::vector<int64_t>{-1}, false)), "(0,)");
  EXPECT_EQ(to_string(resolve_reshape(Shape{0, 2}, std::vector<int64_t>{0, -1}, false)), "(0,0)");
}

TEST(ReshapeCodes, OfUnknownDimensionsWhatFollowsIsUnknown) {
  const auto of = [](const Shape& shape, const std::vector<int64_t>& target, bool reverse = false) {
    return resolve_reshape(shape, target, reverse);
  };
  constexpr int64_t kUnknown = Shape::kUnknownDim;
  EXPECT_EQ(of({kUnknown, 3, 4}, {0, -3}), (Shape{kUnknown, 12}));
  EXPECT_EQ(of({kUnknown, 3, 4}, {-3, -2}), (Shape{kUnknown, 4}));
  EXPECT_EQ(of({kUnknown, 3, 4}, {-1, 6}), (Shape{kUnknown, 6}));
  EXPECT_EQ(of({kUnknown, 3, 4}, {0, -1}, true), (Shape{3, kUnknown}));
  EXPECT_EQ(of({kUnknown, 4}, {-4, 2, -1, 0}), (Shape{2, kUnknown, 4}));
  EXPECT_EQ(of({kUnknown, 4}, {-4, 2, 5, 0}), (Shape{2, 5, 4}));
  EXPECT_THROW(of({kUnknown, 4}, {-4, 2, -2, 0}), Error);
  EXPECT_THROW(of({kUnknown, 4}, {0, 0, 0}), Error);
}

TEST(ReshapeCodes, OverflowIsAnErrorThatShowsBothShapes) {
  const std::vector<int64_t> target{int64_t{1} << 40, int64_t{1} << 40, -1};
  try {
    resolve_reshape(Shape{2, 3}, target, false);
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("an array of shape (2,3), expected a number of elements below 2^63"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace mxnet
