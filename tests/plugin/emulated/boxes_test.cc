// SPDX-License-Identifier: Apache-2.0
// Boxes and anchors on the plug-in's kernels: codes, overlaps and suppression are the CPU's.
#include <gtest/gtest.h>

#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

constexpr double kTolerance = 1e-5;

// As many corners as asked for, around a few centres, so that many overlap.
Values corners(int64_t count) {
  const Values at = random_values(count * 2, 0, 6), size = random_values(count * 2 + 1, 0.5f, 3);
  Values boxes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    for (const float side : {0.0f, 1.0f})
      for (std::size_t k = 0; k < 2; ++k) boxes.push_back(at[2 * i + k] + side * size[2 * i + k]);
  return boxes;
}

void expect_op(const char* op, std::vector<Input> inputs, const Attrs& attrs = {}) {
  for (const char* dtype : {"float32", "float64"}) {
    for (Input& input : inputs) input.dtype = dtype;
    expect_same_outputs(op, inputs, attrs, kTolerance);
  }
}

TEST(GpuBoxes, OverlapsAndCodes) {
  const Input few{corners(6), Shape{2, 3, 4}}, more{corners(5), Shape{5, 4}};
  for (const char* format : {"corner", "center"})
    expect_op("_contrib_box_iou", {few, more}, {{"format", format}});
  const Input anchors{corners(3), Shape{1, 3, 4}};
  const Input offsets{random_values(24, -1, 1), Shape{2, 3, 4}};
  for (const char* format : {"corner", "center"}) {
    expect_op("_contrib_box_decode", {offsets, anchors},
              {{"std0", "0.1"}, {"std2", "0.2"}, {"clip", "0.5"}, {"format", format}});
    expect_op("_contrib_box_decode", {offsets, anchors}, {{"format", format}});
  }
  const Input samples{{1, 0, 1, -1, 1, 1}, Shape{2, 3}}, matches{{0, 0, 1, 5, 1, 0}, Shape{2, 3}};
  const Input means{{0, 0.5f, 0, 0}, Shape{4}}, stds{{0.5f, 1, 0.25f, 2}, Shape{4}};
  expect_op("_contrib_box_encode",
            {samples, matches, few, {corners(4), Shape{2, 2, 4}}, means, stds});
}

TEST(GpuBoxes, PositiveSamplesWithoutABoxHaveNoOffsets) {
  NDArray samples = array_of({1, 1}, Shape{1, 2}, kGpu),
          matches = array_of({0, 7}, Shape{1, 2}, kGpu);
  NDArray anchors = array_of({0, 0, 1, 1, 0, 0, 1, 1}, Shape{1, 2, 4}, kGpu);
  NDArray boxes = array_of({0, 0, 2, 2}, Shape{1, 1, 4}, kGpu);
  NDArray means = array_of({0, 0, 0, 0}, {}, kGpu), stds = array_of({1, 1, 1, 1}, {}, kGpu);
  NDArray* const inputs[] = {&samples, &matches, &anchors, &boxes, &means, &stds};
  const Values offsets = values_of(call_op("_contrib_box_encode", inputs, {})[0]);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_FALSE(std::isnan(offsets[k])) << k;
    EXPECT_TRUE(std::isnan(offsets[4 + k])) << k;
  }
}

TEST(GpuBoxes, PriorsAreTheCpus) {
  const Input map{Values(2 * 3 * 4), Shape{1, 2, 3, 4}};
  const Attrs sizes{{"sizes", "(0.5, 0.25, 0.75)"}, {"ratios", "(1, 2, 0.5)"}};
  expect_op("_contrib_MultiBoxPrior", {map}, sizes);
  Attrs clipped = sizes;
  clipped.insert(clipped.end(), {{"clip", "True"}, {"steps", "(0.3, 0.2)"}, {"offsets", "(0, 1)"}});
  expect_op("_contrib_MultiBoxPrior", {map}, clipped);
}

