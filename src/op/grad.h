// SPDX-License-Identifier: Apache-2.0
// Gradients as graphs: a rule builds nodes from the values of the forward call and the gradients of
// its outputs. One rule serves autograd and Symbol, and any order of derivative that its nodes can
// be differentiated for.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/node.h"
#include "op/params/param.h"

namespace mxnet {

class OpDef;

// A value in a graph under construction. Null stands for zero: absent gradients cost nothing.
class Value {
 public:
  Value() = default;
  explicit Value(ir::Entry entry) : entry_(std::move(entry)) {}
  const ir::Entry& entry() const { return entry_; }
  explicit operator bool() const { return static_cast<bool>(entry_); }

 private:
  ir::Entry entry_;
};

// Applies an operator; the result is its output 0, others through output(). A null input is an
// error of ours.
Value apply(std::string_view op, std::span<const Value> inputs, Attrs attrs = {});
Value apply(std::string_view op, std::initializer_list<Value> inputs, Attrs attrs = {});
Value output(const Value& value, int index);  // another output of the node that made `value`

Value operator+(const Value& a, const Value& b);  // elementwise, equal shapes; null is zero
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
Value operator/(const Value& a, const Value& b);
Value operator-(const Value& a);
Value operator+(const Value& a, double scalar);
Value operator-(const Value& a, double scalar);
Value operator-(double scalar, const Value& a);
Value operator*(const Value& a, double scalar);
Value operator/(const Value& a, double scalar);
Value operator/(double scalar, const Value& a);
Value zeros_like(const Value& a);
// A number as the text of a "scalar" attribute; reads back exactly.
std::string scalar_text(double value);

// What is known of a forward call whose arrays are there already: a rule may leave out what brings
// gradients to the shape and type that they have, or what integers need. A rule asks while it runs.
class ForwardTypes {
 public:
  // Whether an input has the shape, or the type, of output 0.
  virtual bool same_shape(int in) const = 0;
  virtual bool same_dtype(int in) const = 0;
  // Whether output 0 has a floating type.
  virtual bool floating() const = 0;

 protected:
  ~ForwardTypes() = default;
};

// What a rule sees.
class Grad {
 public:
  Grad(const ir::Entry* inputs, int num_in, const Ref<ir::Node>& forward,
       std::span<const Value> douts, std::span<const bool> wanted, bool differentiable,
       const ForwardTypes* types = nullptr)
      : inputs_(inputs),
        num_in_(num_in),
        forward_(forward),
        douts_(douts),
        wanted_(wanted),
        differentiable_(differentiable),
        types_(types) {}

  int num_in() const { return num_in_; }
  int num_out() const { return static_cast<int>(douts_.size()); }
  Value in(int i) const { return Value(inputs_[i]); }
  Value out(int i) const { return Value(ir::Entry{forward_, i, 0}); }
  // Gradient of output i; zeros are made where nobody gave one. has_dout tells.
  Value dout(int i) const;
  bool has_dout(int i) const { return static_cast<bool>(douts_[static_cast<std::size_t>(i)]); }
  // Whether somebody asks for the gradient of input i: a rule may leave others null.
  bool wants(int i) const { return wanted_[static_cast<std::size_t>(i)]; }
  // The result will be differentiated again: use nodes that have gradients, not fused backward
  // kernels.
  bool differentiable() const { return differentiable_; }
  // Never while a graph is built whose shapes and types come later.
  bool same_shape(int in) const { return types_ != nullptr && types_->same_shape(in); }
  bool same_dtype(int in) const { return types_ != nullptr && types_->same_dtype(in); }
  bool floating() const { return types_ != nullptr && types_->floating(); }
  const Attrs& attrs() const { return forward_->attrs; }

 private:
  const ir::Entry* inputs_;
  int num_in_;
  const Ref<ir::Node>& forward_;
  std::span<const Value> douts_;
  std::span<const bool> wanted_;
  bool differentiable_;
  const ForwardTypes* types_;
};

// A gradient per input; null = none.
using Gradients = std::vector<Value>;

}  // namespace mxnet
