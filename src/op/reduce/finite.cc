// SPDX-License-Identifier: Apache-2.0
// Checks and sums over whole arrays, which training loops make of all gradients at once:
// all_finite, multi_all_finite, multi_sum_sq, allclose.
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "op/loops/convert.h"
#include "op/numbered_names.h"
#include "op/op_builder.h"
#include "op/reduce/finite.h"
#include "op/reducing/axes.h"
#include "op/reducing/evaluate.h"
#include "op/run/dispatch.h"
#include "op/run/element_size.h"
#include "op/run/gpu.h"
#include "op/run/parallel.h"
#include "op/run/single_shape.h"

namespace mxnet {
namespace {

constexpr DTypeSet kReal = kFloating;
// Elements between two looks at whether the answer is already known.
constexpr int64_t kBlockSize = 4096;

// Whether every block that fn(first, last) tests is right.
template <class F>
bool all_blocks(int64_t size, const F& fn) {
  std::atomic<bool> right{true};
  parallel_for(size, 1.0, [&](int64_t first, int64_t last) {
    // Relaxed: nothing else is published, and the end of the parallel region orders the result.
    for (int64_t at = first; at < last && right.load(std::memory_order_relaxed); at += kBlockSize) {
      if (!fn(at, std::min(last, at + kBlockSize))) right.store(false, std::memory_order_relaxed);
    }
  });
  return right.load(std::memory_order_relaxed);
}

// The bits that are all set where a number is infinite or NaN.
template <class T>
constexpr auto kExponent = std::bit_cast<UnsignedOf<sizeof(T)>>(std::numeric_limits<T>::infinity());
template <>
constexpr uint16_t kExponent<float16> = 0x7c00;
template <>
constexpr uint16_t kExponent<bfloat16> = 0x7f80;

bool all_finite(const Tensor& in) {
  return dispatch_dtype<kReal>(in.dtype, "all_finite", [&]<class T>(TypeTag<T>) {
    using Bits = UnsignedOf<sizeof(T)>;
    // One more in the lowest of them is carried into the sign only where all are set.
    constexpr auto kOneMore = static_cast<Bits>(kExponent<T> & (~kExponent<T> + 1));
    constexpr auto kSign = static_cast<Bits>(kExponent<T> + kOneMore);
    const auto* x = static_cast<const Bits*>(in.data);
    return all_blocks(in.size(), [&](int64_t first, int64_t last) {
      Bits sums = 0;
      // One vector a step takes up to twice as long where its instructions happen to lie badly.
#pragma GCC unroll 4
      for (int64_t i = first; i < last; ++i) {
        const auto exponent = static_cast<Bits>(x[i] & kExponent<T>);
        sums |= static_cast<Bits>(exponent + kOneMore);
      }
      return (sums & kSign) == 0;
    });
  });
}

// Without init_output the answer joins what the output holds already.
void finite_cpu(KernelContext& context, bool init_output) {
  float* out = context.out(0).as<float>();
  bool right = init_output || *out != 0.0f;
  for (int i = 0; i < context.num_in() && right; ++i) right = all_finite(context.in(i));
  *out = right ? 1.0f : 0.0f;
}

template <class P>
void infer_flag(const P&, Infer& infer) {
  infer.out(0).set_shape({1}).set_dtype(DType::kFloat32);
}

MX_OP(all_finite, FiniteParams)
.doc("1 if no element is NaN or infinite, else 0.")
    .array_input("data", "The array.")
    .param("init_output", &FiniteParams::init_output, true,
           "Whether to start from 1; otherwise the answer is joined to what the output holds.")
    .dtypes(kReal)
    .infer(infer_flag<FiniteParams>)
    .cpu([](const FiniteParams& params, KernelContext& context) {
      finite_cpu(context, params.init_output);
    });

MX_OP(multi_all_finite, MultiFiniteParams)
.doc("1 if no element of any array is NaN or infinite, else 0.")
    .input_list("data", "The arrays.")
    .num_inputs([](const MultiFiniteParams& params) { return params.num_arrays; })
    .input_names([](const MultiFiniteParams& params) {
      return numbered_names("array_", params.num_arrays);
    })
    .param("num_arrays", &MultiFiniteParams::num_arrays, 1, "Number of arrays.")
    .param("init_output", &MultiFiniteParams::init_output, true,
           "Whether to start from 1; otherwise the answer is joined to what the output holds.")
    .dtypes(kReal)
    .infer(infer_flag<MultiFiniteParams>)
    .cpu([](const MultiFiniteParams& params, KernelContext& context) {
      finite_cpu(context, params.init_output);
    });

struct SumSquaresParams {
  int32_t num_arrays;
};

MX_OP(multi_sum_sq, SumSquaresParams)
.doc("The sum of the squares of each array.")
    .input_list("data", "The arrays.")
    .num_inputs([](const SumSquaresParams& params) { return params.num_arrays; })
    .input_names([](const SumSquaresParams& params) {
      return numbered_names("array_", params.num_arrays);
    })
    .param("num_arrays", &SumSquaresParams::num_arrays, "Number of arrays.")
    .dtypes(kReal)
    .infer([](const SumSquaresParams& params, Infer& infer) {
      for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_dtype(infer.in(i));
      infer.out(0).set_shape({params.num_arrays}).set_dtype(DType::kFloat32);
    })
    .cpu([](const SumSquaresParams&, KernelContext& context) {
      for (int i = 0; i < context.num_in(); ++i) {
        const Tensor& in = context.in(i);
        reduce_to({Reduction::sum_squares}, in, all_axes(in.ndim()),
                  {context.out(0).as<float>() + i, &single_shape(), DType::kFloat32}, context);
      }
    });

MX_OP(_contrib_allclose, CloseParams)
.doc("1 if |a - b| <= atol + rtol * |b| for all elements, else 0.")
    .input("a", "The first array.")
    .input("b", "The second array.")
    .param("rtol", &CloseParams::rtol, 1e-5f, "Relative tolerance.")
    .param("atol", &CloseParams::atol, 1e-8f, "Absolute tolerance.")
    .param("equal_nan", &CloseParams::equal_nan, true, "Whether NaN equals NaN.")
    .dtypes(kNumeric)
    .infer([](const CloseParams&, Infer& infer) {
      infer.in(0).same_as(infer.in(1));
      infer.out(0).set_shape(Shape::scalar()).set_dtype(DType::kUInt8);
    })
    .cpu([](const CloseParams& params, KernelContext& context) {
      const Tensor &a = context.in(0), &b = context.in(1);
      *context.out(0).as<uint8_t>() =
          dispatch_dtype<kNumeric>(a.dtype, "allclose", [&]<class T>(TypeTag<T>) {
            const T *pa = a.as<T>(), *pb = b.as<T>();
            return all_blocks(a.size(), [&](int64_t first, int64_t last) {
              int wrong = 0;
              for (int64_t i = first; i < last; ++i)
                wrong |= !params.are_close(static_cast<double>(pa[i]), static_cast<double>(pb[i]));
              return wrong == 0;
            });
          });
    });

[[maybe_unused]] const bool portable = mark_portable({"multi_sum_sq"});

}  // namespace
}  // namespace mxnet
