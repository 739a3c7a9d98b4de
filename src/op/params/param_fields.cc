// SPDX-License-Identifier: Apache-2.0
// Words of enumerations: how they are listed, and which of them a text is.
#include "op/params/param_fields.h"

#include <algorithm>

namespace mxnet {

namespace {

// Sorts as the C ABI lists words (None first), and says the type: "{None, 'a', 'b'},optional, ...".
std::string sort_choices(ChoiceWords& words, const char* initial) {
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) {
    const bool a_none = a.first == "None";
    const bool b_none = b.first == "None";
    return a_none != b_none ? a_none : a.first < b.first;
  });
  std::string type = "{";
  for (const auto& [word, value] : words) {
    if (type.size() > 1) type += ", ";
    const char* quote = word == "None" ? "" : "'";
    type.append(quote).append(word).append(quote);
  }
  return type + (initial == nullptr ? "}, required"
                                    : "},optional, default='" + std::string(initial) + "'");
}

// Throws ParamError where no word is `text`.
int64_t chosen(const ChoiceWords& words, std::string_view text) {
  for (const auto& [word, value] : words) {
    if (text == word) return value;
  }
  throw ParamError{};
}

}  // namespace

ChoiceWords dtype_words(DTypeSet set, bool or_none) {
  ChoiceWords words;
  if (or_none) words.emplace_back("None", static_cast<int64_t>(DType::kUnknown));
#define MX_DTYPE_WORD(word, type, tag) \
  if (set.contains(DType::tag)) words.emplace_back(#word, static_cast<int64_t>(DType::tag));
  MX_DTYPES(MX_DTYPE_WORD)
#undef MX_DTYPE_WORD
  return words;
}

void add_choice_field(ParamSchema& schema, const char* name, std::size_t offset,
                      void (*assign)(void* field, int64_t value), ChoiceWords words,
                      const char* initial, const char* doc) {
  std::string type = sort_choices(words, initial);
  const int64_t first = initial == nullptr ? 0 : chosen(words, initial);
  schema.add({name, std::move(type), doc, initial == nullptr,
              [offset, assign, words = std::move(words)](void* p, std::string_view text) {
                assign(static_cast<char*>(p) + offset, chosen(words, text));
              },
              [offset, assign, first](void* p) { assign(static_cast<char*>(p) + offset, first); }});
}

}  // namespace mxnet
