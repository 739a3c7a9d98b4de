// SPDX-License-Identifier: Apache-2.0
// Kernels between real numbers and their integers (op/quantize/), and of what needs no product of
// matrices. Ranges lie on the device: a launch of one thread makes factors of them.
#include "op/params/batch_norm_params.h"
#include "op/params/dense_and_sparse.h"
#include "op/quantize/arithmetic.h"
#include "op/quantize/convert.h"
#include "plugin/cuda/extremes.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/quantized.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace quantize;  // NOLINT(google-build-using-namespace): whose kernels these are

// A range that is known before, or that lies on the device.
struct MaybeKnown {
  bool known;
  Range range;
  RangeEnds found;
  MX_DEVICE Range operator()() const { return known ? range : found(); }
};

// --- to bytes ------------------------------------------------------------------------------------

// out = nearest(in * scale + shift)
template <class From, class To>
struct ToBytes {
  const Affine* affine;
  const From* in;
  To* out;
  MX_DEVICE void operator()(int64_t i) const {
    out[i] = nearest<To>(static_cast<float>(in[i]) * affine->scale + affine->shift);
  }
};
template <class From>
void to_bytes(NativeStream* stream, const Affine* affine, const Tensor& in, const Tensor& out) {
  for_dtype<kBytes.bits_>(out.dtype, "quantize", [&](auto type) {
    using To = decltype(type);
    for_each(stream, "quantize", in.size(), ToBytes<From, To>{affine, in.as<From>(), out.as<To>()});
  });
}

struct FindScale {
  MaybeKnown range;
  float steps;
  DType out_type;
  bool whole;  // uint8 from one end of the range to the other
  Affine* affine;
  RangeEnds out;
  MX_DEVICE void operator()(int64_t) const {
    const Range found = range();
    if (whole) {
      *affine = whole_range(found);
      return out.write({affine->scale, affine->shift});
    }
    *affine = {steps_per_unit(steps, found.magnitude()), 0.0f};
    out.write(reported(out_type, found));
  }
};
void find_and_scale(KernelContext& context, const MaybeKnown& range, float steps, bool whole) {
  const Tensor &in = context.in(0), &out = context.out(0);
  NativeStream* const stream = context.stream()->native();
  Affine* const affine = context.workspace_of<Affine>(1);
  for_each(stream, "quantize", 1,
           FindScale{range, steps, out.dtype, whole, affine, ends_out(context)});
  to_bytes<float>(stream, affine, in, out);
}

void quantize_given(const QuantizeParams&, KernelContext& context) {
  find_and_scale(context, {false, {}, ends_in(context, 1)}, limit(context.out(0).dtype), false);
}

MaybeKnown range_of(const std::optional<Range>& known, KernelContext& context) {
  if (known) return {true, *known, {}};
  float* const ends = extremes<float>(context.in(0), context);
  return {false, {}, {ends, ends + 1}};
}

void quantize_v2(const QuantizeParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  NativeStream* const stream = context.stream()->native();
  const auto known = calibrated(params.min_calib, params.max_calib, "_contrib_quantize_v2");
  if (in.dtype == DType::kFloat32)
    return find_and_scale(context, range_of(known, context), wide_limit(context.out(0).dtype),
                          false);
  // Integers already: they stand for themselves unless a range says otherwise.
  const float end = wide_limit(in.dtype);
  const Range range = known.value_or(Range{in.dtype == DType::kUInt8 ? 0.0f : -end, end});
  convert(stream, in, context.out(0));
  fill(stream, context.out(1), range.min);
  fill(stream, context.out(2), range.max);
}

void quantize_whole(const QuantizeParams& params, KernelContext& context) {
  const auto known = calibrated(params.min_calib, params.max_calib, "_contrib_quantize_asym");
  find_and_scale(context, range_of(known, context), 0, true);
}

struct FindRescale {
  RangeEnds in;
  bool known;
  float end;
  const int32_t* extremes;
  DType out_type;
  Affine* affine;
  RangeEnds out;
  MX_DEVICE void operator()(int64_t) const {
    const float unit = in().magnitude() / kInt32;  // what one step is worth
    float most = end;
    if (!known) {
      // The magnitude of INT32_MIN has no int32.
      const int64_t below = -int64_t{extremes[0]}, above = extremes[1];
      most = unit * static_cast<float>(below > above ? below : above);
    }
    *affine = {unit * steps_per_unit(limit(out_type), most), 0.0f};
    out.write({out_type == DType::kUInt8 ? 0.0f : -most, most});
  }
};
void requantize(const QuantizeParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  NativeStream* const stream = context.stream()->native();
  const auto known = calibrated(params.min_calib, params.max_calib, "_contrib_requantize");
  Affine* const affine = context.workspace_of<Affine>(1);
  for_each(stream, "_contrib_requantize", 1,
           FindRescale{ends_in(context, 1), known.has_value(), known ? known->magnitude() : 0.0f,
                       known ? nullptr : extremes<int32_t>(in, context), out.dtype, affine,
                       ends_out(context)});
  to_bytes<int32_t>(stream, affine, in, out);
}

