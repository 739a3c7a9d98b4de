// SPDX-License-Identifier: Apache-2.0
// Questions about single elements: tests for NaN and infinity, and logical and bitwise negation.
#include <algorithm>
#include <array>

#include "op/elemwise/question_loops.h"
#include "op/loops/as_type.h"
#include "op/loops/blockwise.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/rows/binary_kernel.h"
#include "op/run/dispatch.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"

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

// Integers are finite numbers: one answer for all of them.
void ask(QuestionRow row, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  bool* const answers = out.as<bool>();
  if (!is_floating(in.dtype)) {
    const float number = 0.0f;
    bool answer;
    question_loop<float>(row)(&number, &answer, 1);
    std::fill_n(answers, in.size(), answer);
    return;
  }
  const double cost = cost_of_moving(1.0 + static_cast<double>(dtype_size(in.dtype)));
  dispatch_dtype<kFloating>(in.dtype, "question", [&]<class T>(TypeTag<T>) {
    const auto loop = question_loop<ComputeType<T>>(row);
    parallel_for(in.size(), cost, [&](int64_t first, int64_t last) {
      if constexpr (kIsHalf<T>) {
        std::array<float, kBlock> numbers;
        for (int64_t at = first; at < last; at += kBlock) {
          const int64_t n = std::min(kBlock, last - at);
          convert_array(in.as<T>() + at, numbers.data(), n);
          loop(numbers.data(), answers + at, n);
        }
      } else {
        loop(in.as<T>() + first, answers + first, last - first);
      }
    });
  });
}

#define MX_QUESTION(name, doc, test)                   \
  [[maybe_unused]] const auto is##name = define<true>( \
      "_npi_is" #name, doc, kAllTypes,                 \
      [](const NoParams&, KernelContext& context) { ask(QuestionRow::name, context); });
MX_QUESTION_ROWS(MX_QUESTION)
#undef MX_QUESTION

// Whether it equals zero.
void logical_not_cpu(const NoParams&, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const bool widens = out.dtype == DType::kBool && dtype_size(in.dtype) == sizeof(float16);
  run_binary_scalar(BinaryRow::equal, widens ? as_type(in, DType::kFloat32, context) : in, 0.0,
                    false, out, context);
}
[[maybe_unused]] const auto logical_not =
    define<false>("logical_not", "1 where zero, else 0.", kAllTypes, logical_not_cpu, "data");
[[maybe_unused]] const auto numpy_logical_not =
    define<true>("_npi_logical_not", "Whether it is zero.", kAllTypes, logical_not_cpu);

void bitwise_not_cpu(const NoParams&, KernelContext& context) {
  Tensor in = context.in(0), out = context.out(0);
  const bool is_bool = in.dtype == DType::kBool;
  if (is_bool) in.dtype = out.dtype = DType::kUInt8;
  run_binary_scalar(BinaryRow::bitwise_xor, in, is_bool ? 1.0 : -1.0, false, out, context);
}
[[maybe_unused]] const auto bitwise_not =
    define<false>("_npi_bitwise_not", "All bits turned over; of bool, the other value.",
                  kIntegers | DTypeSet::of(DType::kBool), bitwise_not_cpu);

}  // namespace
}  // namespace mxnet
