// SPDX-License-Identifier: Apache-2.0
// Between real numbers and their integers: quantize in its three forms, dequantize, requantize.
#include "op/quantize/convert.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/lock.h"
#include "op/op_builder.h"
#include "op/quantize/byte_loops.h"
#include "op/quantize/channels_last.h"
#include "op/run/copy_whole.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet::quantize {
namespace {

// out = nearest(in * factor + shift), of the type of `out`.
template <class From>
void scale_to_bytes(const From* in, const Tensor& out, float factor, float shift) {
  dispatch_dtype<kBytes>(out.dtype, "quantize", [&]<class To>(TypeTag<To>) {
    To* to = out.as<To>();
    const auto scale = scale_loop<From, To>();
    parallel_for(out.size(), 2.0, [&](int64_t first, int64_t last) {
      scale(in + first, to + first, last - first, factor, shift);
    });
  });
}

// Least and greatest of an array; zeros of an empty one.
template <class T>
std::pair<T, T> extremes(const T* x, int64_t n) {
  constexpr int64_t kLanes = 16;  // independent of each other, so that they become vectors
  if (n == 0) return {T{0}, T{0}};
  std::pair<T, T> result{x[0], x[0]};
  Mutex mutex;
  parallel_for(n, 1.0, [&](int64_t first, int64_t last) {
    std::array<T, kLanes> low, high;
    low.fill(x[first]);
    high.fill(x[first]);
    int64_t i = first;
    for (; i + kLanes <= last; i += kLanes) {
      for (std::size_t k = 0; k < kLanes; ++k) {
        const T value = x[i + static_cast<int64_t>(k)];
        low[k] = value < low[k] ? value : low[k];
        high[k] = value > high[k] ? value : high[k];
      }
    }
    for (; i < last; ++i) {
      low[0] = std::min(low[0], x[i]);
      high[0] = std::max(high[0], x[i]);
    }
    const MutexLock lock(mutex);
    result.first = std::min(result.first, *std::min_element(low.begin(), low.end()));
    result.second = std::max(result.second, *std::max_element(high.begin(), high.end()));
  });
  return result;
}

// ---- quantize ----------------------------------------------------------------------------------

void quantize_cpu(const QuantizeParams&, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const Range range = read_range(context, 1, 2);
  scale_to_bytes(in.as<float>(), out, steps_per_unit(limit(out.dtype), range.magnitude()), 0.0f);
  write_range(context, reported(out.dtype, range));
}

void quantize_v2_cpu(const QuantizeParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  auto range = calibrated(params.min_calib, params.max_calib, "_contrib_quantize_v2");
  if (in.dtype != DType::kFloat32) {
    // Integers already: they stand for themselves unless a range says otherwise.
    copy_whole(in, out);
    if (!range) {
      const float end = wide_limit(in.dtype);
      range = Range{in.dtype == DType::kUInt8 ? 0.0f : -end, end};
    }
    return write_range(context, *range);
  }
  if (!range) {
    const auto [low, high] = extremes(in.as<float>(), in.size());
    range = Range{low, high};
  }
  scale_to_bytes(in.as<float>(), out, steps_per_unit(wide_limit(out.dtype), range->magnitude()),
                 0.0f);
  write_range(context, reported(out.dtype, *range));
}

PreparedKernelRef prepare_quantize_v2(const OpDef&, const void* parsed, const Signature& signature,
                                      std::span<const LayoutRef> layouts) {
  const auto& params = *static_cast<const QuantizeParams*>(parsed);
  const auto range = calibrated(params.min_calib, params.max_calib, "_contrib_quantize_v2");
  if (!range) return nullptr;
  const DType type = signature.out[0].dtype;
  return prepare_quantize(steps_per_unit(wide_limit(type), range->magnitude()),
                          reported(type, *range), signature, layouts[0]);
}

void quantize_asym_cpu(const QuantizeParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  auto range = calibrated(params.min_calib, params.max_calib, "_contrib_quantize_asym");
  if (!range) {
    const auto [low, high] = extremes(in.as<float>(), in.size());
    range = Range{low, high};
  }
  const auto [scale, shift] = whole_range(*range);
  scale_to_bytes(in.as<float>(), out, scale, shift);
  write_range(context, {scale, shift});
}

// ---- back, and to fewer bits -------------------------------------------------------------------

void dequantize_cpu(const DequantizeParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  const float step = read_range(context, 1, 2).magnitude() / wide_limit(in.dtype);
  float* out = context.out(0).as<float>();
  parallel_for(in.size(), 1.0, [&](int64_t first, int64_t last) {
    widen_bytes(in.as<int8_t>() + first, in.dtype == DType::kInt8, out + first, last - first, step);
  });
}

void requantize_cpu(const QuantizeParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const float unit = read_range(context, 1, 2).magnitude() / kInt32;  // what one step is worth
  const auto range = calibrated(params.min_calib, params.max_calib, "_contrib_requantize");
  float end;
  if (range) {
    end = range->magnitude();
  } else {
    // The magnitude of INT32_MIN has no int32.
    const auto [low, high] = extremes(in.as<int32_t>(), in.size());
    end = unit * static_cast<float>(std::max(-int64_t{low}, int64_t{high}));
  }
  scale_to_bytes(in.as<int32_t>(), out, unit * steps_per_unit(limit(out.dtype), end), 0.0f);
  write_range(context, {out.dtype == DType::kUInt8 ? 0.0f : -end, end});
}

// ---- operators ---------------------------------------------------------------------------------

OpBuilder<QuantizeParams>& with_range(OpBuilder<QuantizeParams>& op) {
  return op
      .param("min_calib_range", &QuantizeParams::min_calib, std::nullopt,
             "Smallest real number, known beforehand; found in the array otherwise.")
      .param("max_calib_range", &QuantizeParams::max_calib, std::nullopt,
             "Largest real number, known beforehand.");
}

OpBuilder<QuantizeParams>& with_type(OpBuilder<QuantizeParams>& op, bool or_auto,
                                     const char* initial) {
  Choices<OutType> choices{{"int8", OutType::kInt8}, {"uint8", OutType::kUInt8}};
  if (or_auto) choices.emplace_back("auto", OutType::kAuto);
  return op.choice("out_type", &QuantizeParams::out_type, choices, initial,
                   "Type of the result; auto takes uint8 for a calibrated range without negative "
                   "numbers.");
}

void define_quantize() {
  OpBuilder<QuantizeParams> quantize("_contrib_quantize");
  quantize.doc("Integers for the real numbers of an array, whose range is given by two more.")
      .input("data", "Real numbers.")
      .input("min_range", "The smallest.")
      .input("max_range", "The largest.");
  with_type(quantize, false, "uint8")
      .outputs([](const QuantizeParams&) { return 3; })
      .infer([](const QuantizeParams& params, Infer& infer) {
        infer.in(0).set_dtype(DType::kFloat32);
        infer.out(0).same_shape(infer.in(0)).set_dtype(params.dtype());
        infer_range_inputs(infer, 1, 3);
        infer_range_outputs(infer);
      })
      .cpu(quantize_cpu)
      .zero_grad();
}

void define_quantize_v2() {
  OpBuilder<QuantizeParams> v2("_contrib_quantize_v2");
  v2.doc("Integers for the real numbers of an array; integers pass.")
      .input("data", "Real numbers, or integers already.");
  with_range(with_type(v2, true, "int8"))
      .outputs([](const QuantizeParams&) { return 3; })
      .inplace(0, 0)
      .infer([](const QuantizeParams& params, Infer& infer) {
        const DType type = infer.in(0).dtype();
        if (type != DType::kUnknown && type != DType::kFloat32 && type != DType::kInt8 &&
            type != DType::kUInt8)
          infer.in(0).fail("float32, int8 or uint8");
        infer.out(0).same_shape(infer.in(0)).set_dtype(params.dtype());
        if (type == DType::kUInt8 && params.dtype() == DType::kInt8)
          infer.in(0).fail("float32 or int8 for out_type int8");
        if (type == DType::kInt8 && params.dtype() == DType::kUInt8)
          infer.in(0).fail("float32 or uint8 for out_type uint8");
        infer_range_outputs(infer);
      })
      .cpu(quantize_v2_cpu)
      .zero_grad();
}

void define_quantize_asym() {
  OpBuilder<QuantizeParams> asym("_contrib_quantize_asym");
  asym.doc("uint8 for the real numbers of an array: x * scale + shift, with scale and shift.")
      .input("data", "Real numbers.");
  with_range(asym)
      .outputs([](const QuantizeParams&) { return 3; })
      .output("output")
      .output("scale")
      .output("shift")
      .infer([](const QuantizeParams&, Infer& infer) {
        infer.in(0).set_dtype(DType::kFloat32);
        infer.out(0).same_shape(infer.in(0)).set_dtype(DType::kUInt8);
        infer_range_outputs(infer);
      })
      .cpu(quantize_asym_cpu)
      .zero_grad();
}

void define_requantize() {
  OpBuilder<QuantizeParams> requantize("_contrib_requantize");
  requantize.doc("int32 results of quantized layers in 8 bits.")
      .input("data", "Integers that stand for real numbers.")
      .input("min_range", "What the smallest int32 stands for.")
      .input("max_range", "What the largest int32 stands for.");
  with_range(with_type(requantize, true, "int8"))
      .outputs([](const QuantizeParams&) { return 3; })
      .infer([](const QuantizeParams& params, Infer& infer) {
        infer.in(0).set_dtype(DType::kInt32);
        infer.out(0).same_shape(infer.in(0)).set_dtype(params.dtype());
        infer_range_inputs(infer, 1, 3);
        infer_range_outputs(infer);
      })
      .cpu(requantize_cpu)
      .zero_grad();
}

[[maybe_unused]] const bool defined = [] {
  define_quantize();
  define_quantize_v2();
  define_quantize_asym();
  define_requantize();
  return add_prepared_kernel("_contrib_quantize_v2", prepare_quantize_v2);
}();

MX_OP(_contrib_dequantize, DequantizeParams)
.doc("The real numbers that integers stand for.")
    .input("data", "Integers, int8 or uint8.")
    .input("min_range", "The smallest real number.")
    .input("max_range", "The largest.")
    .dtype_param("out_type", &DequantizeParams::out_type, DTypeSet::of(DType::kFloat32), false,
                 "float32", "Type of the result.")
    .infer([](const DequantizeParams& params, Infer& infer) {
      expect_bytes(infer.in(0));
      infer.out(0).same_shape(infer.in(0)).set_dtype(params.out_type);
      infer_range_inputs(infer, 1, 3);
    })
    .cpu(dequantize_cpu)
    .zero_grad();

}  // namespace
}  // namespace mxnet::quantize