TEST(GpuBoxes, OfOverlappingBoxesTheBestStays) {
  constexpr int64_t kSets = 2, kCount = 60;
  const Values boxes = corners(kSets * kCount), scores = random_values(kSets * kCount, -0.5f, 1);
  Values rows;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    rows.push_back(static_cast<float>(i % 3));
    rows.push_back(scores[i]);  // in eighths: many are equal
    rows.insert(rows.end(), boxes.begin() + static_cast<std::ptrdiff_t>(4 * i),
                boxes.begin() + static_cast<std::ptrdiff_t>(4 * i + 4));
  }
  const Input data{rows, Shape{kSets, kCount, 6}};
  const Attrs base{{"coord_start", "2"}, {"score_index", "1"}, {"overlap_thresh", "0.3"}};
  for (const Attrs& more :
       {Attrs{}, Attrs{{"id_index", "0"}}, Attrs{{"topk", "7"}},
        Attrs{{"topk", "0"}, {"out_format", "center"}},
        Attrs{{"id_index", "0"}, {"force_suppress", "True"}},
        Attrs{{"id_index", "0"}, {"background_id", "1"}},
        Attrs{{"valid_thresh", "0.5"}, {"out_format", "center"}},
        Attrs{{"in_format", "center"}, {"topk", "1000"}}, Attrs{{"valid_thresh", "5"}}}) {
    Attrs attrs = base;
    attrs.insert(attrs.end(), more.begin(), more.end());
    expect_op("_contrib_box_nms", {data}, attrs);
  }
  Values sources(kSets * kCount, -1);
  for (std::size_t i = 0; i < 10; ++i) sources[i] = static_cast<float>(3 * i);
  for (std::size_t i = 0; i < 5; ++i) sources[kCount + i] = static_cast<float>(50 - i);
  const Values slopes = random_values(kSets * kCount * 6, -1, 1);
  // Boxes in float16 have their rows in float32.
  const char* const types[][2] = {
      {"float16", "float32"}, {"float32", "float32"}, {"float64", "float64"}};
  for (const auto& [dtype, row_dtype] : types) {
    const Input from{sources, Shape{kSets, kCount, 1}, row_dtype};
    const Input dout{slopes, Shape{kSets, kCount, 6}, dtype};
    for (const char* in : {"corner", "center"})
      for (const char* out : {"corner", "center"})
        for (const char* topk : {"-1", "0"})
          expect_same_outputs("_backward_contrib_box_nms", {dout, from},
                              {{"in_format", in}, {"out_format", out}, {"topk", topk}});
  }
}

TEST(GpuBoxes, DetectionsAreTheCpus) {
  constexpr int64_t kImages = 2, kClasses = 4, kCount = 40;
  const Input scores{random_values(kImages * kClasses * kCount, 0, 1),
                     Shape{kImages, kClasses, kCount}};
  const Input offsets{random_values(kImages * kCount * 4, -1, 1), Shape{kImages, kCount * 4}};
  Values boxes = corners(kCount);
  for (float& side : boxes) side /= 9;
  const Input anchors{boxes, Shape{1, kCount, 4}};
  for (const Attrs& attrs :
       {Attrs{}, Attrs{{"threshold", "0.9"}}, Attrs{{"nms_topk", "11"}, {"nms_threshold", "0.3"}},
        Attrs{{"force_suppress", "True"}, {"clip", "False"}}, Attrs{{"background_id", "2"}},
        Attrs{{"background_id", "-1"}, {"nms_threshold", "-1"}}, Attrs{{"threshold", "2"}}})
    expect_op("_contrib_MultiBoxDetection", {scores, offsets, anchors}, attrs);
}

TEST(GpuBoxes, RowsAndColumnsAreMatched) {
  const Input scores{random_values(24, -2, 2), Shape{2, 3, 4}};
  for (const char* ascend : {"False", "True"}) {
    for (const char* topk : {"-1", "1"})
      expect_op("_contrib_bipartite_matching", {scores},
                {{"is_ascend", ascend}, {"threshold", "0.25"}, {"topk", topk}});
  }
}

TEST(GpuBoxes, RegionsAreProposed) {
  const Input scores{random_values(2 * 12 * 20, -1, 1), Shape{2, 12, 4, 5}};
  const Input offsets{random_values(2 * 24 * 20, -0.5f, 0.5f), Shape{2, 24, 4, 5}};
  const Input infos{{60, 70, 1, 64, 80, 1.5f}, Shape{2, 3}};
  for (const char* loss : {"False", "True"}) {
    for (const char* first : {"-1", "40", "41"})
      expect_op("_contrib_MultiProposal", {scores, offsets, infos},
                {{"rpn_pre_nms_top_n", first},
                 {"rpn_post_nms_top_n", "12"},
                 {"rpn_min_size", "5"},
                 {"scales", "(0.5,1)"},
                 {"ratios", "(0.5,1,2)"},
                 {"feature_stride", "16"},
                 {"output_score", "True"},
                 {"iou_loss", loss}});
  }
}

TEST(GpuBoxes, TargetsOfAnchors) {
  const Input anchors{corners(20), Shape{1, 20, 4}};
  // Three samples: of three true boxes, of one, of none.
  const Values truths = corners(9);
  Input labels{{}, Shape{3, 3, 5}};
  for (std::size_t row = 0; row < 9; ++row) {
    const bool exists = row < 4;
    labels.values.push_back(exists ? static_cast<float>(row % 3) : -1);
    labels.values.insert(labels.values.end(), &truths[row * 4], &truths[row * 4] + 4);
  }
  const Input scores{random_values(180, -2, 2), Shape{3, 3, 20}};
  expect_op("_contrib_MultiBoxTarget", {anchors, labels, scores});
  expect_op("_contrib_MultiBoxTarget", {anchors, labels, scores},
            {{"overlap_threshold", "0.25"},
             {"negative_mining_ratio", "2"},
             {"negative_mining_thresh", "0.4"},
             {"minimum_negative_samples", "1"},
             {"ignore_label", "-2"},
             {"variances", "(0.5,0.25,1,2)"}});
}

}  // namespace
}  // namespace mxnet
