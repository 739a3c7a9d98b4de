// SPDX-License-Identifier: Apache-2.0
// MX_OP(name, Params) opens the block that declares an operator; each call states one fact. All
// typed code is here, so that OpDef and its readers know no parameter type. See
// docs/adding_an_operator.md.
#pragma once
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "op/op_def.h"
#include "op/params/param_fields.h"

namespace mxnet {

struct NoParams {};

// An input; here and not in the builder, of which there are as many as parameter structs.
void add_arg(std::vector<OpArg>& args, const char* name, const char* type, const char* doc);
void add_kernel(std::vector<KernelEntry>& kernels, const KernelEntry& kernel);
// That of what is zero everywhere.
Gradients zero_gradients(const NoParams&, Grad& grad);

template <class P>
class OpBuilder {
 public:
  explicit OpBuilder(const char* name)
      : op_(Registry::get().add(name,
                                []() -> std::shared_ptr<void> { return std::make_shared<P>(); })) {}

  OpBuilder& doc(const char* text) {
    op_.doc_ = text;
    return *this;
  }
  OpBuilder& alias(const char* name) {
    Registry::get().add_alias(op_, name);
    return *this;
  }
  OpBuilder& input(const char* name, const char* doc) {
    add_arg(op_.args_, name, "NDArray-or-Symbol", doc);
    return *this;
  }
  // An input of the functions that are older than symbols.
  OpBuilder& array_input(const char* name, const char* doc) {
    add_arg(op_.args_, name, "NDArray", doc);
    return *this;
  }
  // Any number of inputs; `count` is the parameter that says how many.
  OpBuilder& inputs(const char* name, const char* doc, int32_t P::*count, const char* count_name) {
    add_arg(op_.args_, name, "NDArray-or-Symbol[]", doc);
    op_.key_var_num_args_ = count_name;
    op_.num_inputs_ = [count](const void* p) { return as(p).*count; };
    return *this;
  }
  // Any number of inputs that other parameters count: num_inputs() says how many.
  OpBuilder& input_list(const char* name, const char* doc) {
    add_arg(op_.args_, name, "NDArray-or-Symbol[]", doc);
    return *this;
  }
  // What the C ABI shows as the type of the input declared just before.
  OpBuilder& input_type(const char* text) {
    op_.args_.back().type = text;
    return *this;
  }
  OpBuilder& num_inputs(int (*count)(const P&)) {
    op_.num_inputs_ = [count](const void* p) { return count(as(p)); };
    return *this;
  }
  OpBuilder& input_names(std::vector<std::string> (*names)(const P&)) {
    op_.input_names_ = names;
    return *this;
  }
  OpBuilder& output(const char* name) {
    op_.output_names_.emplace_back(name);
    return *this;
  }
  // Where they depend on parameters otherwise than by being one or several.
  OpBuilder& output_name(std::string (*name)(const P&, int)) {
    op_.output_name_ = name;
    return *this;
  }
  OpBuilder& outputs(int (*count)(const P&)) {
    op_.num_outputs_ = count;
    return *this;
  }
  OpBuilder& visible_outputs(int (*count)(const P&)) {
    op_.num_visible_ = count;
    return *this;
  }
  // A list, not a vector: {0} would rather be the null function pointer of the form below.
  OpBuilder& mutates(std::initializer_list<int> inputs) {
    op_.mutated_ = [list = std::vector<int>(inputs)](const void*) { return list; };
    return *this;
  }
  OpBuilder& mutates(std::vector<int> (*inputs)(const P&)) {
    op_.mutated_ = [inputs](const void* p) { return inputs(as(p)); };
    return *this;
  }
  // Inputs whose values are used up: written, and yet no state that anybody reads.
  OpBuilder& clobbers(std::initializer_list<int> inputs) {
    op_.clobbered_ = [list = std::vector<int>(inputs)](const void*) { return list; };
    return *this;
  }
  OpBuilder& clobbers(std::vector<int> (*inputs)(const P&)) {
    op_.clobbered_ = [inputs](const void* p) { return inputs(as(p)); };
    return *this;
  }
  // States of a model that not this operator but its gradient writes: calls that only read them
  // run side by side.
  OpBuilder& states(std::initializer_list<int> inputs) {
    op_.states_ = inputs;
    return *this;
  }
  // Only shape and type of this input matter (zeros_like): no memory is kept or waited for.
  OpBuilder& type_only(int in) {
    op_.type_only_ |= uint64_t{1} << in;
    return *this;
  }
  OpBuilder& inplace(int in, int out) {
    op_.inplace_.emplace_back(in, out);
    return *this;
  }
  // Output k may share memory with input k * stride, for operators on any number of parameters.
  OpBuilder& inplace_stride(int stride) {
    op_.inplace_stride_ = stride;
    return *this;
  }

