// SPDX-License-Identifier: Apache-2.0
// ImageDetRecordIter: images with the boxes of objects in them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "io/data_iter.h"
#include "io/detection_augment.h"
#include "io/image_normalize.h"
#include "io/image_param_list.h"
#include "io/image_record_source.h"
#include "io/iters.h"
#include "io/mean_image.h"

namespace mxnet::io {
namespace {

constexpr const char* kTag = "ImageDetRecordIter";
// Before the numbers of a label in a batch: channels, height, width of the image and their count.
constexpr int64_t kLabelHead = 4;

struct DetParams : ImageFileParams,
                   BatchParams,
                   PrefetchParams,
                   DetectionAugmentParams,
                   ImageNormalizeParams {
  int32_t label_pad_width;
  float label_pad_value;
};

class DetSource final : public ImageRecordSource {
 public:
  explicit DetSource(const DetParams& params)
      : ImageRecordSource(kTag, "det_aug_default", params, params),
        augment_(kTag, params, params.data_shape[1], params.data_shape[2]),
        dtype_(params.dtype == DType::kUnknown ? DType::kFloat32 : params.dtype),
        normalize_(params, params.data_shape, dtype_),
        device_(batch_device(params.ctx)),
        pad_value_(params.label_pad_value) {
    const auto most = static_cast<int64_t>(most_labels());
    label_width_ = params.label_pad_width > 0 ? params.label_pad_width : most;
    if (most > label_width_) {
      throw Error(
          ErrorCode::kValue, kTag,
          fmt::format("given label_pad_width {}, and a record has {} labels", label_width_, most));
    }
  }

 private:
  void make_arrays(Batch* batch) override {
    batch->data = NDArray(batched(batch_size(), file().data_shape), dtype_, device_);
    batch->label = NDArray(Shape{static_cast<int64_t>(batch_size()), kLabelHead + label_width_},
                           DType::kFloat32, device_);
  }

  void fill(const ImageRecord& record, Image image, SampleRandom& random, Batch* batch,
            int64_t place) override {
    if (file().label_width > 0 &&
        record.labels.size() != static_cast<std::size_t>(file().label_width)) {
      throw Error(ErrorCode::kValue, kTag,
                  fmt::format("given label_width {}, and record {} has {} labels",
                              file().label_width, record.id, record.labels.size()));
    }
    DetectionLabel label(record.labels);
    image = augment_(std::move(image), &label, random);
    const auto bytes = static_cast<std::size_t>(file().data_shape.size()) * dtype_size(dtype_);
    auto* const to =
        static_cast<char*>(batch->data.data()) + static_cast<std::size_t>(place) * bytes;
    normalize_(image, random, to);

    const std::vector<float> numbers = label.numbers();
    if (std::cmp_greater(numbers.size(), label_width_)) {  // the file is another one by now
      throw Error(ErrorCode::kValue, kTag,
                  fmt::format("given room for {} labels, and record {} has {}", label_width_,
                              record.id, numbers.size()));
    }
    float* out = batch->label.data_as<float>() + place * (kLabelHead + label_width_);
    *out++ = static_cast<float>(image.channels);
    *out++ = static_cast<float>(image.height);
    *out++ = static_cast<float>(image.width);
    *out++ = static_cast<float>(numbers.size());
    out = std::copy(numbers.begin(), numbers.end(), out);
    std::fill_n(out, label_width_ - static_cast<int64_t>(numbers.size()), pad_value_);
  }

