// SPDX-License-Identifier: Apache-2.0
// Operators of vision on the plug-in's kernels: regions, sampling grids, images in other sizes,
// neighbours. Numbers are those of the CPU.
#include <gtest/gtest.h>

#include "tests/plugin/emulated/both_devices.h"
#include "tests/setting.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

constexpr double kTolerance = 1e-5;
const char* const kTypes[] = {"float32", "float64", "float16"};

double tolerance_of(const char* dtype) {
  return std::string_view(dtype) == "float16" ? 2e-2 : kTolerance;
}

// Outputs, and gradients by `backward`, which is given a gradient of each visible output first.
void expect_op(const char* op, std::vector<Input> inputs, const Attrs& attrs = {}) {
  for (const char* dtype : kTypes) {
    for (Input& input : inputs) input.dtype = dtype;
    expect_same_outputs(op, inputs, attrs, tolerance_of(dtype));
  }
}

Input filled(const Shape& shape, float low = -2, float high = 2) {
  return {random_values(shape.size(), low, high), shape};
}

// Each test once more with sums that repeat.
class GpuVision : public ::testing::TestWithParam<const char*> {
 protected:
  const Setting repeat_{"MXNET_ENFORCE_DETERMINISM", GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Sums, GpuVision, ::testing::Values("0", "1"), [](const auto& order) {
  return std::string(order.param[0] == '1' ? "InOrder" : "InAnyOrder");
});

TEST_P(GpuVision, RegionsArePooledByPosition) {
  const Input data = filled(Shape{2, 8, 9, 7});
  const Input rois{{0, 0, 0, 12, 15, 1, 3, 2, 9, 9, 1, 1, 1, 6, 8}, Shape{3, 5}};
  const Input dout = filled(Shape{3, 2, 2, 2}), trans = filled(Shape{3, 4, 2, 2}, -1, 1);
  const Attrs plain{{"spatial_scale", "0.5"}, {"output_dim", "2"}, {"pooled_size", "2"}};
  expect_op("_contrib_PSROIPooling", {data, rois}, plain);
  expect_op("_backward__contrib_PSROIPooling", {dout, rois, data}, plain);
  Attrs deformable = plain;
  for (const auto& [name, value] : Attrs{{"group_size", "2"}, {"sample_per_part", "3"}})
    deformable.emplace_back(name, value);
  Attrs still = deformable;
  still.emplace_back("no_trans", "True");
  deformable.emplace_back("trans_std", "0.25");
  expect_op("_contrib_DeformablePSROIPooling", {data, rois, trans}, deformable);
  expect_op("_contrib_DeformablePSROIPooling", {data, rois}, still);
  expect_op("_backward__contrib_DeformablePSROIPooling", {dout, data, rois, trans}, deformable);
  expect_op("_backward__contrib_DeformablePSROIPooling", {dout, data, rois}, still);
}

TEST_P(GpuVision, DeformableConvolutionsAreTheCpus) {
  const Input data = filled(Shape{2, 4, 6, 5}), offset = filled(Shape{2, 24, 3, 3}, -1, 1);
  const Input mask = filled(Shape{2, 12, 3, 3}, 0, 1), weight = filled(Shape{6, 2, 3, 2});
  const Input bias = filled(Shape{6}), dout = filled(Shape{2, 6, 3, 3});
  const Attrs attrs{{"kernel", "(3,2)"}, {"stride", "(2,2)"}, {"pad", "(1,1)"},
                    {"num_filter", "6"}, {"num_group", "2"},  {"num_deformable_group", "2"}};
  Attrs unbiased = attrs;
  unbiased.emplace_back("no_bias", "True");
  expect_op("_contrib_DeformableConvolution", {data, offset, weight, bias}, attrs);
  const char* const plain = "_backward__contrib_DeformableConvolution";
  expect_op(plain, {dout, data, offset, weight, bias}, attrs);
  expect_op(plain, {dout, data, offset, weight}, unbiased);
  const char* const modulated = "_contrib_ModulatedDeformableConvolution";
  expect_op(modulated, {data, offset, mask, weight, bias}, attrs);
  expect_op(modulated, {data, offset, mask, weight}, unbiased);
  expect_op("_backward__contrib_ModulatedDeformableConvolution",
            {dout, data, offset, mask, weight, bias}, attrs);
}

TEST_P(GpuVision, RegionsArePooled) {
  const Input data = filled(Shape{2, 4, 9, 7});
  const Input rois{{0, 0, 0, 12, 15, 1, 3, 2, 9, 9, 1, 5, 5, 5, 5}, Shape{3, 5}};
  const Attrs pooling{{"pooled_size", "(2,2)"}, {"spatial_scale", "0.5"}};
  expect_op("ROIPooling", {data, rois}, pooling);
  for (const char* ratio : {"-1", "2"}) {
    for (const char* aligned : {"False", "True"}) {
      for (const char* sensitive : {"False", "True"}) {
        const Attrs align{{"pooled_size", "(2,2)"},
                          {"spatial_scale", "0.5"},
                          {"sample_ratio", ratio},
                          {"aligned", aligned},
                          {"position_sensitive", sensitive}};
        const int64_t channels = *sensitive == 'T' ? 1 : 4;
        expect_op("_contrib_ROIAlign", {data, rois}, align);
        expect_op("_backward_ROIAlign", {filled(Shape{3, channels, 2, 2}), rois, data}, align);
      }
    }
  }
  const Input turned{{0, 6, 8, 8, 4, 30, 1, 5, 5, 6, 10, -75, -1, 5, 5, 6, 10, 0}, Shape{3, 6}};
  expect_op("_contrib_RROIAlign", {data, turned}, pooling);
}

TEST_P(GpuVision, MaximaOfRegionsGetTheirGradients) {
  const Input dout = filled(Shape{3, 2, 2, 2}), data = filled(Shape{2, 2, 5, 5});
  Values places = random_values(24, 0, 49);
  for (float& place : places) place = std::floor(place);
  places[3] = -1;
  // Channel c of image n holds places [(2 n + c) 25, ...).
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    const auto channel = static_cast<float>(i / 4 % 2);
    places[i] = places[i] < 25 ? places[i] + 25 * channel : 25 + 25 * channel + places[i];
  }
  for (const char* dtype : kTypes) {
    Input of_type = dout, of_data = data;
    of_type.dtype = of_data.dtype = dtype;
    expect_same_outputs("_backward_ROIPooling",
                        {of_type, {places, Shape{3, 2, 2, 2}, "int64"}, of_data}, {},
                        tolerance_of(dtype));
  }
}

