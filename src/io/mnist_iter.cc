// SPDX-License-Identifier: Apache-2.0
// MNISTIter: the two files of a set in the idx format, whole in memory.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "io/batch_params.h"
#include "io/data_iter.h"
#include "io/input_file.h"
#include "io/iters.h"
#include "io/shuffle.h"
#include "ndarray/convert_elements.h"

namespace mxnet::io {
namespace {

constexpr const char* kTag = "MNISTIter";

struct MNISTParams : PrefetchParams {
  std::string image, label;
  int32_t batch_size, seed, num_parts, part_index;
  bool shuffle, flat, silent;
};

struct IdxFile {
  std::vector<uint32_t> dims;
  std::vector<uint8_t> values;
};

// Big-endian: two zeros, type 8 (bytes), number of dimensions, the dimensions, the values.
IdxFile read_idx(const std::string& path, uint32_t ndim) {
  const InputFile file(path, kTag);
  std::vector<uint8_t> head(4 * (1 + ndim));
  const auto word = [&head](std::size_t i) {
    const uint8_t* b = head.data() + 4 * i;
    return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | uint32_t{b[3]};
  };
  const uint32_t magic = 0x800 + ndim;
  const std::size_t got = file.read_at(0, head.data(), head.size());
  if (got < head.size() || word(0) != magic) {
    file.fail(0, fmt::format("expected the number {} of an uncompressed idx file of {} dimensions",
                             magic, ndim));
  }
  IdxFile idx;
  uint64_t count = 1;
  const uint64_t room = file.size() - head.size();
  for (uint32_t i = 0; i < ndim; ++i) {
    const uint32_t dim = idx.dims.emplace_back(word(i + 1));
    if (dim != 0 && count > room / dim)  // the product itself may not fit 64 bits
      file.fail(4, fmt::format("the file is cut off: it holds {} bytes after its head", room));
    count *= dim;
  }
  idx.values.resize(count);
  if (file.read_at(head.size(), idx.values.data(), count) < count)
    file.fail(head.size(), "the file has shrunk while it was read");
  return idx;
}

class MNISTSource final : public BatchSource {
 public:
  explicit MNISTSource(const MNISTParams& params)
      : params_(params), device_(batch_device(params.ctx)) {
    const IdxFile images = read_idx(params.image, 3);
    const IdxFile labels = read_idx(params.label, 1);
    if (images.dims[0] != labels.dims[0]) {
      throw Error(ErrorCode::kValue, kTag,
                  fmt::format("given {} images in '{}' and {} labels in '{}'", images.dims[0],
                              params.image, labels.dims[0], params.label));
    }
    height_ = images.dims[1];
    width_ = images.dims[2];
    const uint64_t count = images.dims[0];
    const auto parts = static_cast<uint64_t>(params.num_parts);
    const auto part = static_cast<uint64_t>(params.part_index);
    const uint64_t first = count * part / parts, last = count * (part + 1) / parts;
    const uint64_t pixels = uint64_t{height_} * width_;
    pixels_.assign(images.values.begin() + static_cast<int64_t>(first * pixels),
                   images.values.begin() + static_cast<int64_t>(last * pixels));
    labels_.assign(labels.values.begin() + static_cast<int64_t>(first),
                   labels.values.begin() + static_cast<int64_t>(last));
    order_.resize(last - first);
    std::iota(order_.begin(), order_.end(), uint32_t{0});
    first_ = first;
    if (params.shuffle) {
      std::mt19937 random(static_cast<uint32_t>(params.seed));
      shuffle(order_, random);  // once: every epoch has this order
    }
  }

  void start_epoch(bool) override { at_ = 0; }

  // A last batch that is not full is left out.
  bool next(Batch* batch) override {
    const auto size = static_cast<std::size_t>(params_.batch_size);
    if (order_.size() - at_ < size) return false;
    const DType dtype = params_.dtype == DType::kUnknown ? DType::kFloat32 : params_.dtype;
    const auto n = static_cast<int64_t>(size);
    const int64_t pixels = int64_t{height_} * width_;
    *batch = Batch();
    batch->data =
        NDArray(params_.flat ? Shape{n, pixels} : Shape{n, 1, height_, width_}, dtype, device_);
    batch->label = NDArray(Shape{n}, dtype, device_);
    std::vector<float> data(size * static_cast<std::size_t>(pixels)), label(size);
    for (std::size_t i = 0; i < size; ++i) {
      const uint32_t from = order_[at_ + i];
      const uint8_t* const in = pixels_.data() + from * pixels;
      float* const out = data.data() + static_cast<int64_t>(i) * pixels;
      for (int64_t k = 0; k < pixels; ++k) out[k] = static_cast<float>(in[k]) * (1.0F / 256.0F);
      label[i] = labels_[from];
      batch->index.push_back(first_ + from);
    }
    convert_elements(batch->data.data(), dtype, data.data(), DType::kFloat32, batch->data.size());
    convert_elements(batch->label.data(), dtype, label.data(), DType::kFloat32, n);
    at_ += size;
    return true;
  }

 private:
  const MNISTParams params_;
  const Device device_;
  uint32_t height_ = 0, width_ = 0;
  uint64_t first_ = 0;  // of this part in the file
  std::vector<uint8_t> pixels_, labels_;
  std::vector<uint32_t> order_;
  std::size_t at_ = 0;
};

std::unique_ptr<DataIter> make_mnist_iter(const MNISTParams& params) {
  expect_part(kTag, params.part_index, params.num_parts);
  auto iter =
      std::make_unique<DataIter>(std::make_unique<MNISTSource>(params), params.prefetch_buffer);
  if (!params.silent) {
    log(LogLevel::kInfo, fmt::format("MNISTIter: {}, part {} of {}, shuffle={}", params.image,
                                     params.part_index, params.num_parts, params.shuffle));
  }
  return iter;
}

}  // namespace

void declare_mnist_iter(IterDef& def) {
  IterBuilder<MNISTParams> iter(def, "MNISTIter", "Batches of a set of images in the idx format.");
  iter.param("image", &MNISTParams::image, "./train-images-idx3-ubyte", "The file of images.")
      .param("label", &MNISTParams::label, "./train-labels-idx1-ubyte", "The file of labels.")
      .param("batch_size", &MNISTParams::batch_size, 128, "Samples in a batch.")
      .at_least<int32_t>(1)
      .param("shuffle", &MNISTParams::shuffle, true, "Whether samples come in a random order.")
      .param("flat", &MNISTParams::flat, false, "Whether an image is a vector.")
      .param("seed", &MNISTParams::seed, 0, "Of the random order.")
      .param("silent", &MNISTParams::silent, false, "Whether nothing is logged.")
      .param("num_parts", &MNISTParams::num_parts, 1, "Parts that the samples are divided into.")
      .param("part_index", &MNISTParams::part_index, 0, "Which part is read.");
  with_prefetch_params(iter).created_by<make_mnist_iter>();
}

}  // namespace mxnet::io
