// SPDX-License-Identifier: Apache-2.0
// Series of numbers, statistics, differences, losses and polynomials on the plug-in's kernels.
// Numbers are those of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

constexpr double kTolerance = 1e-5;
const char* const kReal[] = {"float32", "float64", "float16"};
const char* const kNumbers[] = {"float32", "float64", "float16", "int32", "int64", "uint8"};

double tolerance_of(std::string_view dtype) { return dtype == "float16" ? 1e-2 : kTolerance; }

Input filled(const Shape& shape, float low = -2, float high = 2) {
  return {random_values(shape.size(), low, high), shape};
}
template <std::size_t kCount>
void expect_op(const char* const (&types)[kCount], const char* op, std::vector<Input> inputs,
               const Attrs& attrs = {}) {
  for (const char* dtype : types) {
    for (Input& input : inputs) input.dtype = dtype;
    expect_same_outputs(op, inputs, attrs, tolerance_of(dtype));
  }
}
// Of operators without inputs: the result says where they run.
void expect_series(const char* op, const Attrs& attrs) {
  NDArray expected = call(op, {}, attrs);
  NDArray result(expected.shape(), expected.dtype(), kGpu);
  call_into(result, op, {}, attrs);
  const Values want = values_as_float(expected), got = values_as_float(result);
  ASSERT_EQ(got.size(), want.size()) << op;
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], kTolerance) << op << " [" << i << "]";
}

TEST(GpuSeries, WindowsAndPowers) {
  for (const char* dtype : {"float32", "float64", "float16", "int32"}) {
    for (const char* points : {"1", "7", "64"}) {
      for (const char* op : {"_npi_hanning", "_npi_hamming", "_npi_blackman"})
        expect_series(op, {{"M", points}, {"dtype", dtype}});
    }
    for (const char* endpoint : {"True", "False"}) {
      expect_series("_npi_logspace", {{"start", "0"},
                                      {"stop", "2"},
                                      {"num", "9"},
                                      {"base", "3"},
                                      {"endpoint", endpoint},
                                      {"dtype", dtype}});
    }
    expect_series("_npi_indices", {{"dimensions", "(2,3,4)"}, {"dtype", dtype}});
  }
}

TEST(GpuSeries, PlacesAndTheirIndices) {
  const Attrs shape{{"shape", "(3,4,5)"}}, open{{"shape", "(-1,4,5)"}};
  const Input indices{{2, 0, 1, 3, 1, 0, 4, 2, 3}, Shape{3, 3}}, places{{59, 0, 17, 33}, Shape{4}};
  for (const Attrs& attrs : {shape, open}) {
    expect_op(kNumbers, "_ravel_multi_index", {indices}, attrs);
    expect_op(kNumbers, "_unravel_index", {places}, attrs);
  }
  expect_op(kReal, "_contrib_index_array", {filled(Shape{2, 3, 4})});
  expect_op(kReal, "_contrib_index_array", {filled(Shape{2, 3, 4})}, {{"axes", "(-1,0)"}});
  expect_op(kReal, "_npi_diag_indices_from", {filled(Shape{4, 4})});
}

TEST(GpuSeries, ColumnsOfImages) {
  const Attrs plain{{"kernel", "(3,2)"}};
  const Attrs wide{{"kernel", "(3,2)"}, {"stride", "(2,1)"}, {"dilate", "(1,2)"}, {"pad", "(1,2)"}};
  const Input image = filled(Shape{2, 3, 6, 7});
  expect_op(kNumbers, "im2col", {image}, plain);
  expect_op(kNumbers, "im2col", {image}, wide);
  const Input columns = filled(Shape{2, 18, 24}), spread = filled(Shape{2, 18, 27});
  expect_op(kNumbers, "_backward_im2col", {columns, image}, plain);
  expect_op(kNumbers, "_backward_im2col", {spread, image}, wide);
  Attrs sized = wide;
  sized.emplace_back("output_size", "(6,7)");
  expect_op(kNumbers, "col2im", {spread}, sized);
  expect_op(kNumbers, "im2col", {filled(Shape{1, 2, 9})}, {{"kernel", "(4,)"}, {"stride", "(3,)"}});
}

