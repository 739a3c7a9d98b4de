// SPDX-License-Identifier: Apache-2.0
// The table of conversions: every type to every type, one loop each.
#include "op/loops/as_type.h"

#include "base/simd.h"
#include "op/loops/convert.h"
#include "op/run/dispatch.h"
#include "op/run/gpu_table.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/loops/as_type.inc"
#include "base/simd_targets.h"

// Numbers of 32 and 64 bits, also out of bytes: those conversions that programs make of large
// arrays.
template <class T>
inline constexpr bool kIsWideNumber = std::is_arithmetic_v<T> && sizeof(T) >= 4;

// A template argument list with a comma cannot stand in a macro's argument.
#define MX_LOOPS convert_numbers<From, To>
template <class From, class To>
void convert_block(const From* from, To* to, int64_t n) {
  constexpr bool kBothWide = kIsWideNumber<From> && kIsWideNumber<To>;
  // Only AVX-512 has instructions for int64.
  constexpr bool kFromByte = std::is_same_v<From, uint8_t> || std::is_same_v<From, int8_t>;
  constexpr bool kByWidest =
      kFromByte ? kIsWideNumber<To>
                : kBothWide && (std::is_same_v<From, int64_t> || std::is_same_v<To, int64_t>);
  if constexpr (kByWidest) {
    MX_SIMD_CALL(MX_LOOPS)(from, to, n);
  } else if constexpr (kBothWide) {
    MX_SIMD_CALL_FOR_TRAFFIC(MX_LOOPS)(from, to, n);
  } else {
    convert_array(from, to, n);
  }
}
#undef MX_LOOPS

// Whether elements keep their bits: bytes but for those that become bool.
bool keeps_bits(DType from, DType to) {
  return from == to || (dtype_size(from) == 1 && dtype_size(to) == 1 && to != DType::kBool);
}

}  // namespace

void convert_tensor(const Tensor& from, const Tensor& to, KernelContext& context) {
  const auto bytes = static_cast<std::size_t>(to.size()) * dtype_size(to.dtype);
  if (keeps_bits(from.dtype, to.dtype)) return copy_memory(context, from.data, to.data, bytes);
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->convert(context.stream()->native(), from, to);
  // Elements of bool are the 0 and 1 of uint8, and bytes are zero or not.
  const bool as_bytes =
      from.dtype == DType::kBool || (from.dtype == DType::kInt8 && to.dtype == DType::kBool);
  const DType type = as_bytes ? DType::kUInt8 : from.dtype;
  dispatch_dtype<kNumeric>(type, "Cast", [&]<class From>(TypeTag<From>) {
    dispatch_dtype(to.dtype, "Cast", [&]<class To>(TypeTag<To>) {
      parallel_for(from.size(), cost_of_moving(sizeof(From) + sizeof(To)),
                   [&](int64_t first, int64_t last) {
                     convert_block(from.as<From>() + first, to.as<To>() + first, last - first);
                   });
    });
  });
}

Tensor as_type(const Tensor& in, DType dtype, KernelContext& context) {
  if (in.dtype == dtype) return in;
  const auto bytes = static_cast<std::size_t>(in.size()) * dtype_size(dtype);
  const Tensor copy{context.workspace(bytes), in.shape_ptr, dtype};
  convert_tensor(in, copy, context);
  return copy;
}

}  // namespace mxnet