TEST(GpuVisionErrors, RegionsOfImagesThatDoNotExistAreNotNumbers) {
  NDArray data = array_of(random_values(16, 0, 1), Shape{1, 1, 4, 4}, kGpu);
  NDArray rois = array_of({0, 0, 0, 3, 3, 1, 0, 0, 3, 3}, Shape{2, 5}, kGpu);
  const Attrs attrs{{"pooled_size", "(1,1)"}, {"spatial_scale", "1"}};
  for (const char* op : {"ROIPooling", "_contrib_ROIAlign"}) {
    const Values pooled = values_of(call(op, {&data, &rois}, attrs));
    EXPECT_FALSE(std::isnan(pooled[0])) << op;
    EXPECT_TRUE(std::isnan(pooled[1])) << op;
  }
}

// The CPU refuses it; a kernel would be at it for days.
TEST(GpuVisionErrors, RegionsOfTooManySamplesAreNotNumbers) {
  const Attrs attrs{{"pooled_size", "(2,2)"}, {"spatial_scale", "1"}};
  const Values corners{0, 0, 0, 3, 3, 0, 0, 0, 3e9f, 3e9f, 0, -2e9f, 0, 2e9f, 1e9f};
  NDArray data = array_of(random_values(16, 0, 1), Shape{1, 1, 4, 4}, kGpu);
  NDArray rois = array_of(corners, Shape{3, 5}, kGpu);
  const Values pooled = values_of(call("_contrib_ROIAlign", {&data, &rois}, attrs));
  for (std::size_t i = 0; i < pooled.size(); ++i) EXPECT_EQ(std::isnan(pooled[i]), i >= 4) << i;
  // Of the first region alone there is a gradient, which is then the CPU's of that region.
  NDArray dout = array_of(Values(12, 1), Shape{3, 1, 2, 2}, kGpu);
  NDArray one = array_of({0, 0, 0, 3, 3}, Shape{1, 5}),
          alone = array_of(Values(4, 1), Shape{1, 1, 2, 2});
  NDArray image = array_of(Values(16, 0), Shape{1, 1, 4, 4});
  EXPECT_EQ(values_of(call("_backward_ROIAlign", {&dout, &rois, &data}, attrs)),
            values_of(call("_backward_ROIAlign", {&alone, &one, &image}, attrs)));
  NDArray host_data = array_of(Values(16, 0), Shape{1, 1, 4, 4});
  NDArray host_rois = array_of(corners, Shape{3, 5});
  const std::string error = error_of([&] {
    values_of(call("_contrib_ROIAlign", {&host_data, &host_rois}, attrs));
  });
  EXPECT_TRUE(contains(error, "samples, expected at most")) << error;
}

