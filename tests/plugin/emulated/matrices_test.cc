// SPDX-License-Identifier: Apache-2.0
// Linear algebra on the plug-in's kernels. Numbers are those of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "tests/plugin/emulated/matrix_inputs.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

TEST(GpuMatrices, PartsAndTriangles) {
  const Input a = filled(Shape{2, 5, 5});
  for (const char* lower : kFlags) {
    for (const char* op : {"_backward_linalg_triangle", "_backward_linalg_half_symmetric",
                           "_backward_linalg_fold_triangle"})
      expect_op(op, {a}, {{"lower", lower}});
  }
  for (const char* k : {"-2", "0", "3"}) {
    expect_op("_npi_tril", {filled(Shape{2, 4, 6})}, {{"k", k}});
    expect_op("_npi_tril", {filled(Shape{4})}, {{"k", k}});
  }
}

TEST(GpuMatrices, ProductsAndEquationsWithTriangles) {
  const Input a = regular(2, 4);
  for (const char* op : {"_linalg_trmm", "_linalg_trsm"}) {
    for (const char* lower : kFlags) {
      for (const char* transpose : kFlags) {
        for (const char* right : kFlags) {
          const Attrs attrs{
              {"lower", lower}, {"transpose", transpose}, {"rightside", right}, {"alpha", "0.5"}};
          expect_op(op, {a, filled(*right == 'T' ? Shape{2, 3, 4} : Shape{2, 4, 3})}, attrs);
        }
      }
    }
  }
}

// As BLAS has it: neither is read.
TEST(GpuMatrices, ZeroTimesWhatIsNoNumberIsZeroInEquations) {
  Input a = regular(1, 4);
  a.values[0] = std::nanf("");
  for (const char* right : kFlags)
    expect_op("_linalg_trsm", {a, filled(Shape{1, 4, 4})}, {{"rightside", right}, {"alpha", "0"}});
}

TEST(GpuMatrices, InversesOfCholeskyFactors) {
  for (const char* lower : kFlags) expect_op("_linalg_potri", {regular(2, 5)}, {{"lower", lower}});
}

// These are cuSOLVER's.
TEST(GpuMatrices, LargeMatricesHaveFactorsAndInverses) {
  const Input a = regular(2, 130);
  expect_op("_linalg_inverse", {a});
  expect_op("_npi_solve", {a, filled(Shape{2, 130, 3})});
  Input definite = a;
  for (int64_t i = 0; i < 2 * 130 * 130; ++i) {
    const int64_t turned = i / (130 * 130) * 130 * 130 + i % 130 * 130 + i / 130 % 130;
    const auto at = [&](int64_t k) { return a.values[static_cast<std::size_t>(k)]; };
    definite.values[static_cast<std::size_t>(i)] = (at(i) + at(turned)) / 2;
  }
  for (const char* lower : kFlags) expect_op("_linalg_potrf", {definite}, {{"lower", lower}});
}

// Vectors have any sign; what follows from them has not.
TEST(GpuMatrices, SpectraAndPseudoInverses) {
  const Input square = filled(Shape{3, 6, 6}), wide = filled(Shape{3, 4, 6});
  for (const char* uplo : {"L", "U"}) expect_op("_npi_eigvalsh", {square}, {{"UPLO", uplo}});
  for (const Input& a : {wide, filled(Shape{3, 6, 4}), regular(2, 5)}) {
    expect_op("_npi_pinv_scalar_rcond", {a}, {{"rcond", "1e-5"}});
    expect_op("_npi_pinv", {a, {{1e-5f}, Shape{1}}});
  }
  expect_op("_npi_pinv", {wide, {{1e-5f, 0.5f, 0.9f}, Shape{3}}});
  // Half types go through float; nothing of no matrices is wrong.
  Input half = square;
  half.dtype = "float16";
  expect_same_outputs("_npi_eigvalsh", {half}, {}, 1e-2);
  expect_op("_npi_svd", {filled(Shape{0, 4, 6})});
}

TEST(GpuMatrices, GradientsOfSpectra) {
  const Input vectors = filled(Shape{2, 5, 5}), head = filled(Shape{2, 5, 5}, -1, 1);
  const Input values{{1, 2, 4, 4, 7, 0, 1, 2, 3, 5}, Shape{2, 5}}, slopes = filled(Shape{2, 5});
  for (const char* rows : {"0", "1"})
    expect_op("_backward_linalg_eigh", {head, slopes, vectors, values}, {{"rows", rows}});
  const Input v = filled(Shape{2, 5, 7}), dv = filled(Shape{2, 5, 7}, -1, 1);
  expect_op("_backward_npi_svd", {head, slopes, dv, vectors, values, v});
}

