// SPDX-License-Identifier: Apache-2.0
// Fields of parameter structs as the schema keeps them: an offset and a type. One body serves all
// operators that have a parameter of that type; as members of OpBuilder<P> there would be hundreds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "op/params/param.h"

namespace mxnet {

// The words of an enumeration (literals: views are kept) and what they stand for.
template <class E>
using Choices = std::vector<std::pair<std::string_view, E>>;
using ChoiceWords = Choices<int64_t>;

// Where `field` lies in a P, of which none is made.
template <class T, class P>
std::size_t offset_of(T P::*field) {
  union Space {
    Space() {}
    ~Space() {}
    char bytes[sizeof(P)];
    P params;
  } space;
  return static_cast<std::size_t>(reinterpret_cast<const char*>(&(space.params.*field)) -
                                  space.bytes);
}

template <class T>
T& field_at(void* params, std::size_t offset) {
  return *reinterpret_cast<T*>(static_cast<char*>(params) + offset);
}

template <class T>
void add_typed_field(ParamSchema& schema, const char* name, std::string type, const char* doc,
                     bool required, std::size_t offset, const T& initial) {
  schema.add({name, std::move(type), doc, required,
              [offset](void* p, std::string_view text) {
                field_at<T>(p, offset) = ParamText<T>::parse(text);
              },
              [offset, initial](void* p) { field_at<T>(p, offset) = initial; }});
}

// A parameter with a default, and one that must be given.
template <class T>
void add_optional_field(ParamSchema& schema, const char* name, std::size_t offset, const T& initial,
                        const char* doc) {
  using Text = ParamText<T>;
  std::string type = optional_type_text(Text::kType, Text::print(initial), Text::kQuoted);
  add_typed_field<T>(schema, name, std::move(type), doc, false, offset, initial);
}
template <class T>
void add_required_field(ParamSchema& schema, const char* name, std::size_t offset,
                        const char* doc) {
  add_typed_field<T>(schema, name, required_type_text(ParamText<T>::kType), doc, true, offset, T{});
}

enum class Bound : uint8_t { kAtLeast, kAtMost };

// Makes `field` refuse what lies beyond `limit`.
template <class T>
void bound_field(ParamField& field, Bound bound, T limit) {
  field.parse = [parse = std::move(field.parse), name = field.name, bound, limit](
                    void* p, std::string_view text) {
    parse(p, text);
    const T value = ParamText<T>::parse(text);
    if (bound == Bound::kAtLeast ? value >= limit : value <= limit) return;
    throw ParamError{"value " + std::string(text) + " for Parameter " + name + " should be " +
                     (bound == Bound::kAtLeast ? "greater" : "smaller") + " equal to " +
                     ParamText<T>::print(limit)};
  };
}

// The element types in `set`, and None (kUnknown) with `or_none`.
ChoiceWords dtype_words(DTypeSet set, bool or_none);

// One of some words; `assign` puts what a word stands for into the field. `initial` null: required.
void add_choice_field(ParamSchema& schema, const char* name, std::size_t offset,
                      void (*assign)(void* field, int64_t value), ChoiceWords words,
                      const char* initial, const char* doc);

template <class E>
void assign_choice(void* field, int64_t value) {
  *static_cast<E*>(field) = static_cast<E>(value);
}

}  // namespace mxnet