TEST_P(GpuVision, GridsAndSamples) {
  const Attrs affine{{"transform_type", "affine"}, {"target_shape", "(5,4)"}};
  const Attrs warp{{"transform_type", "warp"}};
  const Input theta = filled(Shape{2, 6}, -1, 1), flow = filled(Shape{2, 2, 5, 4});
  const Input data = filled(Shape{2, 3, 6, 7}), grid = filled(Shape{2, 2, 5, 4}, -1, 1);
  const Input dout = filled(Shape{2, 3, 5, 4});
  expect_op("GridGenerator", {theta}, affine);
  expect_op("_backward_GridGenerator", {flow}, affine);
  expect_op("GridGenerator", {flow}, warp);
  expect_op("_backward_GridGenerator", {flow}, warp);
  expect_op("BilinearSampler", {data, grid});
  expect_op("_backward_BilinearSampler", {dout, data, grid});
  Attrs transform = affine;
  transform.emplace_back("sampler_type", "bilinear");
  // Halves round places of samples, and slopes of neighbouring pixels differ: float and double.
  for (const char* dtype : {"float32", "float64"}) {
    std::vector<Input> forward{data, theta}, backward{dout, data, theta};
    for (auto* inputs : {&forward, &backward})
      for (Input& input : *inputs) input.dtype = dtype;
    expect_same_outputs("SpatialTransformer", forward, transform, kTolerance);
    expect_same_outputs("_backward_SpatialTransformer", backward, transform, 1e-4);
  }
}

