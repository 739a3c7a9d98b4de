// SPDX-License-Identifier: Apache-2.0
// Kernels of questions about single numbers (op/elemwise/question_rows.h) and of negations. All
// questions share one kernel a type: what a row answers for each kind of number is a table of bits.
#include <limits>

#include "op/elemwise/question_rows.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/map.cuh"

namespace mxnet {
namespace cuda {
namespace {

struct Answer {
  // Bit k: the answer for numbers of kind k. Kinds are zero, other finite numbers, both infinities,
  // NaN.
  uint32_t answers;

  template <class C>
  MX_DEVICE uint8_t operator()(C x) const {
    const bool finite = x - x == C(0);
    const int kind = x != x ? 4 : finite ? static_cast<int>(x != C(0)) : x > C(0) ? 2 : 3;
    return static_cast<uint8_t>(answers >> kind & 1u);
  }
};

using Row = bool (*)(float x);
constexpr uint32_t kIsZero = 1;

// What the row's own expression answers for one number of each kind.
uint32_t answers_of(Row row) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  uint32_t answers = 0;
  int kind = 0;
  for (const float x : {0.0f, 1.0f, kInf, -kInf, kNan})
    answers |= static_cast<uint32_t>(row(x)) << kind++;
  return answers;
}

void answer(uint32_t answers, KernelContext& context) {
  const Tensor &x = context.in(0), &y = context.out(0);
  NativeStream* stream = context.stream()->native();
  for_dtype(x.dtype, "question", [&](auto type) {
    using T = decltype(type);
    if (y.dtype == DType::kBool)
      map_unary<T, bool>(stream, "question", Answer{answers}, x.data, y.data, x.size());
    else
      map_unary<T, T>(stream, "question", Answer{answers}, x.data, y.data, x.size());
  });
}

void logical_not(const void*, KernelContext& context) { answer(kIsZero, context); }

struct TurnBits {
  template <class C>
  MX_DEVICE C operator()(C x) const {
    return static_cast<C>(~x);
  }
};

// Of bool it is the other value: its bytes are 0 and 1.
void bitwise_not(const void* params, KernelContext& context) {
  const Tensor &x = context.in(0), &y = context.out(0);
  if (x.dtype == DType::kBool) return logical_not(params, context);
  for_dtype<kIntegers.bits_>(x.dtype, "_npi_bitwise_not", [&](auto type) {
    using T = decltype(type);
    map_unary<T, T>(context.stream()->native(), "bitwise_not", TurnBits{}, x.data, y.data,
                    x.size());
  });
}

#define MX_QUESTION(name, doc, test)                                   \
  void ask_##name(const void*, KernelContext& context) {               \
    using C = float;                                                   \
    answer(answers_of([](float x) -> bool { return test; }), context); \
  }
MX_QUESTION_ROWS(MX_QUESTION)
#undef MX_QUESTION

}  // namespace

// These operators have no parameters.
void add_questions(std::vector<GpuKernelRow>* rows) {
#define MX_QUESTION(name, ...) rows->push_back({"_npi_is" #name, ask_##name, nullptr});
  MX_QUESTION_ROWS(MX_QUESTION)
#undef MX_QUESTION
  rows->push_back({"logical_not", logical_not, nullptr});
  rows->push_back({"_npi_logical_not", logical_not, nullptr});
  rows->push_back({"_npi_bitwise_not", bitwise_not, nullptr});
}

}  // namespace cuda
}  // namespace mxnet
