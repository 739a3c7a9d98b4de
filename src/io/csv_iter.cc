// SPDX-License-Identifier: Apache-2.0
// CSVIter: rows of numbers in text files, data and labels line by line.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "io/batch_filler.h"
#include "io/batch_params.h"
#include "io/data_iter.h"
#include "io/iters.h"
#include "io/labelled_lines.h"
#include "io/text_numbers.h"

namespace mxnet::io {
namespace {

constexpr const char* kTag = "CSVIter";

struct CSVParams : BatchParams, PrefetchParams {
  std::string data_csv, label_csv;
  Shape data_shape, label_shape;
};

// One line of `count` numbers.
template <class T>
void parse_row(const TextLines& lines, std::string_view text, int64_t count, T* out) {
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) {
      skip_blanks(&text);
      if (!text.starts_with(','))
        lines.fail(fmt::format("found {} numbers, expected {}", i, count));
      text.remove_prefix(1);
    }
    if (!take_number(&text, &out[i])) lines.fail(fmt::format("number {} cannot be read", i + 1));
  }
  skip_blanks(&text);
  if (!text.empty()) lines.fail(fmt::format("found more than {} numbers", count));
}

template <class T>
class CSVSource final : public BatchSource {
 public:
  explicit CSVSource(const CSVParams& params)
      : params_(params),
        lines_(kTag, params.data_csv, params.label_csv),
        filler_(params.batch_size),
        device_(batch_device(params.ctx)) {}

  void start_epoch(bool after_end) override { filler_.start_epoch(*this, after_end); }

  bool next(Batch* batch) override {
    *batch = Batch();
    batch->data = NDArray(batched(params_.batch_size, params_.data_shape), dtype_of<T>, device_);
    batch->label = NDArray(batched(params_.batch_size, params_.label_shape), dtype_of<T>, device_);
    batch->index.resize(params_.batch_size);
    batch_ = batch;
    const uint32_t count = filler_.fill(*this, params_.round_batch, &batch->pad);
    if (count == 0) return false;
    if (count < params_.batch_size) use_left_over(count);
    keep_left_over();
    // As the reference: one label a sample is a vector.
    if (params_.label_shape == Shape{1})
      batch->label = batch->label.reshape({static_cast<int64_t>(params_.batch_size)});
    return true;
  }

  // For the filler.
  bool next(uint32_t place) {
    const std::optional<LabelledLines::Row> row = lines_.next();
    if (!row) return false;
    const int64_t width = params_.data_shape.size(), label_width = params_.label_shape.size();
    parse_row(lines_.data(), row->data, width, batch_->data.data_as<T>() + place * width);
    T* const label = batch_->label.data_as<T>() + place * label_width;
    if (lines_.has_labels())
      parse_row(lines_.labels(), row->label, label_width, label);
    else
      std::fill_n(label, label_width, T{});
    batch_->index[place] = row->number;
    return true;
  }
  void rewind() { lines_.rewind(); }

 private:
  // What fills a short batch up without wrapping is what the batch before held in its place.
  void keep_left_over() {
    if (params_.round_batch) return;
    const T *data = batch_->data.template data_as<T>(),
            *label = batch_->label.template data_as<T>();
    left_data_.assign(data, data + batch_->data.size());
    left_label_.assign(label, label + batch_->label.size());
    left_index_ = batch_->index;
  }
  void use_left_over(uint32_t count) {
    const int64_t width = params_.data_shape.size(), label_width = params_.label_shape.size();
    left_data_.resize(static_cast<std::size_t>(batch_->data.size()));
    left_label_.resize(static_cast<std::size_t>(batch_->label.size()));
    left_index_.resize(params_.batch_size);
    std::copy(left_data_.begin() + count * width, left_data_.end(),
              batch_->data.template data_as<T>() + count * width);
    std::copy(left_label_.begin() + count * label_width, left_label_.end(),
              batch_->label.template data_as<T>() + count * label_width);
    std::copy(left_index_.begin() + count, left_index_.end(), batch_->index.begin() + count);
    batch_->pad = static_cast<int>(params_.batch_size - count);
  }

  const CSVParams params_;
  LabelledLines lines_;
  BatchFiller filler_;
  const Device device_;
  Batch* batch_ = nullptr;  // that is being filled
  std::vector<T> left_data_, left_label_;
  std::vector<uint64_t> left_index_;
};

std::unique_ptr<BatchSource> make_source(const CSVParams& params) {
  switch (params.dtype) {
    case DType::kUnknown:
    case DType::kFloat32:
      return std::make_unique<CSVSource<float>>(params);
    case DType::kFloat64:
      return std::make_unique<CSVSource<double>>(params);
    case DType::kInt32:
      return std::make_unique<CSVSource<int32_t>>(params);
    case DType::kInt64:
      return std::make_unique<CSVSource<int64_t>>(params);
    default:
      throw Error(ErrorCode::kValue, kTag,
                  fmt::format("given dtype {}, expected float32, float64, int32 or int64",
                              dtype_name(params.dtype)));
  }
}

std::unique_ptr<DataIter> make_csv_iter(const CSVParams& params) {
  for (const Shape& shape : {params.data_shape, params.label_shape}) {
    if (!shape.known() || shape.size() < 1)
      throw Error(ErrorCode::kValue, kTag,
                  "given shape " + to_string(shape) + ", expected dimensions above 0");
  }
  return std::make_unique<DataIter>(make_source(params), params.prefetch_buffer);
}

}  // namespace

void declare_csv_iter(IterDef& def) {
  IterBuilder<CSVParams> iter(def, "CSVIter", "Batches of rows of numbers in a text file.");
  iter.param("data_csv", &CSVParams::data_csv, "The file: one sample a line, numbers and commas.")
      .param("data_shape", &CSVParams::data_shape, "Shape of one sample.")
      .param("label_csv", &CSVParams::label_csv, "NULL",
             "The file with the samples' labels; NULL makes them 0.")
      .param("label_shape", &CSVParams::label_shape, Shape{1}, "Shape of one label.");
  with_prefetch_params(with_batch_params(iter)).created_by<make_csv_iter>();
}

}  // namespace mxnet::io
