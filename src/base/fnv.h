// SPDX-License-Identifier: Apache-2.0
// FNV-1a, for hashes that leave the process: equal in all of them, whatever their standard library,
// and in files.
#pragma once
#include <cstdint>
#include <string_view>

namespace mxnet {

class Fnv {
 public:
  explicit Fnv(uint64_t seed = 0) : value_(14695981039346656037ULL ^ seed) {}
  void take(std::string_view text) {
    for (const char c : text) take_word(static_cast<unsigned char>(c));
  }
  // One step for all of its bytes.
  void take_word(uint64_t word) { value_ = (value_ ^ word) * 1099511628211ULL; }
  uint64_t value() const { return value_; }
  // For remainders and tables, to which only the lower bits count.
  uint64_t folded() const { return value_ ^ value_ >> 32; }

 private:
  uint64_t value_;
};

}  // namespace mxnet
