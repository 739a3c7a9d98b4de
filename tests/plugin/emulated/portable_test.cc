// SPDX-License-Identifier: Apache-2.0
// Operators whose kernels are made of primitives: the host works out places, elements stay on the
// device.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

const char* const kTypes[] = {"float32", "float64", "float16", "int32", "uint8"};

Input filled(const Shape& shape) { return {random_values(shape.size(), 0, 31), shape}; }
void expect_op(const char* op, std::vector<Input> inputs, const Attrs& attrs = {}) {
  for (const char* dtype : kTypes) {
    inputs[0].dtype = dtype;
    expect_same_outputs(op, inputs, attrs);
  }
}

TEST(GpuPortable, PaddingIsTheCpus) {
  const Input x = filled(Shape{3, 4, 2});
  for (const char* mode : {"constant", "edge", "reflect", "symmetric", "maximum", "minimum"}) {
    const Attrs attrs{{"pad_width", "((1,2),(0,3),(2,0))"}, {"mode", mode}};
    expect_op("_npi_pad", {x}, attrs);
  }
  for (const char* mode : {"constant", "edge", "symmetric"}) {
    const Attrs attrs{{"pad_width", "((1,2),(0,3),(2,0))"}, {"mode", mode}};
    expect_op("_backward__npi_pad", {filled(Shape{6, 7, 4}), x}, attrs);
  }
}

TEST(GpuPortable, ImagesAreCutAndTurned) {
  const Input one = filled(Shape{5, 6, 3}), batch = filled(Shape{2, 5, 6, 3});
  const Attrs box{{"x", "1"}, {"y", "2"}, {"width", "4"}, {"height", "2"}};
  for (const Input& images : {one, batch}) {
    expect_op("_image_crop", {images}, box);
    expect_op("_image_flip_left_right", {images});
    expect_op("_image_flip_top_bottom", {images});
    expect_op("_image_to_tensor", {images});
  }
  for (const char* dtype : kTypes) {
    Input dout = filled(Shape{2, 2, 4, 3}), data = batch;
    dout.dtype = data.dtype = dtype;
    expect_same_outputs("_backward_image_crop", {dout, data}, box);
  }
  expect_same_outputs("_backward_image_to_tensor", {filled(Shape{2, 3, 5, 6}), batch});
  const Attrs moments{{"mean", "(1,2,3)"}, {"std", "(2,0.5,4)"}};
  for (const char* op : {"_image_normalize", "_backward_image_normalize"})
    expect_op(op, {filled(Shape{2, 3, 5, 6})}, moments);
  expect_op("_image_normalize", {filled(Shape{1, 5, 6})}, {{"mean", "(3)"}, {"std", "(2)"}});
}

TEST(GpuPortable, RandomFlipsAreOneOrTheOther) {
  const Input image = filled(Shape{2, 3, 1});
  NDArray in = image.on(kGpu);
  const Values plain = image.values, turned = values_of(call("_image_flip_left_right", {&in}));
  int flips = 0;
  for (int i = 0; i < 64; ++i) {
    const Values out = values_of(call("_image_random_flip_left_right", {&in}));
    ASSERT_TRUE(out == plain || out == turned);
    flips += out == turned ? 1 : 0;
  }
  EXPECT_GT(flips, 0);
  EXPECT_LT(flips, 64);
}

TEST(GpuPortable, DeletionAndInsertion) {
  const Input x = filled(Shape{3, 4, 2}), obj{{3, 0, -2}, Shape{3}, "int64"};
  const Attrs axis{{"axis", "1"}};
  expect_op("_npi_delete", {x, obj}, axis);
  expect_op("_npi_delete", {x, {{1, 0, 1, 0}, Shape{4}, "bool"}}, axis);
  expect_op("_npi_delete", {x}, {{"axis", "1"}, {"int_ind", "-1"}});
  expect_op("_npi_delete", {x}, {{"start", "1"}, {"stop", "20"}, {"step", "3"}});
  Input values = filled(Shape{3, 3, 2});
  expect_op("_npi_insert_tensor", {x, values, obj}, axis);
  expect_op("_npi_insert_tensor", {x, {{5, 6}, Shape{2}}, obj}, axis);
  expect_op("_npi_insert_tensor", {x, obj}, {{"axis", "1"}, {"val", "7"}});
  expect_op("_npi_insert_slice", {x, {{5, 6}, Shape{2}}},
            {{"axis", "1"}, {"start", "0"}, {"stop", "4"}, {"step", "2"}});
  expect_op("_npi_insert_scalar", {x, filled(Shape{3, 2})}, {{"axis", "1"}, {"int_ind", "2"}});
  expect_op("_npi_insert_scalar", {x, filled(Shape{5, 3, 2})}, {{"axis", "1"}, {"int_ind", "-1"}});
  expect_op("_npi_insert_scalar", {x}, {{"int_ind", "4"}, {"val", "9"}});
}