// --- and back ------------------------------------------------------------------------------------

struct FromBytes {
  RangeEnds range;
  Numbers<float> in;
  float* out;
  MX_DEVICE void operator()(int64_t i) const {
    out[i] = in(i) * (range().magnitude() / wide_limit(in.dtype));
  }
};
void dequantize(const DequantizeParams&, KernelContext& context) {
  const Tensor& in = context.in(0);
  for_each(context.stream()->native(), "_contrib_dequantize", in.size(),
           FromBytes{ends_in(context, 1), {in.data, in.dtype}, context.out(0).as<float>()});
}

// --- bytes that stay what they are ---------------------------------------------------------------

// The bytes as they are; the range behind `low`.
void pass(KernelContext& context, const Tensor& in, int low) {
  NativeStream* const stream = context.stream()->native();
  const Tensor& out = context.out(0);
  convert(stream, {in.data, out.shape_ptr, out.dtype}, out);
  for (int i = 0; i < 2; ++i) convert(stream, context.in(low + i), context.out(1 + i));
}
void flatten(const void*, KernelContext& context) { pass(context, context.in(0), 1); }

struct ClearNegative {
  int8_t* bytes;
  MX_DEVICE void operator()(int64_t i) const {
    if (bytes[i] < 0) bytes[i] = 0;
  }
};
// Bytes of uint8 are not negative and stay as they are, though the result is called int8.
void act(const void* params, KernelContext& context) {
  flatten(params, context);
  if (context.in(0).dtype == DType::kUInt8) return;
  const Tensor& out = context.out(0);
  for_each(context.stream()->native(), "_contrib_quantized_act", out.size(),
           ClearNegative{out.as<int8_t>()});
}

struct LookUp {
  Numbers<double> rows;
  const int8_t* table;
  int8_t* out;
  Divider width;
  int64_t count;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t at = width.quotient(i);
    const double row = rows(at), last = static_cast<double>(count - 1);
    // The nearest row for what lies outside; NaN is row 0.
    const int64_t k = row > 0 ? static_cast<int64_t>(row < last ? row : last) : 0;
    out[i] = table[(k - at) * width.by() + i];
  }
};
void embedding(const EmbeddingParams& params, KernelContext& context) {
  NativeStream* const stream = context.stream()->native();
  const Tensor &rows = context.in(0), &out = context.out(0);
  for_each(stream, "_contrib_quantized_embedding", out.size(),
           LookUp{{rows.data, rows.dtype},
                  context.in(1).as<int8_t>(),
                  out.as<int8_t>(),
                  Divider(params.output_dim),
                  params.input_dim});
  for (int i = 0; i < 2; ++i) convert(stream, context.in(2 + i), context.out(1 + i));
}

// --- sums, products, batch normalisation ---------------------------------------------------------

struct FindSum {
  RangeEnds lhs, rhs;
  DType lhs_type, rhs_type, out_type;
  bool known;
  Range range;
  SumScales* scales;
  RangeEnds out;
  MX_DEVICE void operator()(int64_t) const {
    *scales = SumScales(lhs(), lhs_type, rhs(), rhs_type, known ? &range : nullptr, out_type);
    out.write(scales->range);
  }
};
struct Sum {
  const SumScales* scales;
  Numbers<int32_t> lhs, rhs;
  void* out;
  DType out_type;
  MX_DEVICE void operator()(int64_t i) const {
    const float sum = (*scales)(lhs(i), rhs(i));
    if (out_type == DType::kInt32)
      static_cast<int32_t*>(out)[i] = nearest_int32(sum);
    else if (out_type == DType::kUInt8)
      static_cast<uint8_t*>(out)[i] = nearest<uint8_t>(sum);
    else
      static_cast<int8_t*>(out)[i] = nearest<int8_t>(sum);
  }
};
void add(const BinaryParams& params, KernelContext& context) {
  const Tensor &lhs = context.in(0), &rhs = context.in(1), &out = context.out(0);
  NativeStream* const stream = context.stream()->native();
  const auto known =
      calibrated(params.min_calib, params.max_calib, "_contrib_quantized_elemwise_add");
  auto* const scales = static_cast<SumScales*>(context.workspace(sizeof(SumScales)));
  for_each(stream, "_contrib_quantized_elemwise_add", 1,
           FindSum{ends_in(context, 2), ends_in(context, 4), lhs.dtype, rhs.dtype, out.dtype,
                   known.has_value(), known.value_or(Range{}), scales, ends_out(context)});
  for_each(stream, "_contrib_quantized_elemwise_add", out.size(),
           Sum{scales, {lhs.data, lhs.dtype}, {rhs.data, rhs.dtype}, out.data, out.dtype});
}

