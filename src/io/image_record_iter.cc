// SPDX-License-Identifier: Apache-2.0
// ImageRecordIter and its variants: images in RecordIO files, augmented, as (batch, channels,
// height, width).
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "io/data_iter.h"
#include "io/image_augment.h"
#include "io/image_normalize.h"
#include "io/image_param_list.h"
#include "io/image_record_source.h"
#include "io/iters.h"
#include "io/mean_image.h"

namespace mxnet::io {
namespace {

struct ImageRecordParams : ImageFileParams,
                           BatchParams,
                           PrefetchParams,
                           ImageAugmentParams,
                           ImageNormalizeParams {};

class ImageSource final : public ImageRecordSource {
 public:
  ImageSource(const char* tag, const ImageRecordParams& params, DType dtype)
      : ImageRecordSource(tag, "aug_default", params, params),
        augment_(tag, params, params.data_shape[1], params.data_shape[2]),
        normalize_(params, params.data_shape, dtype),
        mirror_(params.mirror),
        rand_mirror_(params.rand_mirror),
        dtype_(dtype),
        device_(batch_device(params.ctx, params.device_id)) {
    if (params.label_width < 1) {
      throw Error(ErrorCode::kValue, tag,
                  fmt::format("given label_width {}, expected at least 1", params.label_width));
    }
  }

 private:
  void make_arrays(Batch* batch) override {
    const auto size = static_cast<int64_t>(batch_size());
    const int64_t labels = file().label_width;
    batch->data = NDArray(batched(batch_size(), file().data_shape), dtype_, device_);
    batch->label =
        NDArray(labels == 1 ? Shape{size} : Shape{size, labels}, DType::kFloat32, device_);
  }

  void fill(const ImageRecord& record, Image image, SampleRandom& random, Batch* batch,
            int64_t place) override {
    const auto labels = static_cast<std::size_t>(file().label_width);
    if (record.labels.size() != labels) {
      throw Error(ErrorCode::kValue, tag(),
                  fmt::format("given label_width {}, and record {} has {} labels", labels,
                              record.id, record.labels.size()));
    }
    std::copy(record.labels.begin(), record.labels.end(),
              batch->label.data_as<float>() + place * file().label_width);
    image = augment_(std::move(image), random);
    if (mirror_ || (rand_mirror_ && random.coin(0.5))) mirror(&image);
    const auto bytes = static_cast<std::size_t>(file().data_shape.size()) * dtype_size(dtype_);
    auto* const to =
        static_cast<char*>(batch->data.data()) + static_cast<std::size_t>(place) * bytes;
    normalize_(image, random, to);
  }

  const ImageAugmenter augment_;
  const ImageNormalizer normalize_;
  const bool mirror_, rand_mirror_;
  const DType dtype_;
  const Device device_;
};

void check_deviations(const char* tag, const ImageRecordParams& params) {
  for (const float deviation : {params.std_r, params.std_g, params.std_b, params.std_a}) {
    if (deviation == 0)
      throw Error(ErrorCode::kValue, tag, "given a std of 0, expected another number");
  }
}

std::unique_ptr<DataIter> make_iter(const char* tag, const ImageRecordParams& params, DType dtype) {
  return std::make_unique<DataIter>(std::make_unique<ImageSource>(tag, params, dtype),
                                    params.prefetch_buffer);
}

std::unique_ptr<DataIter> make_float(const ImageRecordParams& params) {
  const char* const tag = "ImageRecordIter";
  check_deviations(tag, params);  // before an epoch is read
  if (const auto plain = params_for_mean_image(params)) {
    ImageSource images(tag, *plain, plain->dtype);
    write_mean_image(params.mean_img, params.data_shape, images);
  }
  return make_iter(tag, params, params.dtype == DType::kUnknown ? DType::kFloat32 : params.dtype);
}

template <DType kOwn>
std::unique_ptr<DataIter> make_bytes(const ImageRecordParams& params) {
  const char* const tag = kOwn == DType::kUInt8 ? "ImageRecordUInt8Iter" : "ImageRecordInt8Iter";
  if (params.dtype != DType::kUnknown && params.dtype != kOwn) {
    throw Error(
        ErrorCode::kValue, tag,
        fmt::format("given dtype {}, expected {}", dtype_name(params.dtype), dtype_name(kOwn)));
  }
  return make_iter(tag, params, kOwn);
}

// What iterators of bytes take although the description of 1.9.1 does not name it.
void with_unlisted_mirrors(IterBuilder<ImageRecordParams>& iter) {
  using N = ImageNormalizeParams;
  iter.param("mirror", &N::mirror, false, kMirrorDoc).unlisted();
  iter.param("rand_mirror", &N::rand_mirror, false, kRandMirrorDoc).unlisted();
}

void declare_common(IterBuilder<ImageRecordParams>& iter) {
  with_image_file_params(iter);
  with_prefetch_params(with_batch_params(iter));
  with_image_augment_params(iter);
}

}  // namespace

void declare_image_record_iter(IterDef& def) {
  IterBuilder<ImageRecordParams> iter(
      def, "ImageRecordIter", "Batches of images in RecordIO files, augmented and normalized.");
  declare_common(iter);
  with_image_normalize_params(iter);
  iter.created_by<make_float>();
}

void declare_image_record_iter_v1(IterDef& def) {
  declare_image_record_iter(def);
  def.name = "ImageRecordIter_v1";
}

void declare_image_record_uint8_iter(IterDef& def) {
  IterBuilder<ImageRecordParams> iter(def, "ImageRecordUInt8Iter",
                                      "Batches of images in RecordIO files, as uint8.");
  declare_common(iter);
  with_unlisted_mirrors(iter);
  iter.created_by<make_bytes<DType::kUInt8>>();
}

void declare_image_record_uint8_iter_v1(IterDef& def) {
  declare_image_record_uint8_iter(def);
  def.name = "ImageRecordUInt8Iter_v1";
}

void declare_image_record_int8_iter(IterDef& def) {
  IterBuilder<ImageRecordParams> iter(def, "ImageRecordInt8Iter",
                                      "Batches of images in RecordIO files, as int8.");
  declare_common(iter);
  with_unlisted_mirrors(iter);
  using N = ImageNormalizeParams;
  iter.param("mean_r", &N::mean_r, 0, kMeanRedDoc).unlisted();
  iter.param("mean_g", &N::mean_g, 0, kMeanGreenDoc).unlisted();
  iter.param("mean_b", &N::mean_b, 0, kMeanBlueDoc).unlisted();
  iter.created_by<make_bytes<DType::kInt8>>();
}

}  // namespace mxnet::io