TEST(GpuMatrices, InversesAndDeterminants) {
  // Without a strong diagonal rows are exchanged.
  for (const Input& a :
       {regular(2, 5), filled(Shape{2, 5, 5}, -3, 3), filled(Shape{1, 1, 1}, 1, 3)}) {
    expect_op("_linalg_inverse", {a});
    expect_op("_linalg_det", {a});
    expect_op("_linalg_slogdet", {a});
  }
  expect_op("_linalg_det", {{{1, 2, 2, 4}, Shape{2, 2}}});
  expect_op("_backward_linalg_inverse_transposed",
            {regular(1, 3), {{2, 2, 3}, Shape{1, 3}, "int32"}});
  expect_op("_backward_linalg_inverse_transposed",
            {{{1, 2, 0, 0}, Shape{2, 2}}, {{1, 2}, Shape{2}, "int32"}});
  Input square = regular(1, 6);
  square.shape = Shape{2, 3, 6};
  expect_op("_npi_tensorinv", {square}, {{"ind", "2"}});
  const Input inverse = filled(Shape{6, 2, 3});
  expect_op("_backward_npi_tensorinv", {inverse, inverse, square}, {{"ind", "2"}});
}

TEST(GpuMatrices, SolutionsOfEquationsAreTheCpus) {
  const Input a = filled(Shape{2, 4, 4}, -3, 3), b = filled(Shape{2, 4, 3});
  Input vectors = filled(Shape{2, 4});
  for (const Input& sides : {b, vectors}) {
    expect_op("_npi_solve", {a, sides});
    expect_op("_backward_npi_solve", {sides, a, sides, sides});
  }
}

// Where there is nothing to solve the gradient of the matrix is zero, whatever its memory held.
TEST(GpuMatrices, NoSolutionDependsOnTheMatrixOfNone) {
  for (const Device device : {Device::cpu(), kGpu}) {
    values_of(array_of(Values(9, 7.0f), {}, device));
    NDArray a = array_of({4, 1, 0, 1, 5, 2, 0, 2, 7}, Shape{3, 3}, device);
    NDArray none = array_of({}, Shape{3, 0}, device);
    NDArray* const inputs[] = {&none, &a, &none, &none};
    const NDArray slope = call_op("_backward_npi_solve", inputs, {})[0];
    EXPECT_EQ(values_of(slope), Values(9, 0.0f)) << to_string(device);
  }
}

TEST(GpuMatrices, EquationsOfTwoTypesAreSolvedInTheWider) {
  const Values sides = {1, 2, 3};
  const Input single{{4, 1, 0, 1, 5, 2, 0, 2, 7}, Shape{3, 3}, "float32"};
  const Input wide{sides, Shape{3}, "float64"};
  Input single_sides = wide, wide_matrix = single;
  single_sides.dtype = "float32";
  wide_matrix.dtype = "float64";
  expect_same_outputs("_npi_solve", {single, wide}, {}, 1e-7);
  expect_same_outputs("_npi_solve", {wide_matrix, single_sides}, {}, 1e-7);
  expect_same_outputs("_backward_npi_solve", {wide, single, wide, wide}, {}, 1e-6);
}

TEST(GpuMatrices, EquationsOfIntegersAreSolvedInReals) {
  const Input real{{4, 1, 0, 1, 5, 2, 0, 2, 7}, Shape{3, 3}}, sides{{1, 2, 3}, Shape{3}};
  for (const char* dtype : {"int32", "int64", "uint8"}) {
    Input whole = real, whole_sides = sides;
    whole.dtype = whole_sides.dtype = dtype;
    expect_same_outputs("_npi_solve", {whole, whole_sides}, {}, 1e-6);
    expect_same_outputs("_npi_solve", {whole, sides}, {}, 1e-6);
    expect_same_outputs("_npi_solve", {real, whole_sides}, {}, 1e-6);
  }
}

TEST(GpuMatrices, NumbersOfMatrices) {
  const Input a = filled(Shape{2, 4, 4}, 1, 4), numbers = filled(Shape{2});
  expect_op("_linalg_sumlogdiag", {a});
  expect_op("_backward_linalg_scale", {numbers, a});
  expect_op("_backward_linalg_inner", {a, filled(Shape{2, 4, 4}), numbers});
}

