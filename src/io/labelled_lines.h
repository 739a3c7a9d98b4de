// SPDX-License-Identifier: Apache-2.0
// The lines of a part of two text files side by side: data, and the labels that may be in another.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/text_lines.h"

namespace mxnet::io {

// Not thread-safe.
class LabelledLines {
 public:
  // label_path: "NULL" for none; `comment` as lines have it. REQUIRES: part < parts.
  LabelledLines(const char* tag, std::string data_path, std::string label_path, uint32_t part = 0,
                uint32_t parts = 1, char comment = 0);

  struct Row {
    uint64_t number;
    std::string_view data, label;  // good until the next call
  };
  // Nothing at the end of the data. Throws Error(kValue) where the labels end before.
  std::optional<Row> next();
  void rewind();

  bool has_labels() const { return labels_.has_value(); }
  // Whose fail() names the place of the last line.
  const TextLines& data() const { return data_; }
  const TextLines& labels() const { return *labels_; }  // REQUIRES: has_labels()

 private:
  const char* const tag_;
  const std::string data_path_, label_path_;
  TextLines data_;
  std::optional<TextLines> labels_;
  uint64_t row_ = 0;
};

}  // namespace mxnet::io