TEST(GpuPortable, MembersAreFoundAsOnTheCpu) {
  const double nan = std::nan("");
  const Input values{{3, -0.0, nan, 3, 100}, Shape{5}}, none{{}, Shape{0}};
  const Input x{{0, 1, 3, 2, 5, 100}, Shape{2, 3}}, real{{0, -3, 3, nan}, Shape{4}};
  const Input whole{{3, 0, 7, -3}, Shape{2, 2}, "int64"}, bytes{{0, 3, 5, 7}, Shape{4}, "uint8"};
  for (const char* invert : {"False", "True"}) {
    const Attrs attrs{{"invert", invert}};
    for (const Input& among : {values, none, whole, bytes})
      expect_op("_npi_isin", {x, among}, attrs);
    expect_same_outputs("_npi_isin", {real, values}, attrs);
    expect_same_outputs("_npi_isin", {whole, bytes}, attrs);
    expect_same_outputs("_npi_isin", {bytes, values}, attrs);
  }
}

TEST(GpuPortable, MasksChooseAsOnTheCpu) {
  const Input x = filled(Shape{3, 4, 2}), mask{{1, 0, 0, 2}, Shape{4}};
  const Attrs second{{"start_axis", "1"}};
  Attrs number = second;
  number.emplace_back("value", "5");
  expect_op("_npi_boolean_mask_assign_scalar", {x, mask}, number);
  for (const char* dtype : kTypes) {
    for (const Shape& shape : {Shape{3, 2, 2}, Shape{2}, Shape{2, 1}, Shape{1}}) {
      Input values = filled(shape), data = x;
      values.dtype = data.dtype = dtype;
      expect_same_outputs("_npi_boolean_mask_assign_tensor", {data, mask, values}, second);
    }
  }
  expect_op("_npx_nonzero", {{{0, 3, 0, 1, 2, 0}, Shape{2, 3}}});
}

TEST(GpuPortable, SmallQuestionsAndCopies) {
  expect_op("_CrossDeviceCopy", {filled(Shape{3, 4})});
  expect_op("_contrib_backward_gradientmultiplier", {filled(Shape{3, 4})}, {{"scalar", "3"}});
  NDArray a = filled(Shape{3}).on(kGpu), b = filled(Shape{3}).on(kGpu);
  EXPECT_EQ(values_as_float(call("_npi_share_memory", {&a, &a})), Values{1});
  EXPECT_EQ(values_as_float(call("_npi_share_memory", {&a, &b})), Values{0});
  const Input yes{{1, 1}, Shape{2}, "bool"};
  expect_same_outputs("_npx_constraint_check", {yes});
  NDArray no = Input{{1, 0}, Shape{2}, "bool"}.on(kGpu);
  EXPECT_THROW(values_as_float(call("_npx_constraint_check", {&no})), Error);
}

TEST(GpuPortable, FilledPositionsAreInRange) {
  const Input rows = filled(Shape{3, 4}), values = filled(Shape{3});
  Input at{{3, 0, 1}, Shape{3}};
  for (const char* dtype : kTypes) {
    std::vector<Input> inputs{rows, values, at};
    for (Input& input : inputs) input.dtype = dtype;
    expect_same_outputs("fill_element_0index", inputs);
  }
  at.values[1] = 4;
  NDArray a = rows.on(kGpu), b = values.on(kGpu), c = at.on(kGpu);
  EXPECT_THROW(values_of(call("fill_element_0index", {&a, &b, &c})), Error);
}

}  // namespace
}  // namespace mxnet
