// SPDX-License-Identifier: Apache-2.0
// Softmax on the plug-in's own kernels, run in host memory, however long rows are and whatever is
// in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "tests/exec/arrays.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

TEST(GpuSoftmax, SoftmaxAlongAnyAxis) {
  expect_same("softmax", {Shape{4, 5, 6}}, {{"axis", "1"}, {"temperature", "0.5"}});
  expect_same("log_softmax", {Shape{3, 2000}});
  expect_same("softmin", {Shape{3, 7}});
}

// Rows that a warp, a block and none of these can hold, with and without whole packs of 16 bytes.
TEST(GpuSoftmax, SoftmaxOfRowsOfAnyLength) {
  for (const int64_t length : {1, 9, 64, 200, 512, 513, 2000, 4096, 5000}) {
    for (const char* dtype : {"float32", "float16", "bfloat16", "float64"}) {
      const double tolerance = std::string_view(dtype) == "bfloat16"  ? 1e-2
                               : std::string_view(dtype) == "float16" ? 1e-3
                                                                      : 1e-6;
      const Input x{random_values(3 * length, -4, 4), Shape{3, length}, dtype};
      const Input y{random_values(3 * length, 0, 1), Shape{3, length}, dtype};
      const Input dy{random_values(3 * length, -1, 1), Shape{3, length}, dtype};
      for (const char* op : {"softmax", "log_softmax"})
        expect_same_outputs(op, {x}, {{"temperature", "1.5"}}, tolerance);
      // Sums of the gradient are of as many terms as a row has: in float on both devices.
      for (const char* op : {"_backward_softmax", "_backward_log_softmax"})
        expect_same_outputs(op, {dy, y, x}, {}, std::max(tolerance, 1e-4));
    }
  }
  // Rows of which a part is used, from none to all.
  const Input lengths{{0, 1, 33, 70, 100}, Shape{5}, "int32"};
  for (const char* dtype : {"float32", "float16"})
    expect_same_outputs("softmax", {{random_values(500, -4, 4), Shape{5, 100}, dtype}, lengths},
                        {{"use_length", "1"}}, 1e-3);
}

// As attention has them; parts of a row of which one has nothing else meet wherever the row is cut.
TEST(GpuSoftmax, SoftmaxOfRowsThatBeginWithMaskedPlaces) {
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  for (const int64_t length : {4, 70, 2000}) {
    Values rows = random_values(3 * length, -4, 4);
    std::fill_n(rows.begin(), length - 2, kMasked);
    std::fill_n(rows.begin() + length, length, kMasked);  // all of the second: no numbers
    for (const std::string_view dtype : {"float32", "float64", "float16"}) {
      const Input data{rows, Shape{3, length}, dtype.data()};
      const double tolerance = dtype == "float16" ? 1e-3 : 1e-6;
      for (const char* op : {"softmax", "log_softmax"})
        expect_same_outputs(op, {data}, {}, tolerance);
    }
  }
}

// An element that is no number is its row's alone, held or not.
TEST(GpuSoftmax, SoftmaxOfWhatIsNotFiniteIsNoNumberAndOtherRowsAreWhole) {
  for (const float odd : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    for (const int64_t length : {4, 70, 2000, 5000}) {
      Values rows = random_values(3 * length, -4, 4);
      rows[static_cast<std::size_t>(2 * length - 2)] = odd;
      for (const char* dtype : {"float32", "float16"}) {
        const Input data{rows, Shape{3, length}, dtype};
        for (const char* op : {"softmax", "log_softmax"}) expect_same_outputs(op, {data}, {}, 1e-3);
      }
    }
  }
}

}  // namespace
}  // namespace mxnet
