// SPDX-License-Identifier: Apache-2.0
// Parameters of operators: a plain struct, and a schema that says how its fields are called, parsed
// from text and printed. The C ABI's type strings, Python signatures, documentation and error
// messages derive from the schema.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/shape.h"
#include "op/params/param_text.h"

namespace mxnet {

// Attributes as callers give them: texts by name, in the caller's order; kept and borrowed.
using Attrs = std::vector<std::pair<std::string, std::string>>;
using AttrList = std::span<const std::pair<std::string_view, std::string_view>>;

struct ParamField {
  std::string name;
  std::string type;  // as the C ABI shows it: "int, optional, default='1'"
  std::string doc;
  bool required = false;
  // Throws ParamError. Null, as reset, for a name that op info shows but no call may give.
  std::function<void(void* params, std::string_view text)> parse;
  std::function<void(void* params)> reset;  // to the default
  bool listed = true;                       // in op info
};

// "int, required" and "int, optional, default='1'".
std::string required_type_text(std::string_view type);
std::string optional_type_text(std::string_view type, std::string_view initial, bool quoted);

// An instance of an operator's parameter struct whose type only its operator knows.
using ParamsPtr = std::shared_ptr<const void>;

class ParamSchema {
 public:
  // The struct that fields live in; called once, by the typed builder.
  void set_factory(std::function<std::shared_ptr<void>()> make) { make_ = std::move(make); }
  // Operators whose reference has no parser take any key and ignore what they do not know.
  void set_lenient() { lenient_ = true; }
  ParamField& add(ParamField field) { return fields_.emplace_back(std::move(field)); }
  ParamField& last() { return fields_.back(); }

  // What readers of the description see: that of `other`, where an operator has always been
  // described with the parameters of another.
  void describe_as(const ParamSchema& other) { described_ = other.fields_; }

  const std::vector<ParamField>& fields() const {
    return described_.empty() ? fields_ : described_;
  }

  // A filled struct. Keys of the form __x__ always pass. Throws Error(kValue, op): unknown key
  // (with the known ones), bad value (with what is expected), missing required key.
  ParamsPtr parse(const std::string& op, AttrList attrs) const;

 private:
  std::function<std::shared_ptr<void>()> make_;
  std::vector<ParamField> fields_, described_;
  bool lenient_ = false;
};

}  // namespace mxnet
