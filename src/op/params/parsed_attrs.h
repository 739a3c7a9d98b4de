// SPDX-License-Identifier: Apache-2.0
// Attributes of a call, read once. Callers send the same few texts over and over; a thread finds
// what it has read lately by comparing the texts, and neither parses nor allocates again.
#pragma once
#include "base/ref.h"
#include "op/params/param.h"

namespace mxnet {

class OpDef;

// Immutable; shared by calls, tapes and threads.
class ParsedAttrs : public RefCounted {
 public:
  ParsedAttrs(const OpDef& op, Attrs attrs, ParamsPtr params)
      : op_(op), attrs_(std::move(attrs)), params_(std::move(params)) {}
  const OpDef& op() const { return op_; }
  const Attrs& attrs() const { return attrs_; }  // as given, in order
  const ParamsPtr& params() const { return params_; }

 private:
  const OpDef& op_;
  const Attrs attrs_;
  const ParamsPtr params_;
};

using ParsedAttrsRef = Ref<const ParsedAttrs>;

// As op.parse(attrs), through this thread's cache. Throws what parse throws.
ParsedAttrsRef parse_attrs(const OpDef& op, AttrList attrs);

}  // namespace mxnet