  // A parameter with a default, or (the second form) one that must be given.
  template <class T, class D>
  OpBuilder& param(const char* name, T P::*field, const D& value, const char* doc) {
    add_optional_field<T>(op_.schema_, name, offset_of(field), static_cast<T>(value), doc);
    return *this;
  }
  template <class T>
  OpBuilder& param(const char* name, T P::*field, const char* doc) {
    add_required_field<T>(op_.schema_, name, offset_of(field), doc);
    return *this;
  }
  // Bounds of the numeric parameter declared just before; both ends are allowed.
  template <class T>
  OpBuilder& range(T low, T high) {
    return at_least<T>(low).template at_most<T>(high);
  }
  template <class T>
  OpBuilder& at_least(T low) {
    bound_field<T>(op_.schema_.last(), Bound::kAtLeast, low);
    return *this;
  }
  template <class T>
  OpBuilder& at_most(T high) {
    bound_field<T>(op_.schema_.last(), Bound::kAtMost, high);
    return *this;
  }
  // What the C ABI shows as the type of the parameter declared just before, where it is not what
  // follows from the C++ type.
  OpBuilder& type_text(const char* text) {
    op_.schema_.last().type = text;
    return *this;
  }

  // Op info that existing front ends were made from is not always what the parser takes: a name
  // that is shown but refused, and a parameter (the one declared just before) that is taken but not
  // shown.
  OpBuilder& listed(const char* name, const char* type, const char* doc) {
    op_.schema_.add({name, type, doc, false, nullptr, nullptr});
    return *this;
  }
  OpBuilder& unlisted() {
    op_.schema_.last().listed = false;
    return *this;
  }

  // One of some words. The C ABI lists them sorted, None first and bare; `initial` null makes it
  // required.
  template <class E>
  OpBuilder& choice(const char* name, E P::*field, const Choices<E>& choices, const char* initial,
                    const char* doc) {
    ChoiceWords words;
    for (const auto& [word, value] : choices) words.emplace_back(word, static_cast<int64_t>(value));
    add_choice_field(op_.schema_, name, offset_of(field), assign_choice<E>, std::move(words),
                     initial, doc);
    return *this;
  }
  // An element type out of `set`; None (kUnknown: "as the input") among them with `or_none`.
  OpBuilder& dtype_param(const char* name, DType P::*field, DTypeSet set, bool or_none,
                         const char* initial, const char* doc) {
    add_choice_field(op_.schema_, name, offset_of(field), assign_choice<DType>,
                     dtype_words(set, or_none), initial, doc);
    return *this;
  }
  // Described with the parameters of an operator that is there already; parsed with its own.
  OpBuilder& described_as(const char* other) {
    op_.schema_.describe_as(Registry::get().at(other).schema());
    return *this;
  }
  OpBuilder& lenient() {
    op_.schema_.set_lenient();
    return *this;
  }

  OpBuilder& dtypes(DTypeSet set) {
    op_.dtypes_ = set;
    return *this;
  }
  OpBuilder& infer(void (*rule)(const P&, Infer&)) {
    op_.infer_ = rule;
    return *this;
  }
  OpBuilder& cpu(void (*kernel)(const P&, KernelContext&),
                 bool (*accepts)(const P&, const Signature&) = nullptr,
                 const char* name = "plain") {
    add_kernel(op_.kernels_, {name, DeviceType::kCPU, accepts, kernel});
    return *this;
  }
  OpBuilder& grad(Gradients (*rule)(const P&, Grad&)) {
    op_.grad_ = rule;
    return *this;
  }
  // The gradient is (also) the operator's own: there is one though none arrives.
  OpBuilder& loss() {
    op_.loss_ = true;
    return *this;
  }
  // See OpDef::goes_by_pass.
  OpBuilder& by_pass() {
    op_.by_pass_ = true;
    return *this;
  }
  // The gradient is zero everywhere: differentiable, but nothing flows back.
  OpBuilder& zero_grad() {
    op_.grad_ = zero_gradients;
    return *this;
  }
  OpBuilder& never_inline() {
    op_.inline_ = false;
    return *this;
  }
  // See OpDef::shape_from_values; `when` says for which parameters and numbers of inputs.
  OpBuilder& shape_from_values(bool (*when)(const P&, int)) {
    op_.shape_from_values_ = when;
    return *this;
  }
  OpBuilder& shape_from_values() {
    return shape_from_values([](const P&, int) { return true; });
  }
  // See OpDef::makes_sparse.
  OpBuilder& makes_sparse(bool (*when)(const P&)) {
    op_.makes_sparse_ = when;
    return *this;
  }
  OpBuilder& uses_random(bool (*when)(const P&, bool training)) {
    op_.random_ = when;
    return *this;
  }
  OpBuilder& uses_random() {
    return uses_random([](const P&, bool) { return true; });
  }

 private:
  static const P& as(const void* params) { return *static_cast<const P*>(params); }

  OpDef& op_;
};

}  // namespace mxnet

// At namespace scope of one .cc: MX_OP(softmax, SoftmaxParams).doc(...)...;
#define MX_OP(op_name, Params) MX_OP_NAMED(#op_name, Params)
#define MX_OP_NAMED(text, Params)                                             \
  static const ::mxnet::OpBuilder<Params> MX_OP_CONCAT(mx_op_, __COUNTER__) = \
      ::mxnet::OpBuilder<Params>(text)
#define MX_OP_CONCAT(a, b) MX_OP_CONCAT_(a, b)
#define MX_OP_CONCAT_(a, b) a##b
