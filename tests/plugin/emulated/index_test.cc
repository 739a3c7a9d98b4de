// SPDX-License-Identifier: Apache-2.0
// Operators that read positions, masks and lengths on the host and move elements on the device.
#include <gtest/gtest.h>

#include <algorithm>

#include "op/run/read_back.h"
#include "storage/storage.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

constexpr const char* kTypes[] = {"float32", "float16", "float64", "int32", "uint8", "int64"};

TEST(GpuIndex, GatherAndScatterByColumns) {
  const Input indices{{0, 2, -1, 1, 4, 0, 3, -5}, Shape{2, 4}, "int64"};
  for (const char* dtype : kTypes) {
    const Input data{random_values(3 * 5 * 7, 0, 20), Shape{3, 5, 7}, dtype};
    const Input rows{random_values(4 * 7, 0, 20), Shape{4, 7}, dtype};
    expect_same_outputs("gather_nd", {data, indices});
    expect_same_outputs("scatter_nd", {rows, indices}, {{"shape", "(3, 5, 7)"}});
    expect_same_outputs("_scatter_set_nd", {data, rows, indices}, {{"shape", "(3, 5, 7)"}});
    expect_same_outputs("_backward_gather_nd", {rows, indices}, {{"shape", "(3, 5, 7)"}});
  }
}

TEST(GpuIndex, OfEqualPlacesTheLastWins) {
  Values many;
  for (int i = 0; i < 300; ++i) many.push_back(static_cast<float>(i * 7 % 5));
  const Input places{many, Shape{1, 300}, "int32"};
  expect_same_outputs("scatter_nd", {{random_values(300, -9, 9)}, places}, {{"shape", "(6,)"}});
  expect_same_outputs("_contrib_index_copy", {{random_values(12, -9, 9), Shape{6, 2}},
                                              {{5, 1, 5}, {}, "int64"},
                                              {random_values(6, -9, 9), Shape{3, 2}}});
  expect_same_outputs("_backward_index_copy",
                      {{random_values(12, -9, 9), Shape{6, 2}}, {{5, 1, 5}, {}, "int64"}});
}

TEST(GpuIndex, PositionsOutOfRangeAreErrors) {
  NDArray data = array_of({1, 2, 3}, {}, kGpu), at = array_of({0, 3}, Shape{1, 2}, kGpu);
  EXPECT_TRUE(contains(error_of([&] {
                         values_of(call("gather_nd", {&data, &at}));
                       }),
                       "given index 3, expected one in [-3, 3)"));
  NDArray row = array_of({0, 3}, {}, kGpu);
  EXPECT_TRUE(contains(error_of([&] {
                         values_of(call("take", {&data, &row}, {{"mode", "raise"}}));
                       }),
                       "index 3"));
  NDArray good = array_of({2, 0}, {}, kGpu);
  EXPECT_EQ(values_of(call("take", {&data, &good}, {{"mode", "raise"}})), (Values{3, 1}));
}

TEST(GpuIndex, SlicesBecomeANumber) {
  for (const char* dtype : kTypes) {
    const Input data{random_values(6 * 7 * 4, 0, 20), Shape{6, 7, 4}, dtype};
    for (const char* step : {"(1, 1)", "(2, -3)"}) {
      const bool back = step[1] == '2';
      expect_same_outputs("_slice_assign_scalar", {data},
                          {{"scalar", "9"},
                           {"begin", back ? "(1, 6)" : "(1, 2)"},
                           {"end", back ? "(6, 0)" : "(4, 6)"},
                           {"step", step}});
    }
  }
}

TEST(GpuIndex, SequencesOfUnequalLength) {
  const Input lengths{{3, 5, 1}, {}, "float32"};
  for (const char* dtype : kTypes) {
    for (const int axis : {0, 1}) {
      const Shape shape = axis == 0 ? Shape{5, 3, 2} : Shape{3, 5, 2};
      const Input data{random_values(30, 0, 20), shape, dtype};
      const Attrs attrs = {{"use_sequence_length", "True"}, {"axis", std::to_string(axis)}};
      const Attrs all = {{"axis", std::to_string(axis)}};
      Attrs with_value = attrs;
      with_value.emplace_back("value", "7");
      expect_same_outputs("SequenceMask", {data, lengths}, with_value);
      expect_same_outputs("SequenceMask", {data}, all);
      expect_same_outputs("SequenceReverse", {data, lengths}, attrs);
      expect_same_outputs("SequenceReverse", {data}, all);
      expect_same_outputs("SequenceLast", {data, lengths}, attrs);
      expect_same_outputs("SequenceLast", {data}, all);
      const Input last{random_values(6, 0, 20), Shape{3, 2}, dtype};
      expect_same_outputs("_backward_SequenceLast", {last, data, lengths}, attrs);
    }
  }
  NDArray x = array_of({1, 2, 3, 4}, Shape{2, 2}, kGpu), wrong = array_of({1, 3}, {}, kGpu);
  EXPECT_TRUE(
      contains(error_of([&] {
                 values_of(call("SequenceMask", {&x, &wrong}, {{"use_sequence_length", "True"}}));
               }),
               "given length 3 of sequence 1"));
}

