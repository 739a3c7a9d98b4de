// SPDX-License-Identifier: Apache-2.0
// The search for the magic, which writers do for every byte.
#include "io/record_format.h"

#include <cstring>

namespace mxnet::io {

std::size_t find_magic(const char* data, std::size_t bytes, std::size_t from) {
  // Blocks first, without a branch a word, so that the compiler makes vectors of them.
  constexpr std::size_t kBlock = 64;
  const auto word_at = [data](std::size_t offset) {
    uint32_t word;
    std::memcpy(&word, data + offset, sizeof word);
    return word;
  };
  std::size_t at = from;
  for (; at + kBlock <= bytes; at += kBlock) {
    uint32_t found = 0;
    for (std::size_t i = 0; i < kBlock; i += 4) found |= word_at(at + i) == kRecordMagic ? 1U : 0U;
    if (found != 0) break;
  }
  for (; at + 4 <= bytes; at += 4)
    if (word_at(at) == kRecordMagic) return at;
  return bytes;
}

}  // namespace mxnet::io
