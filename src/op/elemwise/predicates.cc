// SPDX-License-Identifier: Apache-2.0
// Questions about single elements: tests for NaN and infinity, and logical and bitwise negation.
#include "op/elemwise/map.h"
#include "op/elemwise/question_rows.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

template <bool to_bool>
void infer_question(const NoParams&, Infer& infer) {
  infer.in(0).same_shape(infer.out(0));
  if (to_bool)
    infer.out(0).set_dtype(DType::kBool);
  else
    infer.in(0).same_dtype(infer.out(0));
}

template <bool to_bool>
OpBuilder<NoParams> define(const char* name, const char* doc, DTypeSet types,
                           void (*kernel)(const NoParams&, KernelContext&),
                           const char* input = "x") {
  OpBuilder<NoParams> op(name);
  op.doc(doc).input(input, "The array.").lenient().dtypes(types).inplace(0, 0);
  op.infer(infer_question<to_bool>).cpu(kernel).zero_grad();
  return op;
}

// Integers are finite numbers.
template <class Test>
void ask(KernelContext& context) {
  map_elements<kAllTypes>("question", context.in(0), context.out(0), []<class C>(C x) -> bool {
    if constexpr (std::is_floating_point_v<C>)
      return Test()(x);
    else
      return Test()(static_cast<float>(x));
  });
}

#define MX_QUESTION(name, doc, test)                \
  struct Is##name {                                 \
    template <class C>                              \
    bool operator()(C x) const {                    \
      return test;                                  \
    }                                               \
  };                                                \
  [[maybe_unused]] const auto is##name =            \
      define<true>("_npi_is" #name, doc, kAllTypes, \
                   [](const NoParams&, KernelContext& context) { ask<Is##name>(context); });
MX_QUESTION_ROWS(MX_QUESTION)
#undef MX_QUESTION

void logical_not_cpu(const NoParams&, KernelContext& context) {
  map_elements<kAllTypes>("logical_not", context.in(0), context.out(0),
                          []<class C>(C x) { return static_cast<C>(x == C(0)); });
}
[[maybe_unused]] const auto logical_not =
    define<false>("logical_not", "1 where zero, else 0.", kNumeric, logical_not_cpu, "data");
[[maybe_unused]] const auto numpy_logical_not =
    define<true>("_npi_logical_not", "Whether it is zero.", kAllTypes, logical_not_cpu);

void bitwise_not_cpu(const NoParams&, KernelContext& context) {
  map_elements<kIntegers | DTypeSet::of(DType::kBool)>("_npi_bitwise_not", context.in(0),
                                                       context.out(0), []<class C>(C x) {
                                                         if constexpr (std::is_same_v<C, bool>)
                                                           return !x;
                                                         else
                                                           return static_cast<C>(~x);
                                                       });
}
[[maybe_unused]] const auto bitwise_not =
    define<false>("_npi_bitwise_not", "All bits turned over; of bool, the other value.",
                  kIntegers | DTypeSet::of(DType::kBool), bitwise_not_cpu);

}  // namespace
}  // namespace mxnet