TEST_P(GpuVision, ImagesInOtherSizes) {
  const Input data = filled(Shape{2, 3, 4, 5}), small = filled(Shape{2, 3, 2, 5 * 1});
  const Attrs nearest{{"scale", "3"}, {"sample_type", "nearest"}, {"num_args", "1"}};
  expect_op("UpSampling", {data}, nearest);
  expect_op("_backward_UpSampling", {filled(Shape{2, 3, 12, 15}), data}, nearest);
  for (const char* mode : {"concat", "sum"}) {
    const Attrs two{
        {"scale", "4"}, {"sample_type", "nearest"}, {"num_args", "2"}, {"multi_input_mode", mode}};
    const Input half = filled(Shape{2, 3, 4, 6}), quarter = filled(Shape{2, 3, 2, 3});
    const Attrs by_two{
        {"scale", "2"}, {"sample_type", "nearest"}, {"num_args", "2"}, {"multi_input_mode", mode}};
    const int64_t channels = *mode == 'c' ? 6 : 3;
    expect_op("UpSampling", {half, quarter}, by_two);
    expect_op("_backward_UpSampling", {filled(Shape{2, channels, 8, 12}), half, quarter}, by_two);
  }
  for (const char* scale : {"2", "3"}) {
    const int64_t s = *scale - '0', kernel = 2 * s - s % 2;
    const Attrs learnt{
        {"scale", scale}, {"sample_type", "bilinear"}, {"num_filter", "3"}, {"num_args", "2"}};
    const Input weight = filled(Shape{3, 1, kernel, kernel});
    expect_op("UpSampling", {data, weight}, learnt);
    expect_op("_backward_UpSampling", {filled(Shape{2, 3, 4 * s, 5 * s}), data, weight}, learnt);
  }
  for (const char* corners : {"True", "False"}) {
    for (const auto& [height, width] : {std::pair("7", "3"), std::pair("1", "9")}) {
      const Attrs resize{{"height", height}, {"width", width}, {"align_corners", corners}};
      expect_op("_contrib_BilinearResize2D", {data}, resize);
      expect_op("_backward_contrib_BilinearResize2D",
                {filled(Shape{2, 3, *height - '0', *width - '0'}), data}, resize);
    }
    const Attrs like{{"mode", "like"}, {"align_corners", corners}};
    expect_op("_contrib_BilinearResize2D", {data, small}, like);
    expect_op("_backward_contrib_BilinearResize2D", {small, data, small}, like);
  }
  for (const auto& [height, width] : {std::pair(3, 2), std::pair(7, 9), std::pair(1, 1)}) {
    const Attrs adaptive{
        {"output_size", "(" + std::to_string(height) + "," + std::to_string(width) + ")"}};
    expect_op("_contrib_AdaptiveAvgPooling2D", {data}, adaptive);
    expect_op("_backward_contrib_AdaptiveAvgPooling2D", {filled(Shape{2, 3, height, width}), data},
              adaptive);
  }
}

TEST_P(GpuVision, SumsOverNeighboursAreTheCpus) {
  const Input a = filled(Shape{2, 3, 7, 8}), b = filled(Shape{2, 3, 7, 8}, -1, 1);
  for (const char* multiply : {"True", "False"}) {
    const Attrs attrs{{"kernel_size", "3"}, {"max_displacement", "2"}, {"stride1", "2"},
                      {"stride2", "1"},     {"pad_size", "2"},         {"is_multiply", multiply}};
    expect_op("Correlation", {a, b}, attrs);
    expect_op("_backward_Correlation", {filled(Shape{2, 25, 3, 3}), a, b}, attrs);
  }
  for (const char* size : {"1", "4", "5", "9"}) {
    const Attrs attrs{{"nsize", size}, {"alpha", "0.01"}};
    expect_op("LRN", {filled(Shape{2, 6, 3, 5})}, attrs);
    expect_op(
        "_backward_LRN",
        {filled(Shape{2, 6, 3, 5}), filled(Shape{2, 6, 3, 5}), filled(Shape{2, 6, 3, 5}, 1, 3)},
        attrs);
  }
}

TEST(GpuColours, ChangeAsOnTheCpu) {
  for (const int64_t channels : {1, 3}) {
    Input images{random_values(2 * 4 * 5 * channels, 0, 255), Shape{2, 4, 5, channels}};
    for (const char* dtype : {"uint8", "float32", "float64", "int32"}) {
      images.dtype = dtype;
      const double tolerance = std::string_view(dtype) == "float32" ? 1e-4 : 0;
      // Nothing is left to chance.
      for (const char* op : {"_image_random_brightness", "_image_random_contrast",
                             "_image_random_saturation", "_image_random_hue"})
        expect_same_outputs(op, {images}, {{"min_factor", "0.75"}, {"max_factor", "0.75"}},
                            tolerance);
      expect_same_outputs("_image_random_lighting", {images}, {{"alpha_std", "0"}}, tolerance);
      expect_same_outputs(
          "_image_random_color_jitter", {images},
          {{"brightness", "0"}, {"contrast", "0"}, {"saturation", "0"}, {"hue", "0"}}, tolerance);
      expect_same_outputs("_image_adjust_lighting", {images}, {{"alpha", "(0.1,-0.2,0.3)"}},
                          tolerance);
    }
  }
}