TEST(GpuIndex, MasksSelectSlices) {
  for (const char* dtype : kTypes) {
    const Input data{random_values(4 * 3 * 5, 0, 20), Shape{4, 3, 5}, dtype};
    const Input mask{{1, 0, 1, 1}, {}, dtype};
    expect_same_outputs("_contrib_boolean_mask", {data, mask});
    const Input across{{0, 0, 1}, {}, "int32"};
    expect_same_outputs("_contrib_boolean_mask", {data, across}, {{"axis", "1"}});
    const Input kept{random_values(3 * 3 * 5, 0, 20), Shape{3, 3, 5}, dtype};
    expect_same_outputs("_backward_boolean_mask", {kept, data, mask});
  }
  const Input nothing{{0, 0}, {}, "uint8"};
  expect_same_outputs("_contrib_boolean_mask", {{{1, 2, 3, 4}, Shape{2, 2}}, nothing});
}

TEST(GpuIndex, AnElementOfEachRow) {
  for (const char* dtype : kTypes) {
    expect_same_outputs("batch_take", {{random_values(12, 0, 20), Shape{4, 3}, dtype},
                                       {{0, 2, 1, 7}, {}, "int32"}});
  }
}

TEST(GpuIndex, ShapesDiagonalsAndProducts) {
  for (const char* dtype : {"float32", "float64"}) {
    const Input a{random_values(2 * 4 * 3, -2, 2), Shape{2, 4, 3}, dtype};
    const Input b{random_values(2 * 3 * 5, -2, 2), Shape{2, 3, 5}, dtype};
    const Input c{random_values(2 * 4 * 5, -2, 2), Shape{2, 4, 5}, dtype};
    for (const char* beta : {"0", "0.5"})
      expect_same_outputs("_linalg_gemm", {a, b, c}, {{"alpha", "2"}, {"beta", beta}}, 1e-6);
    for (const char* transpose : {"True", "False"})
      expect_same_outputs("_linalg_syrk", {a}, {{"transpose", transpose}, {"alpha", "3"}}, 1e-6);
    expect_same_outputs("_np_trace", {a}, {{"axis1", "1"}, {"axis2", "2"}, {"offset", "-1"}});
    expect_same_outputs("shape_array", {a});
    expect_same_outputs("size_array", {a});
    expect_same_outputs("_np_atleast_3d", {{{1, 2}, {}, dtype}}, {{"num_args", "1"}});
  }
}

TEST(GpuIndex, PaddedImagesAreTheCpus) {
  for (const char* dtype : {"float32", "float16", "float64"}) {
    const Input image{random_values(2 * 3 * 4 * 5, -2, 2), Shape{2, 3, 4, 5}, dtype};
    const Input gradient{random_values(2 * 3 * 7 * 8, -2, 2), Shape{2, 3, 7, 8}, dtype};
    for (const char* mode : {"constant", "edge", "reflect"}) {
      Attrs attrs = {{"mode", mode}, {"pad_width", "(0, 0, 0, 0, 1, 2, 3, 0)"}};
      expect_same_outputs("_backward_Pad", {gradient, image}, attrs);
      attrs.emplace_back("constant_value", "1.5");
      expect_same_outputs("Pad", {image}, attrs);
    }
  }
}

TEST(GpuIndex, PartsOfMatrices) {
  const Input matrices{random_values(2 * 4 * 4, -2, 2), Shape{2, 4, 4}};
  for (const char* offset : {"0", "1", "-2"}) {
    expect_same_outputs("_linalg_extractdiag", {matrices}, {{"offset", offset}});
    expect_same_outputs("_linalg_makediag", {{random_values(6, -2, 2), Shape{2, 3}}},
                        {{"offset", offset}});
    for (const char* lower : {"True", "False"}) {
      const Attrs attrs = {{"offset", offset}, {"lower", lower}};
      expect_same_outputs("_linalg_extracttrian", {matrices}, attrs);
      expect_same_outputs("_linalg_maketrian", {{random_values(12, -2, 2), Shape{2, 6}}}, attrs);
    }
  }
}

TEST(GpuIndex, ShuffledSlicesAreAllThere) {
  NDArray rows = array_of({0, 0, 1, 1, 2, 2, 3, 3, 4, 4}, Shape{5, 2}, kGpu);
  const Values shuffled = values_of(call("_shuffle", {&rows}));
  Values first;
  for (std::size_t i = 0; i < shuffled.size(); i += 2) {
    EXPECT_EQ(shuffled[i], shuffled[i + 1]);
    first.push_back(shuffled[i]);
  }
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, (Values{0, 1, 2, 3, 4}));
}

