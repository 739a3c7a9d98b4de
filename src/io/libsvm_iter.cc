// SPDX-License-Identifier: Apache-2.0
// LibSVMIter: samples with few non-zero features, "label index:value index:value ... # comment". A
// weight behind the label and the number of a query, as in ranking, are passed over.
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
#include "ndarray/sparse_store.h"

namespace mxnet::io {
namespace {

constexpr const char* kTag = "LibSVMIter";
constexpr char kComment = '#';

struct LibSVMParams : BatchParams, PrefetchParams {
  std::string data_libsvm, label_libsvm;
  Shape data_shape, label_shape;
  int32_t num_parts, part_index;
};

constexpr std::string_view kQuery = "qid:";

// The number behind a colon. REQUIRES: text begins with it.
float take_value(const TextLines& lines, std::string_view* text, const char* expected) {
  float value = 0;
  text->remove_prefix(1);
  if (!take_number(text, &value)) lines.fail(fmt::format("expected {}", expected));
  return value;
}

// Rows in the csr layout, as they come.
struct SparseRows {
  std::vector<float> values;
  std::vector<int64_t> columns, ends{0};

  void clear() {
    values.clear();
    columns.clear();
    ends.assign(1, 0);
  }
  // Appends one line's features; the number in front of them is the result.
  float add(const TextLines& lines, std::string_view text, int64_t width) {
    float label = 0;
    if (!take_number(&text, &label)) lines.fail("the label cannot be read");
    if (text.starts_with(':')) take_value(lines, &text, "a weight after label:");
    skip_blanks(&text);
    if (text.starts_with(kQuery)) {
      text.remove_prefix(kQuery.size() - 1);
      take_value(lines, &text, "a number after qid:");
    }
    for (skip_blanks(&text); !text.empty(); skip_blanks(&text)) {
      int64_t column = 0;
      float value = 1;  // an index alone is a feature that is there
      if (!take_number(&text, &column)) lines.fail("expected index:value");
      if (text.starts_with(':')) value = take_value(lines, &text, "a value after index:");
      if (!text.empty() && !is_blank(text.front())) lines.fail("expected index:value");
      if (column < 0 || column >= width)
        lines.fail(fmt::format("index {} is outside of {} columns", column, width));
      columns.push_back(column);
      values.push_back(value);
    }
    ends.push_back(static_cast<int64_t>(values.size()));
    return label;
  }
  NDArray array(int64_t width) const {
    const auto rows = static_cast<int64_t>(ends.size()) - 1;
    NDArray csr(StorageType::kCSR, Shape{rows, width}, DType::kFloat32, Device::cpu());
    SparseStore& store = csr.sparse();
    store.resize(static_cast<int64_t>(values.size()), Device::cpu());
    std::copy(values.begin(), values.end(), static_cast<float*>(store.values()));
    std::copy(ends.begin(), ends.end(), static_cast<int64_t*>(store.own_aux(SparseStore::kIndptr)));
    std::copy(columns.begin(), columns.end(),
              static_cast<int64_t*>(store.own_aux(SparseStore::kIndices)));
    return csr;
  }
};

class LibSVMSource final : public BatchSource {
 public:
  explicit LibSVMSource(const LibSVMParams& params)
      : params_(params),
        lines_(kTag, params.data_libsvm, params.label_libsvm, part(params.part_index),
               part(params.num_parts), kComment),
        filler_(params.batch_size) {}

  void start_epoch(bool after_end) override { filler_.start_epoch(*this, after_end); }

  bool next(Batch* batch) override {
    *batch = Batch();
    data_rows_.clear();
    label_rows_.clear();
    label_values_.clear();
    index_.clear();
    if (filler_.fill(*this, true, &batch->pad) == 0) return false;
    batch->data = data_rows_.array(params_.data_shape[0]);
    if (lines_.has_labels()) {
      batch->label = label_rows_.array(params_.label_shape[0]);
    } else {
      batch->label = NDArray(Shape{static_cast<int64_t>(label_values_.size())}, DType::kFloat32,
                             batch_device(params_.ctx));
      std::copy(label_values_.begin(), label_values_.end(), batch->label.data_as<float>());
    }
    batch->index = index_;
    return true;
  }

  // For the filler.
  bool next(uint32_t) {
    const std::optional<LabelledLines::Row> row = lines_.next();
    if (!row) return false;
    label_values_.push_back(data_rows_.add(lines_.data(), row->data, params_.data_shape[0]));
    if (lines_.has_labels()) label_rows_.add(lines_.labels(), row->label, params_.label_shape[0]);
    index_.push_back(row->number);
    return true;
  }
  void rewind() { lines_.rewind(); }

 private:
  static uint32_t part(int32_t number) { return static_cast<uint32_t>(number); }

  const LibSVMParams params_;
  LabelledLines lines_;
  BatchFiller filler_;
  // Of the batch that is being filled.
  SparseRows data_rows_, label_rows_;
  std::vector<float> label_values_;
  std::vector<uint64_t> index_;
};

std::unique_ptr<DataIter> make_libsvm_iter(const LibSVMParams& params) {
  expect_part(kTag, params.part_index, params.num_parts);
  for (const Shape& shape : {params.data_shape, params.label_shape}) {
    if (shape.ndim() != 1 || shape[0] < 1)
      throw Error(ErrorCode::kValue, kTag,
                  "given shape " + to_string(shape) + ", expected one dimension above 0");
  }
  if (!params.round_batch) {
    throw Error(ErrorCode::kNotImplemented, kTag,
                "given round_batch=False, expected True: a csr batch is always full");
  }
  if (params.dtype != DType::kUnknown && params.dtype != DType::kFloat32) {
    throw Error(ErrorCode::kValue, kTag,
                fmt::format("given dtype {}, expected float32", dtype_name(params.dtype)));
  }
  return std::make_unique<DataIter>(std::make_unique<LibSVMSource>(params), params.prefetch_buffer);
}

}  // namespace

void declare_libsvm_iter(IterDef& def) {
  IterBuilder<LibSVMParams> iter(def, "LibSVMIter",
                                 "Batches of sparse samples in a text file, as csr arrays.");
  iter.param("data_libsvm", &LibSVMParams::data_libsvm,
             "The file: a sample a line, its label and index:value pairs, indices from 0 on.")
      .param("data_shape", &LibSVMParams::data_shape, "Shape of one sample: its features.")
      .param("label_libsvm", &LibSVMParams::label_libsvm, "NULL",
             "A second file whose rows are the labels; NULL takes the first numbers of the lines.")
      .param("label_shape", &LibSVMParams::label_shape, Shape{1}, "Shape of one label there.")
      .param("num_parts", &LibSVMParams::num_parts, 1, "Parts that the file is divided into.")
      .param("part_index", &LibSVMParams::part_index, 0, "Which part is read.");
  with_prefetch_params(with_batch_params(iter)).created_by<make_libsvm_iter>();
}

}  // namespace mxnet::io