struct Product {
  RangeEnds lhs_range, rhs_range;
  Numbers<int32_t> lhs, rhs;
  float per_unit;  // of int8 results
  void* out;
  DType out_type;
  MX_DEVICE float lhs_step() const { return lhs_range().magnitude() / limit(lhs.dtype); }
  MX_DEVICE float rhs_step() const { return rhs_range().magnitude() / limit(rhs.dtype); }
  MX_DEVICE void operator()(int64_t i) const {
    const float step = lhs_step() * rhs_step();
    const int32_t product = lhs(i) * rhs(i);
    if (out_type == DType::kFloat32) {
      static_cast<float*>(out)[i] = static_cast<float>(product) * step;
    } else if (out_type == DType::kInt8) {
      static_cast<int8_t*>(out)[i] =
          nearest<int8_t>(static_cast<float>(product) * (step * per_unit));
    } else {
      static_cast<int32_t*>(out)[i] = product;
    }
  }
};
// Of int32 results, of which there may be none.
struct ProductRange {
  Product product;
  RangeEnds out;
  MX_DEVICE void operator()(int64_t) const {
    out.write(product_range(product.lhs_step(), product.rhs_step()));
  }
};
void multiply(const BinaryParams& params, KernelContext& context) {
  const Tensor &lhs = context.in(0), &rhs = context.in(1), &out = context.out(0);
  NativeStream* const stream = context.stream()->native();
  const auto known =
      calibrated(params.min_calib, params.max_calib, "_contrib_quantized_elemwise_mul");
  const Product product{ends_in(context, 2),
                        ends_in(context, 4),
                        {lhs.data, lhs.dtype},
                        {rhs.data, rhs.dtype},
                        known ? steps_per_unit(kInt8, known->magnitude()) : 0.0f,
                        out.data,
                        out.dtype};
  for_each(stream, "_contrib_quantized_elemwise_mul", out.size(), product);
  if (params.float_output) return;
  if (!known)
    return for_each(stream, "_contrib_quantized_elemwise_mul", 1,
                    ProductRange{product, ends_out(context)});
  fill(stream, context.out(1), known->min);
  fill(stream, context.out(2), known->max);
}

struct NormalizeBytes {
  RangeEnds range;
  Numbers<float> in;
  const float *gamma, *beta, *mean, *variance;
  int8_t* out;
  int64_t channels, inner;
  float eps, per_unit;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t c = i / inner % channels;
    const float step = range().magnitude() / wide_limit(in.dtype);
    const float slope = gamma[c] / ::sqrtf(variance[c] + eps);
    const float shift = (beta[c] - mean[c] * slope) * per_unit;
    out[i] = nearest<int8_t>(in(i) * (slope * step * per_unit) + shift);
  }
};
// Inputs: data, gamma, beta, mean, variance, ends of the data. Always by the moving statistics.
void batch_norm_bytes(const BatchNormParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  NativeStream* const stream = context.stream()->native();
  const auto range =
      calibrated(params.min_calib_range, params.max_calib_range, "_contrib_quantized_batch_norm");
  for_each(stream, "_contrib_quantized_batch_norm", in.size(),
           NormalizeBytes{ends_in(context, 5),
                          {in.data, in.dtype},
                          context.in(1).as<float>(),
                          context.in(2).as<float>(),
                          context.in(3).as<float>(),
                          context.in(4).as<float>(),
                          context.out(0).as<int8_t>(),
                          in.dim(1),
                          in.shape().size(2, in.ndim()),
                          static_cast<float>(params.eps),
                          steps_per_unit(kWideInt8, range->magnitude())});
  fill(stream, context.out(1), range->min);
  fill(stream, context.out(2), range->max);
}

}  // namespace

void add_quantized(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<QuantizeParams, quantize_given>("_contrib_quantize"));
  rows->push_back(kernel_row<QuantizeParams, quantize_v2>("_contrib_quantize_v2"));
  rows->push_back(kernel_row<QuantizeParams, quantize_whole>("_contrib_quantize_asym"));
  rows->push_back(kernel_row<QuantizeParams, requantize>("_contrib_requantize"));
  rows->push_back(kernel_row<DequantizeParams, dequantize>("_contrib_dequantize"));
  rows->push_back({"_contrib_quantized_flatten", flatten, nullptr});
  rows->push_back({"_contrib_quantized_act", act, nullptr});
  rows->push_back(kernel_row<EmbeddingParams, embedding>("_contrib_quantized_embedding"));
  rows->push_back(kernel_row<BinaryParams, add>("_contrib_quantized_elemwise_add"));
  rows->push_back(kernel_row<BinaryParams, multiply>("_contrib_quantized_elemwise_mul"));
  rows->push_back(kernel_row<BatchNormParams, batch_norm_bytes>("_contrib_quantized_batch_norm"));
}

}  // namespace cuda
}  // namespace mxnet
