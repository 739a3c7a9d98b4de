// SPDX-License-Identifier: Apache-2.0
// Lines out of one buffer that is read ahead.
#include "io/text_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace mxnet::io {
namespace {

constexpr std::size_t kReadAhead = 256 << 10;
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

}  // namespace

TextLines::TextLines(const std::string& path, const char* tag, uint32_t part, uint32_t parts,
                     char comment)
    : file_(path, tag), comment_(comment), buffer_(kReadAhead) {
  const uint64_t size = file_.size();
  const uint64_t step = (size + parts - 1) / parts;
  first_ = std::min(size, step * part);
  end_ = std::min(size, step * (part + 1));
  rewind();
  if (first_ == 0) return;
  // The part before has the line that it has begun, and one that begins where it ends.
  next_line();
  first_ = buffer_start_ + at_;
  rewind();
}

void TextLines::rewind() {
  buffer_start_ = first_;
  filled_ = at_ = 0;
}

bool TextLines::fill() {
  std::memmove(buffer_.data(), buffer_.data() + at_, filled_ - at_);
  buffer_start_ += at_;
  filled_ -= at_;
  at_ = 0;
  if (filled_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);  // a very long line
  const std::size_t got =
      file_.read_at(buffer_start_ + filled_, buffer_.data() + filled_, buffer_.size() - filled_);
  filled_ += got;
  return got > 0;
}

std::optional<std::string_view> TextLines::next_line() {
  std::size_t searched = 0;
  for (;;) {
    const char* const begin = buffer_.data() + at_;
    const void* const found = filled_ - at_ == searched
                                  ? nullptr
                                  : std::memchr(begin + searched, '\n', filled_ - at_ - searched);
    line_offset_ = buffer_start_ + at_;
    if (found != nullptr) {
      line_ = {begin, static_cast<std::size_t>(static_cast<const char*>(found) - begin)};
      at_ += line_.size() + 1;
      return line_;
    }
    searched = filled_ - at_;
    if (fill()) continue;
    if (filled_ == at_) return std::nullopt;
    line_ = {buffer_.data() + at_, filled_ - at_};  // the last line has no end
    at_ = filled_;
    return line_;
  }
}

std::optional<std::string_view> TextLines::next() {
  for (;;) {
    if (buffer_start_ + at_ > end_) return std::nullopt;
    if (!next_line()) return std::nullopt;
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    if (line_offset_ == 0 && line_.starts_with(kUtf8Mark)) line_.remove_prefix(kUtf8Mark.size());
    if (comment_ != 0) line_ = line_.substr(0, line_.find(comment_));
    if (!trimmed(line_).empty()) return line_;
  }
}

void TextLines::fail(const std::string& message) const {
  file_.fail(line_offset_, fmt::format("{} in the line {}", message, quote_text(line_)));
}

}  // namespace mxnet::io