TEST(GpuMatrices, EinsteinSumsAreTheCpus) {
  const Input a = filled(Shape{2, 3, 4}), b = filled(Shape{2, 4, 5}), square = filled(Shape{4, 4});
  const auto sum = [](const char* subscripts, int arrays, std::vector<Input> inputs) {
    const Attrs attrs{{"subscripts", subscripts}, {"num_args", std::to_string(arrays)}};
    expect_op("_npi_einsum", std::move(inputs), attrs);
  };
  sum("bij,bjk->bik", 2, {a, b});
  sum("bij,bjk->kbi", 2, {a, b});
  sum("...ij,...jk->ik", 2, {filled(Shape{3, 4}), filled(Shape{4, 5})});
  sum("bij->jb", 1, {a});
  sum("bij->", 1, {a});
  sum("ii->i", 1, {square});
  sum("ii", 1, {square});
  sum("ij,ij->j", 2, {square, square});
  // Three arrays run on the host.
  sum("ij,jk,kl->il", 3, {square, square, square});
  const Attrs product{{"subscripts", "bij,bjk->bik"}, {"num_args", "3"}, {"wrt", "1"}};
  expect_op("_backward_npi_einsum", {filled(Shape{2, 3, 5}), a, b}, product);
  // Only the diagonal is reached: the rest is zero.
  const Attrs diagonal{{"subscripts", "ii->i"}, {"num_args", "2"}, {"wrt", "0"}};
  expect_op("_backward_npi_einsum", {filled(Shape{4}), square}, diagonal);
}

TEST(GpuMatrices, CholeskyFactorsAreTheCpus) {
  // Diagonally dominant.
  Input a = filled(Shape{2, 5, 5}, -1, 1);
  for (std::size_t m = 0; m < 2; ++m) {
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = 0; j < i; ++j)
        a.values[m * 25 + j * 5 + i] = a.values[m * 25 + i * 5 + j];
      a.values[m * 25 + i * 6] = 6;
    }
  }
  for (const char* lower : {"False", "True"}) {
    for (const char* op : {"_linalg_potrf", "_npi_cholesky"})
      expect_op(op, {a}, {{"lower", lower}});
  }
  // One triangle is read.
  a.values[1] = NAN;
  expect_op("_linalg_potrf", {a}, {{"lower", "True"}});
}

// The second of two has none.
TEST(GpuMatrices, WithoutAFactorOrAnInverseAreAnError) {
  const auto error = [](const char* op, Device device) {
    NDArray a = array_of({1, 0, 0, 1, 4, 2, 2, 1}, Shape{2, 2, 2}, device);
    NDArray b = array_of({1, 2, 3, 4}, Shape{2, 2}, device);
    const bool solves = std::string_view(op) == "_npi_solve";
    return error_of([&] { values_of(solves ? call(op, {&a, &b}) : call(op, {&a})); });
  };
  for (const char* op : {"_linalg_potrf", "_linalg_inverse", "_npi_solve"}) {
    EXPECT_TRUE(contains(error(op, kGpu), "(info 2)")) << error(op, kGpu);
    EXPECT_EQ(error(op, kGpu), error(op, Device::cpu()));
  }
  const auto of_tensor = [](Device device) {
    NDArray a = array_of(Values(16, 1), Shape{2, 2, 2, 2}, device);
    return error_of([&] { values_of(call("_npi_tensorinv", {&a})); });
  };
  EXPECT_TRUE(contains(of_tensor(kGpu), "singular")) << of_tensor(kGpu);
  EXPECT_EQ(of_tensor(kGpu), of_tensor(Device::cpu()));
}

// As cuSOLVER finds them.
TEST(GpuMatrices, LargeWithoutAFactorOrAnInverseAreAnError) {
  const auto error = [](const char* op) {
    NDArray a = array_of(Values(130 * 130, -1), Shape{130, 130}, kGpu);
    return error_of([&] { values_of(call(op, {&a})); });
  };
  EXPECT_TRUE(contains(error("_linalg_potrf"), "not positive definite (info 1)"));
  EXPECT_TRUE(contains(error("_linalg_inverse"), "singular matrix (info 2)"));
}

TEST(GpuMatrices, SpectraOfWhatIsNotFinite) {
  NDArray a = array_of({1, 0, 0, 1, NAN, 0, 0, 1}, Shape{2, 2, 2}, kGpu);
  for (const char* op : {"_linalg_syevd", "_npi_eigvalsh", "_npi_svd", "_npi_pinv_scalar_rcond"}) {
    const std::string error = error_of([&] {
      NDArray* const given[] = {&a};
      for (const NDArray& output : call_op(op, given, {})) values_of(output);
    });
    EXPECT_TRUE(contains(error, "did not converge")) << op << ": " << error;
  }
  NDArray infinite = array_of({1, 0, 0, 1, INFINITY, 0, 0, 1}, Shape{2, 2, 2}, kGpu);
  const Values values = values_of(call("_npi_eigvalsh", {&infinite}));
  EXPECT_EQ(Values(values.begin(), values.begin() + 2), (Values{1, 1}));
  EXPECT_TRUE(std::isnan(values[2]) && std::isnan(values[3]));
}