TEST(GpuStatistics, AveragesAreTheCpus) {
  const Input a = filled(Shape{3, 4, 5}, 1, 6), weights = filled(Shape{3, 4, 5}, 1, 4);
  const Input list = filled(Shape{4}, 1, 4);
  for (const char* axis : {"None", "(1,)", "(0,2)"}) {
    expect_op(kReal, "_npi_average", {a}, {{"axis", axis}, {"weighted", "False"}});
    expect_op(kReal, "_npi_average", {a, weights}, {{"axis", axis}, {"returned", "True"}});
  }
  expect_op(kReal, "_npi_average", {a, list}, {{"axis", "(1,)"}, {"returned", "True"}});
  // Gradients, mean and sum, array and weights; the second gradient with `returned`.
  const Input kept = filled(Shape{3, 5}, 1, 4), one{{7}, Shape::scalar()};
  const Attrs along{{"axis", "(1,)"}}, both{{"axis", "(1,)"}, {"returned", "True"}};
  expect_op(kReal, "_backward_np_average", {kept, kept, kept, a, weights}, along);
  expect_op(kReal, "_backward_np_average", {kept, kept, kept, a, weights, kept}, both);
  expect_op(kReal, "_backward_np_average", {kept, kept, one, a, list}, along);
  expect_op(kReal, "_backward_np_average", {kept, kept, one, a, list, one}, both);
}

TEST(GpuStatistics, NormsOfVectors) {
  const Input x = filled(Shape{3, 4, 5}), dy = filled(Shape{3, 5});
  const char* const types[] = {"float32", "float64"};
  for (const char* order : {"0", "1", "2", "3", "inf", "-inf"}) {
    for (const char* axis : {"None", "(1,)"})
      expect_op(types, "_npi_norm", {x}, {{"ord", order}, {"axis", axis}});
    expect_op(types, "_backward_npi_norm", {dy, filled(Shape{3, 5}, 1, 4), x},
              {{"ord", order}, {"axis", "(1,)"}});
  }
}

TEST(GpuStatistics, NormsOfMatricesStayOnTheHost) {
  const Input x = filled(Shape{2, 4, 4});
  expect_op({"float32"}, "_npi_norm", {x}, {{"ord", "2"}, {"axis", "(1,2)"}, {"flag", "0"}});
}

TEST(GpuStatistics, ProductsWithZerosHaveGradients) {
  Input x{{1, 2, 3, 0, 5, 6, 0, 0, 4}, Shape{3, 3}}, y{{6, 0, 0}, Shape{3}};
  const Input dy{{1, 2, 3}, Shape{3}};
  expect_op(kReal, "_backward_prod", {dy, y, x}, {{"axis", "(1,)"}});
  expect_op(kReal, "_backward_prod", {dy, y, x}, {{"axis", "(0,)"}, {"exclude", "True"}});
}

TEST(GpuStatistics, HistogramsAreTheCpus) {
  const Input x = filled(Shape{7, 9}, -4, 8), edges{{-3, -1, 0, 0, 2, 7}, Shape{6}};
  expect_op(kReal, "_histogram", {x, edges});
  expect_op(kReal, "_histogram", {x}, {{"bin_cnt", "5"}, {"range", "(-3,7)"}});
  expect_op({"int32", "uint8"}, "_histogram", {filled(Shape{30}, 0, 9)},
            {{"bin_cnt", "4"}, {"range", "(0,9)"}});
}

TEST(GpuStatistics, OneElementThatIsFarOrNoNumberIsSeen) {
  Input a = filled(Shape{50}), b = a;
  expect_op(kReal, "_contrib_allclose", {a, b});
  b.values[31] += 1;
  expect_op(kReal, "_contrib_allclose", {a, b});
  a.values[31] = b.values[31] = NAN;
  expect_op(kReal, "_contrib_allclose", {a, b}, {{"equal_nan", "True"}});
  expect_op(kReal, "_contrib_allclose", {a, b}, {{"equal_nan", "False"}});
}

