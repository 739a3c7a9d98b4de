// SPDX-License-Identifier: Apache-2.0
// Declares the parameters of a data iterator, one call a parameter.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "io/iter_registry.h"
#include "op/params/param_fields.h"

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
    add_optional_field<T>(def_.schema, name, offset<T>(field), static_cast<T>(initial), doc);
    return *this;
  }
  template <class Base, class T>
  IterBuilder& param(const char* name, T Base::*field, const char* doc) {
    add_required_field<T>(def_.schema, name, offset<T>(field), doc);
    return *this;
  }
  // One of some words; the first is the default, the description lists them sorted.
  template <class Base, class E>
  IterBuilder& choice(const char* name, E Base::*field, const Choices<E>& choices,
                      const char* doc) {
    ChoiceWords words;
    for (const auto& [word, value] : choices) words.emplace_back(word, static_cast<int64_t>(value));
    const std::string initial(choices.front().first);
    add_choice_field(def_.schema, name, offset<E>(field), assign_choice<E>, std::move(words),
                     initial.c_str(), doc);
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
  // The description does not name the parameter declared just before.
  IterBuilder& unlisted() {
    def_.schema.last().listed = false;
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
  template <class T>
  static std::size_t offset(T P::*field) {
    return offset_of(field);
  }

  IterDef& def_;
};

}  // namespace mxnet::io
