// SPDX-License-Identifier: Apache-2.0
// Declares the parameters of a data iterator, one call a parameter.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "io/iter_registry.h"
#include "op/op_builder.h"

namespace mxnet::io {

// P: the struct with the parameters' values.
template <class P>
class IterBuilder {
 public:
  IterBuilder(IterDef& def, const char* name, const char* doc) : def_(def) {
    def.name = name;
    def.doc = doc;
    def.schema.set_factory([] { return std::static_pointer_cast<void>(std::make_shared<P>()); });
    def.schema.set_lenient();
  }

  // With a default, or (the second form) one that must be given. `Base` is P or one of its bases.
  template <class Base, class T, class D>
  IterBuilder& param(const char* name, T Base::*field, const D& initial, const char* doc) {
    const T value = static_cast<T>(initial);
    return add(
        name, field, doc, false, value,
        optional_type_text(ParamText<T>::kType, ParamText<T>::print(value), ParamText<T>::kQuoted));
  }
  template <class Base, class T>
  IterBuilder& param(const char* name, T Base::*field, const char* doc) {
    return add(name, field, doc, true, T{}, required_type_text(ParamText<T>::kType));
  }
  // One of some words; the first is the default, the description lists them sorted.
  template <class Base, class E>
  IterBuilder& choice(const char* name, E Base::*field, Choices<E> choices, const char* doc) {
    const std::string initial = choices.front().first;
    Choices<E> sorted = choices;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first != "None", a.first) < std::pair(b.first != "None", b.first);
    });
    std::string words;
    for (const auto& [word, value] : sorted)
      words += (words.empty() ? "" : ", ") + (word == "None" ? word : "'" + word + "'");
    auto parse = [field, choices](void* params, std::string_view text) {
      for (const auto& [word, value] : choices) {
        if (text != word) continue;
        static_cast<P*>(params)->*field = value;
        return;
      }
      throw ParamError{};
    };
    auto reset = [parse, initial](void* params) { parse(params, initial); };
    def_.schema.add(
        {name, "{" + words + "},optional, default='" + initial + "'", doc, false, parse, reset});
    return *this;
  }
  // Bounds of the parameter declared just before.
  template <class T>
  IterBuilder& at_least(T low) {
    ParamField& field = def_.schema.last();
    field.parse = [parse = std::move(field.parse), low](void* params, std::string_view text) {
      parse(params, text);
      if (!(ParamText<T>::parse(text) >= low))
        throw ParamError{"at least " + ParamText<T>::print(low)};
    };
    return *this;
  }
  // The description names it once more: existing front ends were made from lists with repetitions.
  IterBuilder& again(const char* name) {
    for (const ParamField& field : def_.schema.fields()) {
      if (field.name != name) continue;
      ParamField copy{field.name, field.type, field.doc, false, nullptr, nullptr};
      def_.schema.add(std::move(copy));
      return *this;
    }
    MX_ASSERT(false);
    return *this;
  }
  // How an iterator is made of its parameters.
  template <std::unique_ptr<DataIter> (*kMake)(const P&)>
  void created_by() {
    def_.create = [](const void* params) { return kMake(*static_cast<const P*>(params)); };
  }

 private:
  template <class Base, class T>
  IterBuilder& add(const char* name, T Base::*field, const char* doc, bool required, T initial,
                   std::string type) {
    def_.schema.add(
        {name, std::move(type), doc, required,
         [field](void* params, std::string_view text) {
           static_cast<P*>(params)->*field = ParamText<T>::parse(text);
         },
         [field, initial](void* params) { static_cast<P*>(params)->*field = initial; }});
    return *this;
  }

  IterDef& def_;
};

}  // namespace mxnet::io