TEST(GpuIndex, WhatTheHostReadsIsNoPartOfAGraph) {
  EXPECT_TRUE(waits_for_device(Registry::get().at("gather_nd")));
  EXPECT_FALSE(waits_for_device(Registry::get().at("batch_take")));
}

// Distinct elements and slices; NaN and zeros of both signs are told apart as on the CPU.
TEST(GpuIndex, DistinctElementsAndSlices) {
  Values many = random_values(200, -3, 3), special{0, -0.0f, NAN, 3, -0.0f, 0, NAN, -INFINITY, 3};
  const auto expect_unique = [](const Input& input, const Attrs& axis) {
    expect_same_outputs("_npi_unique", {input}, axis);
    for (const char* which : {"return_index", "return_inverse", "return_counts"}) {
      Attrs attrs = axis;
      attrs.emplace_back(which, "True");
      expect_same_outputs("_npi_unique", {input}, attrs);
    }
    Attrs attrs = axis;
    for (const char* each : {"return_index", "return_inverse", "return_counts"})
      attrs.emplace_back(each, "True");
    expect_same_outputs("_npi_unique", {input}, attrs);
  };
  for (const char* dtype :
       {"float32", "float64", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "bool"}) {
    expect_unique({many, Shape{10, 20}, dtype}, {});
    expect_unique({many, Shape{200}, dtype}, {{"axis", "0"}});
    Values few = random_values(2 * 9 * 3, 0, 0.5f);
    for (const char* axis : {"0", "1", "-1"})
      expect_unique({few, Shape{2, 9, 3}, dtype}, {{"axis", axis}});
    if (std::string_view(dtype).find("float") != std::string_view::npos) {
      expect_unique({special, Shape{9}, dtype}, {});
      expect_unique({special, Shape{3, 3}, dtype}, {{"axis", "1"}});
    }
    expect_unique({{}, Shape{0}, dtype}, {});
    expect_unique({{}, Shape{0, 3}, dtype}, {{"axis", "0"}});
    expect_unique({{5}, Shape{1}, dtype}, {});
  }
}

// Columns are sorted one after the other in the memory of the first: wide slices, a picture each
// say, would take more than the device has.
TEST(GpuIndex, DistinctSlicesTakeMemoryOfOneColumn) {
  constexpr int64_t kRows = 1000, kColumns = 60;
  NDArray x = array_of(random_values(kRows * kColumns, 0, 0.5f), Shape{kRows, kColumns}, kGpu);
  x.wait_to_read();
  Storage::get().reset_peak(kGpu);
  const std::size_t before = Storage::get().stats(kGpu).in_use;
  values_of(call("_npi_unique", {&x}, {{"axis", "0"}}));
  // Each row is distinct. A column has keys, places and these in order, of at most 8 bytes.
  EXPECT_LT(Storage::get().stats(kGpu).peak_in_use - before,
            static_cast<std::size_t>(kRows) * (kColumns * sizeof(float) + 24 * sizeof(int64_t)));
}

// What finds its shape while it runs has it found on the GPU, and gives errors as other operators.
TEST(GpuIndex, ShapesThatAreInTheValues) {
  const Input data{random_values(24, -1, 1), Shape{4, 6}};
  expect_same_outputs("_contrib_boolean_mask", {data, {{1, 0, 0, 1}, Shape{4}}});
  expect_same_outputs("_contrib_boolean_mask", {data, {{0, 0, 0, 0}, Shape{4}}});
  expect_same_outputs("_npx_nonzero", {data});
  expect_same_outputs("_npi_bincount", {{{1, 5, 1, 2}, Shape{4}, "int32"}}, {{"minlength", "3"}});
  NDArray negative = Input{{1, -2}, Shape{2}, "int32"}.on(kGpu);
  EXPECT_TRUE(contains(error_of([&] { call("_npi_bincount", {&negative}); }), "given -2"));
  // 2^60, and the largest float below 2^63.
  for (const float largest : {0x1p60f, 0x1.fffffep62f}) {
    NDArray huge = Input{{largest}, Shape{1}, "int64"}.on(kGpu);
    EXPECT_TRUE(contains(error_of([&] { call("_npi_bincount", {&huge}); }), "expected at most"));
  }
  // Into a given array, added to it, or not of its shape.
  const OpDef& op = Registry::get().at("_npi_unique");
  NDArray x = array_of({3, 1, 3}, {}, kGpu), out = array_of({10, 20}, {}, kGpu);
  const NDArray* in[] = {&x};
  NDArray* outputs[] = {&out};
  const Request add[] = {Request::kAdd};
  invoke(op, parse_attrs(op, {})->params(), in, outputs, {.requests = add});
  EXPECT_EQ(values_of(out), (Values{11, 23}));
  NDArray small = array_of({0}, {}, kGpu);
  outputs[0] = &small;
  EXPECT_TRUE(
      contains(error_of([&] { invoke(op, parse_attrs(op, {})->params(), in, outputs, {}); }),
               "given output 0 of float32 (1,)"));
}

}  // namespace
}  // namespace mxnet
