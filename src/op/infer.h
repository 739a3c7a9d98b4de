// SPDX-License-Identifier: Apache-2.0
// Inference of shapes and types, together and in both directions. A rule states what must agree;
// unknown parts take the known value, known parts that differ are the caller's error, named by
// operator and argument.
#pragma once
#include <functional>
#include <initializer_list>
#include <span>
#include <string>

#include "base/dtype.h"
#include "base/shape.h"

namespace mxnet {

class OpDef;

// What is known of an array before it exists.
struct ArrayType {
  Shape shape;  // unknown rank, or dimensions of which some may be unknown
  DType dtype = DType::kUnknown;
  bool complete() const { return dtype != DType::kUnknown && shape.known(); }
  // An unknown part equals an unknown one.
  bool operator==(const ArrayType& other) const {
    return dtype == other.dtype && shape == other.shape;
  }
};

class Infer;

// One input or output inside a rule. A small handle, passed by value.
class InferArg {
 public:
  const Shape& shape() const;
  DType dtype() const;
  int ndim() const { return shape().ndim(); }      // -1 = unknown
  int64_t dim(int i) const { return shape()[i]; }  // -1 = unknown; REQUIRES 0 <= i < ndim()
  bool rank_known() const { return shape().rank_known(); }
  bool known() const { return shape().known(); }

  // Each merges what is given into what is known.
  InferArg& set_shape(const Shape& shape);
  InferArg& set_dim(int i, int64_t dim);
  InferArg& set_dtype(DType dtype);
  InferArg& same_shape(InferArg other);  // both learn
  InferArg& same_dtype(InferArg other);  // both learn
  InferArg& same_as(InferArg other) { return same_shape(other).same_dtype(other); }
  // Complaints of a rule. `expected` completes "expected ...".
  [[noreturn]] void fail(const std::string& expected) const;
  std::string name() const;

 private:
  friend class Infer;
  InferArg(Infer* infer, int index, bool output) : infer_(infer), index_(index), output_(output) {}
  ArrayType& type() const;

  Infer* infer_;
  int index_;
  bool output_;
};

class Infer {
 public:
  Infer(const OpDef& op, const void* params, std::span<ArrayType> inputs,
        std::span<ArrayType> outputs)
      : op_(op), params_(params), inputs_(inputs), outputs_(outputs) {}

  int num_in() const { return static_cast<int>(inputs_.size()); }
  int num_out() const { return static_cast<int>(outputs_.size()); }
  InferArg in(int i) { return InferArg(this, i, false); }
  InferArg out(int i) { return InferArg(this, i, true); }

  // All inputs and outputs have one type; `fallback` where nothing says which, kUnknown leaves it
  // open.
  void one_dtype(DType fallback = DType::kUnknown);
  // The shape that NumPy's rule makes of two inputs goes to output 0, dtype is one for all.
  void broadcast(int lhs, int rhs);
  // What `rule` says of shapes when these are its inputs and outputs: a gradient is given what the
  // operator itself had and made. Complaints call them by their names here.
  void follow(const std::function<void(Infer&)>& rule, std::span<const InferArg> inputs,
              std::span<const InferArg> outputs);
  template <class P>
  void follow(void (*rule)(const P&, Infer&), const P& params,
              std::initializer_list<InferArg> inputs, std::initializer_list<InferArg> outputs) {
    follow([&](Infer& other) { rule(params, other); }, std::span(inputs.begin(), inputs.size()),
           std::span(outputs.begin(), outputs.size()));
  }
  // The position of a possibly negative axis of `arg`; REQUIRES arg.rank_known().
  int axis(int64_t axis, InferArg arg);
  [[noreturn]] void fail(const std::string& message) const;

 private:
  friend class InferArg;
  const OpDef& op_;
  const void* params_;
  std::span<ArrayType> inputs_, outputs_;
  std::span<const InferArg> named_;  // inputs, then outputs, as another rule calls them
};

// NumPy's broadcast of two shapes, unknown dimensions included (1 yields, unknown stays). False
// where they do not fit.
bool broadcast_shapes(const Shape& a, const Shape& b, Shape* result);
// Merges `from` into `to`; false where known parts differ.
bool merge_shape(Shape* to, const Shape& from);

}  // namespace mxnet
