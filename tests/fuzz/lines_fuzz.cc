// SPDX-License-Identifier: Apache-2.0
// libFuzzer on text files and the numbers in their lines: fuzz_lines -max_total_time=60
// -max_len=512. The first byte says how many parts a file is read in, which have its lines in
// order, each once.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/text_lines.h"
#include "io/text_numbers.h"
#include "temporary_file.h"

namespace {

using mxnet::io::TextLines;

std::vector<std::string> lines_of(const std::string& path, uint32_t part, uint32_t parts) {
  std::vector<std::string> result;
  TextLines lines(path, "fuzz", part, parts, '#');
  while (const auto line = lines.next()) result.emplace_back(*line);
  lines.rewind();
  for (const std::string& line : result)
    if (lines.next() != line) std::abort();
  return result;
}

// Takes numbers off the front until there is none.
template <class T>
void take_numbers(std::string_view line) {
  const std::size_t size = line.size();
  for (T value{}; mxnet::io::take_number(&line, &value);)
    if (line.size() >= size) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint32_t parts = 1 + data[0] % 5;
  const mxnet::testing_io::TemporaryFile file({reinterpret_cast<const char*>(data) + 1, size - 1});
  const std::vector<std::string> whole = lines_of(file.path(), 0, 1);
  std::vector<std::string> joined;
  for (uint32_t part = 0; part < parts; ++part)
    for (std::string& line : lines_of(file.path(), part, parts)) joined.push_back(std::move(line));
  if (joined != whole) std::abort();
  for (const std::string& line : whole) {
    take_numbers<float>(line);
    take_numbers<int32_t>(line);
    take_numbers<int64_t>(line);
  }
  return 0;
}