  const DetectionAugmenter augment_;
  const DType dtype_;
  const ImageNormalizer normalize_;
  const Device device_;
  const float pad_value_;
  int64_t label_width_ = 0;
};

std::unique_ptr<DataIter> make_det_iter(const DetParams& params) {
  if (const auto plain = params_for_mean_image(params)) {
    DetSource images(*plain);
    write_mean_image(params.mean_img, params.data_shape, images);
  }
  return std::make_unique<DataIter>(std::make_unique<DetSource>(params), params.prefetch_buffer);
}

void with_file_params(IterBuilder<DetParams>& iter) {
  using F = ImageFileParams;
  iter.param("path_imglist", &F::path_imglist, "",
             "A list file whose labels replace those of the records with its numbers.")
      .param("path_imgrec", &F::path_imgrec, "./data/imgrec.rec", "The RecordIO file.")
      .param("aug_seq", &F::aug_seq, "det_aug_default", "The sequence of augmentations.")
      .param("label_width", &F::label_width, -1, "Numbers of a label; -1 as the records have.")
      .param("data_shape", &F::data_shape, "(channels, height, width) of an image in a batch.")
      .param("preprocess_threads", &F::preprocess_threads, 4, "Threads that decode.")
      .param("verbose", &F::verbose, true, "Whether what is read is logged.")
      .param("num_parts", &F::num_parts, 1, "Parts that the file is divided into.")
      .param("part_index", &F::part_index, 0, "Which part is read.")
      .param("shuffle_chunk_size", &F::shuffle_chunk_size, 0,
             "MiB of the runs of records that change places; 0 for none.")
      .param("shuffle_chunk_seed", &F::shuffle_chunk_seed, 0, "Of the order of these runs.")
      .param("label_pad_width", &DetParams::label_pad_width, 0,
             "Numbers of a label in a batch; 0 as the largest label has.")
      .param("label_pad_value", &DetParams::label_pad_value, -1, "What fills labels up.")
      .param("shuffle", &F::shuffle, false, "Whether records come in a random order.")
      .param("seed", &F::seed, 0, "Of the random order and the augmentations.")
      .again("verbose");
}

void with_crop_params(IterBuilder<DetParams>& iter) {
  using A = DetectionAugmentParams;
  const std::vector<float> zero{0}, one{1};
  iter.param("resize", &A::resize, -1, "Length of the shorter side, before anything else.")
      .param("rand_crop_prob", &A::rand_crop_prob, 0, "How often a part is cut out.")
      .param("min_crop_scales", &A::min_crop_scales, zero, "Smallest side of a part, relative.")
      .param("max_crop_scales", &A::max_crop_scales, one, "Largest side of a part, relative.")
      .param("min_crop_aspect_ratios", &A::min_crop_aspect_ratios, one, "Smallest aspect ratio.")
      .param("max_crop_aspect_ratios", &A::max_crop_aspect_ratios, one, "Largest aspect ratio.")
      .param("min_crop_overlaps", &A::min_crop_overlaps, zero,
             "Smallest intersection over union with an object.")
      .param("max_crop_overlaps", &A::max_crop_overlaps, one, "Largest of these.")
      .param("min_crop_sample_coverages", &A::min_crop_sample_coverages, zero,
             "Smallest share of the part that an object covers.")
      .param("max_crop_sample_coverages", &A::max_crop_sample_coverages, one, "Largest of these.")
      .param("min_crop_object_coverages", &A::min_crop_object_coverages, zero,
             "Smallest share of an object that the part covers.")
      .param("max_crop_object_coverages", &A::max_crop_object_coverages, one, "Largest of these.")
      .param("num_crop_sampler", &A::num_crop_sampler, 1, "Kinds of parts: values in the lists.")
      .choice("crop_emit_mode", &A::crop_emit_mode,
              Choices<CropEmitMode>{{"center", CropEmitMode::kCenter},
                                    {"overlap", CropEmitMode::kOverlap}},
              "Which objects stay: whose centre is in the part, or enough of them.")
      .param("emit_overlap_thresh", &A::emit_overlap_thresh, 0.3F, "How much is enough.")
      .param("max_crop_trials", &A::max_crop_trials, Shape{25}, "Attempts to find a part.");
}

void with_other_params(IterBuilder<DetParams>& iter) {
  using A = DetectionAugmentParams;
  iter.param("rand_pad_prob", &A::rand_pad_prob, 0, "How often a border is added.")
      .param("max_pad_scale", &A::max_pad_scale, 1, "Largest factor of the size with it.")
      .param("max_random_hue", &A::max_random_hue, 0, "Largest change of hue, of 180.")
      .param("random_hue_prob", &A::random_hue_prob, 0, "How often hue changes.")
      .param("max_random_saturation", &A::max_random_saturation, 0, "Largest change, of 255.")
      .param("random_saturation_prob", &A::random_saturation_prob, 0, "How often it changes.")
      .param("max_random_illumination", &A::max_random_illumination, 0, "Largest change, of 255.")
      .param("random_illumination_prob", &A::random_illumination_prob, 0, "How often it changes.")
      .param("max_random_contrast", &A::max_random_contrast, 0, "Largest relative change.")
      .param("random_contrast_prob", &A::random_contrast_prob, 0, "How often contrast changes.")
      .param("rand_mirror_prob", &A::rand_mirror_prob, 0, "How often an image is mirrored.")
      .param("fill_value", &A::fill_value, 127, "Of borders.")
      .param("inter_method", &A::inter_method, 1,
             "0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos, 9 what suits, 10 at random.")
      .again("data_shape")
      .choice("resize_mode", &A::resize_mode,
              Choices<ResizeMode>{{"force", ResizeMode::kForce},
                                  {"fit", ResizeMode::kFit},
                                  {"shrink", ResizeMode::kShrink}},
              "To the size at any cost, or as a whole with a border, perhaps never enlarged.");
}

// A divisor of 0 is the default here, and means none.
void with_normalize_params(IterBuilder<DetParams>& iter) {
  using N = ImageNormalizeParams;
  with_mean_params(iter.again("seed"))
      .param("std_r", &N::std_r, 0, "Divides red, or grey; 0 for no division.")
      .param("std_g", &N::std_g, 0, "Divides green.")
      .param("std_b", &N::std_b, 0, "Divides blue.")
      .param("std_a", &N::std_a, 0, "Divides a fourth channel.")
      .param("scale", &N::scale, 1, "Multiplies all.")
      .again("verbose");
}

}  // namespace

void declare_image_det_record_iter(IterDef& def) {
  IterBuilder<DetParams> iter(def, "ImageDetRecordIter",
                              "Batches of images in RecordIO files with the boxes of objects.");
  with_file_params(iter);
  with_prefetch_params(with_batch_params(iter));
  with_crop_params(iter);
  with_other_params(iter);
  with_normalize_params(iter);
  iter.created_by<make_det_iter>();
}

}  // namespace mxnet::io
