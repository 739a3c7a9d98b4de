// SPDX-License-Identifier: Apache-2.0
// The cache of parsed attributes: direct-mapped, a table a thread, so that a look-up is one hash
// and one comparison without a lock.
#include "op/params/parsed_attrs.h"

#include <array>
#include <cstring>

#include "base/of_thread.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

// About four times the distinct calls of a large network's training step.
constexpr std::size_t kSlots = 1024;
// Longer texts (constants spelled out) are not worth their memory.
constexpr std::size_t kLongestText = 256;
constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio: spreads all bits

struct Slot {
  uint64_t hash = 0;
  ParsedAttrsRef parsed;
};

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * kMultiplier;
  return hash ^ (hash >> 32);
}

uint64_t mix_text(uint64_t hash, std::string_view text) {
  hash = mix(hash, text.size());
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    hash = mix(hash, word);
  }
  uint64_t rest = 0;
  for (; i < text.size(); ++i) rest = rest << 8 | static_cast<unsigned char>(text[i]);
  return mix(hash, rest);
}

bool same_texts(const Attrs& stored, AttrList given) {
  if (stored.size() != given.size()) return false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (stored[i].first != given[i].first || stored[i].second != given[i].second) return false;
  }
  return true;
}

// Parameters that hold functions of the user must end with their last call: those of other threads
// than the user's end too late for that, and at an address there may be others by then.
bool keeps(const OpDef& op) {
  return op.name() != "Custom" && op.name() != "_Native" && op.name() != "_NDArray";
}

ParsedAttrsRef parse_now(const OpDef& op, AttrList attrs) {
  return ParsedAttrsRef(new ParsedAttrs(op, Attrs(attrs.begin(), attrs.end()), op.parse(attrs)));
}

}  // namespace

ParsedAttrsRef parse_attrs(const OpDef& op, AttrList attrs) {
  auto& cache = of_thread<std::array<Slot, kSlots>>();
  uint64_t hash = mix(0, reinterpret_cast<uintptr_t>(&op));
  for (const auto& [key, text] : attrs) {
    if (text.size() > kLongestText) return parse_now(op, attrs);
    hash = mix_text(mix_text(hash, key), text);
  }
  Slot& slot = cache[hash % kSlots];
  if (slot.parsed && slot.hash == hash && &slot.parsed->op() == &op &&
      same_texts(slot.parsed->attrs(), attrs))
    return slot.parsed;
  ParsedAttrsRef parsed = parse_now(op, attrs);
  if (keeps(op)) slot = {hash, parsed};
  return parsed;
}

}  // namespace mxnet
