// SPDX-License-Identifier: Apache-2.0
// Offsets from index files, and from the records' heads where there is none.
#include "io/record_index.h"

#include <algorithm>

#include "io/record_reader.h"
#include "io/text_lines.h"
#include "io/text_numbers.h"

namespace mxnet::io {
namespace {

std::vector<uint64_t> listed_offsets(const std::string& idx) {
  std::vector<uint64_t> offsets;
  TextLines lines(idx, "RecordIO index");
  while (std::optional<std::string_view> line = lines.next()) {
    // A key may be any word.
    const std::size_t tab = line->find('\t');
    std::string_view rest = tab == std::string_view::npos ? "" : line->substr(tab + 1);
    uint64_t offset = 0;
    if (!take_number(&rest, &offset)) lines.fail("expected a key, a tab and an offset");
    offsets.push_back(offset);
  }
  return offsets;
}

}  // namespace

std::vector<uint64_t> record_offsets(const std::string& rec, const std::string& idx, uint32_t part,
                                     uint32_t parts) {
  if (!idx.empty()) {
    const std::vector<uint64_t> all = listed_offsets(idx);
    const std::size_t step = (all.size() + parts - 1) / parts;
    const std::size_t first = std::min(all.size(), step * part);
    const std::size_t last = std::min(all.size(), step * (part + 1));
    return {all.begin() + static_cast<std::ptrdiff_t>(first),
            all.begin() + static_cast<std::ptrdiff_t>(last)};
  }
  const uint64_t size = InputFile(rec, "RecordIO").size();
  const uint64_t step = padded_length((size + parts - 1) / parts);
  const uint64_t begin = std::min(size, step * part), end = std::min(size, step * (part + 1));
  RecordReader reader(rec, OnDamage::kSkip);
  std::vector<uint64_t> offsets;
  // Whole records from the start on: a magic inside of one does not start another.
  for (;;) {
    if (reader.tell() >= end || !reader.skip_record()) return offsets;
    const uint64_t at = reader.started_at();
    if (at >= begin && at < end) offsets.push_back(at);
  }
}

}  // namespace mxnet::io