TEST(GpuStatistics, DifferencesAreTheCpus) {
  const Input x = filled(Shape{3, 5, 4}, 0, 9);
  for (const char* n : {"0", "1", "2", "3"}) {
    const int64_t left = 5 - (*n - '0');
    const Attrs attrs{{"n", n}, {"axis", "1"}};
    expect_op(kNumbers, "_npi_diff", {x}, attrs);
    expect_op(kNumbers, "_backward_npi_diff", {filled(Shape{3, left, 4}, 0, 9), x}, attrs);
  }
  expect_op(kNumbers, "_npi_diff", {x}, {{"n", "7"}, {"axis", "1"}});
  const Input two{{1, 2}, Shape{2}}, three{{3, 4, 5}, Shape{3}};
  const Attrs arrays{{"to_begin_arr_given", "True"}, {"to_end_arr_given", "True"}};
  expect_op(kNumbers, "_npi_ediff1d", {x, two, three}, arrays);
  expect_op(kNumbers, "_npi_ediff1d", {x}, {{"to_begin_scalar", "4"}, {"to_end_scalar", "2"}});
  expect_op(kNumbers, "_npi_backward_ediff1d", {filled(Shape{64}, 0, 9), x, two, three}, arrays);
  expect_op(kNumbers, "_npi_backward_ediff1d", {filled(Shape{59}, 0, 9), x});
}

TEST(GpuLosses, CrossEntropyIsTheCpus) {
  const Input data = filled(Shape{5, 7}, -9, 9), labels{{0, 6, 3, 3, 1}, Shape{5}};
  expect_op(kReal, "softmax_cross_entropy", {data, labels});
  expect_op(kReal, "_backward_softmax_cross_entropy", {{{2}, Shape{1}}, data, labels});
  Input masked = data;
  std::fill_n(masked.values.begin(), 6, -std::numeric_limits<float>::infinity());
  const Input last{{6, 6, 3, 3, 1}, Shape{5}};
  expect_op(kReal, "softmax_cross_entropy", {masked, last});
  expect_op(kReal, "_backward_softmax_cross_entropy", {{{2}, Shape{1}}, masked, last});
}

TEST(GpuLosses, LabelsThatAreNoClassesAreNotNumbers) {
  NDArray data = array_of(random_values(6, 0, 1), Shape{2, 3}, kGpu);
  NDArray labels = array_of({3, 1}, Shape{2}, kGpu), head = array_of({1}, Shape{1}, kGpu);
  EXPECT_TRUE(std::isnan(values_of(call("softmax_cross_entropy", {&data, &labels}))[0]));
  const Values slope = values_of(call("_backward_softmax_cross_entropy", {&head, &data, &labels}));
  EXPECT_TRUE(std::isnan(slope[0]));
  EXPECT_FALSE(std::isnan(slope[3]));
}

TEST(GpuLosses, HingeAndSparsity) {
  const Input labels{{0, 6, 3, 3, 1}, Shape{5}}, out = filled(Shape{5, 7});
  for (const char* linear : {"False", "True"}) {
    expect_op(kReal, "_backward_SVMOutput", {labels, out},
              {{"margin", "0.75"}, {"regularization_coefficient", "2"}, {"use_linear", linear}});
  }
  const Input data = filled(Shape{4, 3, 5}, 0.125f, 0.875f), moving{{0.25f, 0.5f, 0.75f}, Shape{3}};
  expect_op(kReal, "IdentityAttachKLSparseReg", {data, moving});
  expect_op(kReal, "_backward_IdentityAttachKLSparseReg", {filled(Shape{4, 3, 5}), data, moving},
            {{"penalty", "0.125"}});
}

TEST(GpuPolynomials, ValuesAndGradients) {
  const Input p{{2, -1, 0, 3}, Shape{4}}, x = filled(Shape{3, 5});
  expect_op(kReal, "_npi_polyval", {p, x});
  expect_op({"int32", "int64"}, "_npi_polyval", {p, filled(Shape{6}, 0, 9)});
  expect_op(kReal, "_backward_npi_polyval", {filled(Shape{3, 5}), p, x});
}