TEST(GpuMatrices, KhatriRaoProducts) {
  const Input a = filled(Shape{2, 4}), b = filled(Shape{3, 4}), c = filled(Shape{2, 4});
  expect_op("khatri_rao", {a}, {{"num_args", "1"}});
  expect_op("khatri_rao", {a, b}, {{"num_args", "2"}});
  expect_op("khatri_rao", {a, b, c}, {{"num_args", "3"}});
}

// In one call of cuSOLVER or cuBLAS.
TEST(GpuMatrices, BatchesInBetweenHaveFactorsInversesAndSpectra) {
  const Input a = regular(3, 40);
  expect_op("_linalg_inverse", {a});
  expect_op("_npi_solve", {a, filled(Shape{3, 40, 2})});
  Input definite = a;
  for (std::size_t m = 0; m < 3; ++m) {
    for (std::size_t i = 0; i < 40; ++i)
      for (std::size_t j = 0; j < i; ++j)
        definite.values[m * 1600 + j * 40 + i] = definite.values[m * 1600 + i * 40 + j];
  }
  for (const char* lower : kFlags) expect_op("_linalg_potrf", {definite}, {{"lower", lower}});
  for (const char* uplo : {"L", "U"}) expect_op("_npi_eigvalsh", {definite}, {{"UPLO", uplo}});
  // The second of three has none.
  Input broken = definite;
  for (std::size_t i = 0; i < 40; ++i) broken.values[1600 + i] = 0;
  for (const char* op : {"_linalg_potrf", "_linalg_inverse"}) {
    NDArray given = broken.on(kGpu);
    const std::string error = error_of([&] { values_of(call(op, {&given})); });
    EXPECT_TRUE(contains(error, "(info ")) << op << ": " << error;
  }
}

// u diag(s) v is the matrix, for batches in one call and one after the other.
TEST(GpuMatrices, SingularValuesAndVectors) {
  for (const auto& [count, m, n] :
       {std::tuple<int64_t, int64_t, int64_t>{3, 4, 6}, {2, 5, 5}, {1, 4, 6}, {2, 3, 40}}) {
    Input a = filled(Shape{count, m, n});
    for (const char* dtype : kMatrixTypes) {
      a.dtype = dtype;
      NDArray given = a.on(kGpu), host = a.on(Device::cpu());
      NDArray* const inputs[] = {&given};
      NDArray* const host_inputs[] = {&host};
      const auto outputs = call_op("_npi_svd", inputs, {});
      const Values u = values_as_float(outputs[0]), s = values_as_float(outputs[1]),
                   v = values_as_float(outputs[2]);
      const Values want = values_as_float(call_op("_npi_svd", host_inputs, {})[1]);
      for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(s[i], want[i], 1e-4);
      for (int64_t i = 0; i < count * m * n; ++i) {
        const int64_t matrix = i / (m * n), row = i / n % m, column = i % n;
        double sum = 0;
        for (int64_t k = 0; k < m; ++k)
          sum += double{u[static_cast<std::size_t>((matrix * m + row) * m + k)]} *
                 s[static_cast<std::size_t>(matrix * m + k)] *
                 v[static_cast<std::size_t>((matrix * m + k) * n + column)];
        EXPECT_NEAR(sum, a.values[static_cast<std::size_t>(i)], 1e-4) << i << ' ' << dtype;
      }
    }
  }
}

