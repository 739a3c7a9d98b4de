// SPDX-License-Identifier: Apache-2.0
// A line of each.
#include "io/labelled_lines.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace mxnet::io {

LabelledLines::LabelledLines(const char* tag, std::string data_path, std::string label_path,
                             uint32_t part, uint32_t parts, char comment)
    : tag_(tag),
      data_path_(std::move(data_path)),
      label_path_(std::move(label_path)),
      data_(data_path_, tag, part, parts, comment) {
  if (label_path_ != "NULL") labels_.emplace(label_path_, tag, part, parts, comment);
}

std::optional<LabelledLines::Row> LabelledLines::next() {
  const std::optional<std::string_view> data = data_.next();
  if (!data) return std::nullopt;
  Row row{row_, *data, {}};
  if (labels_) {
    const std::optional<std::string_view> label = labels_->next();
    if (!label) {
      throw Error(ErrorCode::kValue, tag_,
                  fmt::format("given {} rows of labels in '{}', fewer than rows of data in '{}'",
                              row_, label_path_, data_path_));
    }
    row.label = *label;
  }
  ++row_;
  return row;
}

void LabelledLines::rewind() {
  data_.rewind();
  if (labels_) labels_->rewind();
  row_ = 0;
}

}  // namespace mxnet::io