TEST(GpuFourier, TransformsOfAnyLength) {
  for (const int64_t n : {1, 2, 8, 12, 7, 30}) {
    expect_op(kReal, "_contrib_fft", {filled(Shape{3, n}, -1, 1)});
    expect_op(kReal, "_contrib_ifft", {filled(Shape{3, 2 * n}, -1, 1)});
  }
  expect_op(kReal, "_contrib_fft", {filled(Shape{2, 1, 3, 4}, -1, 1)});
}

TEST(GpuFourier, CountSketchesAreTheCpus) {
  const Input x = filled(Shape{3, 6}), h{{0, 3, 1, 3, 2, 0}, Shape{1, 6}};
  const Input s{{1, -1, 1, 1, -1, -1}, Shape{1, 6}};
  const Attrs attrs{{"out_dim", "4"}};
  expect_op(kReal, "_contrib_count_sketch", {x, h, s}, attrs);
  expect_op(kReal, "_backward_contrib_count_sketch", {filled(Shape{3, 4}), h, s}, attrs);
}

TEST(GpuStatistics, CountsOfIntegers) {
  const Input x{{3, 0, 2, 3, 3, 7, 0}, Shape{7}, "int32"}, w{{1, 2, 3, 4, 5, 6, 7}, Shape{7}};
  expect_same_outputs("_npi_bincount", {x});
  expect_same_outputs("_npi_bincount", {x}, {{"minlength", "12"}});
  expect_same_outputs("_npi_bincount", {x, w}, {{"has_weights", "True"}});
  const auto error = [](Device device) {
    NDArray negative = Input{{1, -2}, Shape{2}, "int64"}.on(device);
    return error_of([&] { values_as_float(call("_npi_bincount", {&negative})); });
  };
  EXPECT_TRUE(contains(error(kGpu), "given -2")) << error(kGpu);
  EXPECT_EQ(error(kGpu), error(Device::cpu()));
}

TEST(GpuStatistics, PercentilesAreTheCpus) {
  Input x = filled(Shape{3, 4, 5}, -8, 8), q{{0, 12.5f, 50, 99, 100}, Shape{5}};
  for (const char* between : {"linear", "lower", "higher", "midpoint", "nearest"}) {
    for (const char* axis : {"None", "(1,)", "(0,-1)"})
      expect_op(kNumbers, "_npi_percentile", {x, q},
                {{"axis", axis}, {"interpolation", between}, {"keepdims", "True"}});
  }
  x.values[7] = NAN;
  expect_op(kReal, "_npi_percentile", {x}, {{"axis", "(2,)"}, {"q_scalar", "30"}});
  const auto error = [](Device device) {
    NDArray a = array_of({1, 2}, Shape{2}, device), beyond = array_of({50, 101}, Shape{2}, device);
    return error_of([&] { values_of(call("_npi_percentile", {&a, &beyond})); });
  };
  EXPECT_TRUE(contains(error(kGpu), "percentage of 101")) << error(kGpu);
  EXPECT_EQ(error(kGpu), error(Device::cpu()));
}

TEST(GpuStatistics, SelfExcitingProcesses) {
  const Shape kinds{2, 3}, events{2, 5};
  const auto real = [](const Shape& shape, float low, float high, const char* dtype) {
    return Input{random_values(shape.size(), low, high), shape, dtype};
  };
  for (const char* dtype : {"float32", "float64"}) {
    std::vector<Input> in{
        real(kinds, 1, 2, dtype),       real(Shape{3}, 0.25f, 0.5f, dtype),
        real(Shape{3}, 1, 2, dtype),    real(kinds, 0, 1, dtype),
        real(events, 0.125f, 1, dtype), {{0, 2, 1, 1, 0, 2, 2, 0, 1, 0}, events, "int32"},
        {{5, 3}, Shape{2}, dtype},      {{8, 7}, Shape{2}, dtype}};
    expect_same_outputs("_contrib_hawkesll", in, {}, kTolerance);
    in.push_back(real(Shape{2}, -1, 1, dtype));
    in.push_back(real(kinds, -1, 1, dtype));
    expect_same_outputs("_backward_hawkesll", in, {}, kTolerance);
  }
}

}  // namespace
}  // namespace mxnet