TEST(GpuColours, AreDrawnByTheSeedOfTheDevice) {
  NDArray white = array_of(Values(48, 1), Shape{4, 4, 3}, kGpu);
  const auto drawn = [&](const char* op, const Attrs& attrs) {
    return values_of(call(op, {&white}, attrs))[0];
  };
  const Attrs factors{{"min_factor", "2"}, {"max_factor", "3"}};
  const float first = drawn("_image_random_brightness", factors);
  EXPECT_GE(first, 2);
  EXPECT_LT(first, 3);
  EXPECT_NE(drawn("_image_random_brightness", factors), first);
  EXPECT_NE(drawn("_image_random_lighting", {{"alpha_std", "0.5"}}), 1);
  EXPECT_NE(
      drawn("_image_random_color_jitter",
            {{"brightness", "0.5"}, {"contrast", "0.5"}, {"saturation", "0.5"}, {"hue", "0.1"}}),
      1);
}

// Images in other sizes are the CPU's to the bit, in all ways and types.
TEST(GpuImages, InAnotherSize) {
  for (const char* dtype : {"uint8", "int8", "int32", "int64", "float32", "float64", "float16"}) {
    const bool is_signed = std::string_view(dtype) != "uint8";
    for (const int64_t channels : {1, 2, 3, 5}) {
      Input image = filled(Shape{12, 8, channels}, is_signed ? -16 : 0, is_signed ? 15 : 250);
      image.dtype = dtype;
      for (const char* interp : {"0", "1", "2", "3", "4"}) {
        for (const char* size : {"(4, 6)", "(8, 12)", "(11, 17)", "(3, 20)", "(5, 5)"})
          expect_same_outputs("_image_resize", {image}, {{"size", size}, {"interp", interp}});
      }
    }
  }
  const Input batch{random_values(2 * 6 * 9 * 3, 0, 31), Shape{2, 6, 9, 3}, "uint8"};
  expect_same_outputs("_image_resize", {batch}, {{"size", "4"}, {"keep_ratio", "True"}});
  expect_same_outputs("_image_resize", {Input{{}, Shape{0, 6, 9, 3}}}, {{"size", "4"}});
  const Input one{random_values(6 * 9 * 3, 0, 31), Shape{6, 9, 3}, "uint8"};
  expect_same_outputs("_cvimresize", {one}, {{"w", "5"}, {"h", "7"}, {"interp", "1"}});
  // An infinity that weighs nothing is not seen.
  Input infinite = filled(Shape{4, 4, 1});
  infinite.values[5] = INFINITY;
  for (const char* interp : {"0", "1", "2", "3", "4"})
    expect_same_outputs("_image_resize", {infinite}, {{"size", "(4, 4)"}, {"interp", interp}});
}

TEST(GpuImages, GetTheBordersOfTheCpu) {
  for (const char* dtype : {"uint8", "int32", "float32", "float16", "float64"}) {
    const Input image{random_values(3 * 4 * 2, 0, 30), Shape{3, 4, 2}, dtype};
    for (const char* type : {"0", "1", "2", "3", "4"}) {
      Attrs attrs{{"top", "4"}, {"bot", "1"}, {"left", "7"}, {"right", "2"}, {"type", type}};
      expect_same_outputs("_cvcopyMakeBorder", {image}, attrs);
      attrs.emplace_back("value", "300.5");
      expect_same_outputs("_cvcopyMakeBorder", {image}, attrs);
      attrs.emplace_back("values", "(1.5, -2)");
      expect_same_outputs("_cvcopyMakeBorder", {image}, attrs);
    }
  }
  const Attrs around{{"top", "1"}, {"bot", "1"}, {"left", "1"}, {"right", "1"}, {"value", "3"}};
  expect_same_outputs("_cvcopyMakeBorder", {Input{{}, Shape{0, 2, 3}}}, around);
  // More channels with a constant each than a kernel takes by value: on the host.
  Attrs many = around;
  many.emplace_back("values", "(1, 2, 3, 4, 5, 6, 7, 8, 9)");
  expect_same_outputs("_cvcopyMakeBorder", {filled(Shape{2, 2, 9})}, many);
}

}  // namespace
}  // namespace mxnet