// a v = v diag(w), with columns of length 1: their signs and order are the library's.
TEST(GpuMatrices, EigenvaluesAndVectorsOfMatricesThatAreNotSymmetric) {
  // Numbers of a diagonal that differ, and something else above it and a little below.
  constexpr std::size_t kSide = 5, kCount = 2;
  Input a = filled(Shape{kCount, kSide, kSide}, -1, 1);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const std::size_t row = i / kSide % kSide, column = i % kSide;
    if (row > column) a.values[i] /= 16;
    if (row == column) a.values[i] = static_cast<float>(2 * row) - 3;
  }
  for (const char* dtype : kMatrixTypes) {
    a.dtype = dtype;
    NDArray given = a.on(kGpu), host = a.on(Device::cpu());
    NDArray* const inputs[] = {&given};
    const auto outputs = call_op("_npi_eig", inputs, {});
    EXPECT_EQ(outputs[0].device(), kGpu);
    const Values w = values_as_float(outputs[0]), v = values_as_float(outputs[1]);
    EXPECT_EQ(values_as_float(call("_npi_eigvals", {&given})), w);
    for (std::size_t m = 0; m < kCount; ++m) {
      for (std::size_t k = 0; k < kSide; ++k) {
        double length = 0;
        for (std::size_t i = 0; i < kSide; ++i) {
          const auto at = [&](std::size_t row) { return v[(m * kSide + row) * kSide + k]; };
          double sum = 0;
          for (std::size_t j = 0; j < kSide; ++j)
            sum += a.values[(m * kSide + i) * kSide + j] * at(j);
          EXPECT_NEAR(sum, w[m * kSide + k] * at(i), 1e-4) << m << ' ' << k << ' ' << i;
          length += at(i) * at(i);
        }
        EXPECT_NEAR(length, 1, 1e-5);
      }
    }
    const auto sorted = [](Values values) {
      for (std::size_t m = 0; m < kCount; ++m)
        std::sort(values.begin() + static_cast<std::ptrdiff_t>(m * kSide),
                  values.begin() + static_cast<std::ptrdiff_t>((m + 1) * kSide));
      return values;
    };
    const Values want = sorted(values_as_float(call("_npi_eigvals", {&host}))), got = sorted(w);
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-4) << i;
  }
  // Integers are computed as on the CPU; nothing of no matrices is wrong.
  expect_same_outputs("_npi_eigvals", {{{2, 0, 0, 5}, Shape{2, 2}, "int32"}}, {}, 1e-12);
  expect_op("_npi_eigvals", {filled(Shape{0, 3, 3})});
  const Input vectors = regular(2, 4), head = filled(Shape{2, 4, 4}, -1, 1);
  const Input values{{1, 2, 4, 4, 7, 0, 1, 2}, Shape{2, 4}};
  expect_op("_backward_npi_eig_middle", {head, filled(Shape{2, 4}), vectors, values});
}

TEST(GpuMatrices, ComplexEigenvaluesAndWhatIsNotFiniteAreAnError) {
  const auto error = [](const Values& values, const char* op, Device device) {
    NDArray a = array_of(values, Shape{2, 2}, device);
    NDArray* const given[] = {&a};
    return error_of([&] {
      for (const NDArray& output : call_op(op, given, {})) values_of(output);
    });
  };
  for (const char* op : {"_npi_eig", "_npi_eigvals"}) {
    const std::string turned = error({0, 1, -1, 0}, op, kGpu);
    EXPECT_TRUE(contains(turned, "complex eigenvalues, expected real ones")) << turned;
    EXPECT_EQ(turned, error({0, 1, -1, 0}, op, Device::cpu()));
    for (const float bad : {NAN, INFINITY}) {
      for (const Device device : {kGpu, Device::cpu()}) {
        const std::string text = error({bad, 1, 1, 0}, op, device);
        EXPECT_TRUE(contains(text, "did not converge")) << op << ": " << text;
      }
    }
  }
}

TEST(GpuMatrices, EquationsOfTensors) {
  Input square = regular(1, 6);
  square.shape = Shape{2, 3, 6};
  const Input b = filled(Shape{2, 3}), dx = filled(Shape{6});
  expect_op("_npi_tensorsolve", {square, b});
  expect_op("_backward_npi_tensorsolve", {dx, square, dx, b});
  // Axes that are moved to the end, of which some count from there.
  Input moved = regular(1, 6);
  moved.shape = Shape{3, 6, 2};
  for (const char* axes : {"(0, 2)", "(2, 0)", "(-1, 0)"}) {
    const Attrs attrs{{"a_axes", axes}};
    const Input sides = filled(Shape{6});
    expect_op("_npi_tensorsolve", {moved, sides}, attrs);
  }
  const auto error = [](Device device) {
    NDArray a = array_of(Values(16, 1), Shape{2, 2, 4}, device);
    NDArray sides = array_of(Values(4, 1), Shape{2, 2}, device);
    return error_of([&] { values_of(call("_npi_tensorsolve", {&a, &sides})); });
  };
  EXPECT_TRUE(contains(error(kGpu), "singular matrix (info 2)")) << error(kGpu);
  EXPECT_EQ(error(kGpu), error(Device::cpu()));
}

}  // namespace
}  // namespace mxnet
