// SPDX-License-Identifier: Apache-2.0
// Linear algebra of matrices that are the libraries', with stand-ins for them. Numbers are those of
// the CPU.
#include <gtest/gtest.h>

#include <utility>

#include "tests/plugin/emulated/matrix_inputs.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

// Triangles that are cuBLAS's, and what is made of them.
TEST(GpuMatrices, LargeTrianglesAreSolved) {
  const Input a = regular(2, 70);
  for (const char* lower : kFlags) {
    for (const char* transpose : kFlags) {
      for (const char* right : kFlags) {
        const Attrs attrs{
            {"lower", lower}, {"transpose", transpose}, {"rightside", right}, {"alpha", "0.5"}};
        expect_op("_linalg_trsm", {a, filled(*right == 'T' ? Shape{2, 3, 70} : Shape{2, 70, 3})},
                  attrs);
      }
    }
    expect_op("_linalg_potri", {a}, {{"lower", lower}});
  }
}

// Rows are exchanged; of large matrices that may be singular the library makes factors, too.
TEST(GpuMatrices, LargeMatricesHaveDeterminantsAndGradients) {
  const int64_t n = 130;
  Input a = regular(2, n);
  for (float& value : a.values) value /= static_cast<float>(n);
  for (int64_t k = 0; k < n; ++k)
    std::swap(a.values[static_cast<std::size_t>(k)], a.values[static_cast<std::size_t>(5 * n + k)]);
  expect_op("_linalg_det", {a});
  expect_op("_linalg_slogdet", {a});
  expect_op("_linalg_inverse", {a});
  expect_op("_npi_solve", {a, filled(Shape{2, n, 3})});
  const Input sides = filled(Shape{2, n, 3});
  expect_op("_backward_npi_solve", {sides, a, sides, sides});
  Input singular = a;
  for (int64_t k = 0; k < n; ++k) singular.values[static_cast<std::size_t>(k * n + 7)] = 0;
  for (const char* op : {"_linalg_det", "_linalg_slogdet"}) {
    NDArray on_gpu = singular.on(kGpu);
    std::vector<NDArray*> given{&on_gpu};
    const std::vector<NDArray> found = call_op(op, given, {});
    EXPECT_EQ(values_as_float(found[0])[0], 0) << op;
    EXPECT_NE(values_as_float(found[0])[1], 0) << op;
  }
  // By factors: of the first matrix, which has a pivot of zero, zeros.
  Values exchanges(static_cast<std::size_t>(2 * n));
  for (int64_t i = 0; i < 2 * n; ++i)
    exchanges[static_cast<std::size_t>(i)] = static_cast<float>(i % n + 1);
  Input factors = regular(2, n);
  for (float& value : factors.values) value /= static_cast<float>(n);
  factors.values[static_cast<std::size_t>(3 * n + 3)] = 0;
  expect_op("_backward_linalg_inverse_transposed", {factors, {exchanges, Shape{2, n}, "int32"}});
}

}  // namespace
}  // namespace mxnet
