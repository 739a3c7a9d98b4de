// SPDX-License-Identifier: Apache-2.0
// Sums, products and batch normalisation of quantized arrays, element by element.
#include "op/quantize/arithmetic.h"

#include <cmath>

#include "base/error.h"
#include "op/op_builder.h"
#include "op/params/batch_norm_params.h"
#include "op/quantize/byte_loops.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet::quantize {
namespace {

// fn(lhs, rhs, index) over two arrays of bytes of any two types.
template <class F>
void each_pair(const KernelContext& context, const F& fn) {
  const Tensor &lhs = context.in(0), &rhs = context.in(1);
  dispatch_dtype<kBytes>(lhs.dtype, "quantized_elemwise", [&]<class L>(TypeTag<L>) {
    dispatch_dtype<kBytes>(rhs.dtype, "quantized_elemwise", [&]<class R>(TypeTag<R>) {
      const L* a = lhs.as<L>();
      const R* b = rhs.as<R>();
      parallel_for(lhs.size(), 4.0, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) fn(a[i], b[i], i);
      });
    });
  });
}

void add_cpu(const BinaryParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const auto range =
      calibrated(params.min_calib, params.max_calib, "_contrib_quantized_elemwise_add");
  const SumScales sum(read_range(context, 2, 3), context.in(0).dtype, read_range(context, 4, 5),
                      context.in(1).dtype, range ? &*range : nullptr, out.dtype);
  const Tensor &lhs = context.in(0), &rhs = context.in(1);
  constexpr DTypeSet kResults = DTypeSet::of(DType::kInt8, DType::kUInt8, DType::kInt32);
  dispatch_dtype<kResults>(out.dtype, "quantized_elemwise_add", [&]<class T>(TypeTag<T>) {
    parallel_for(out.size(), 4.0, [&](int64_t first, int64_t last) {
      sum_bytes(lhs.as<int8_t>() + first, lhs.dtype == DType::kInt8, rhs.as<int8_t>() + first,
                rhs.dtype == DType::kInt8, out.as<T>() + first, last - first, {sum.lhs, sum.rhs});
    });
  });
  write_range(context, sum.range);
}

void multiply_cpu(const BinaryParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const float lhs_step = read_range(context, 2, 3).magnitude() / limit(context.in(0).dtype);
  const float rhs_step = read_range(context, 4, 5).magnitude() / limit(context.in(1).dtype);
  const auto range =
      calibrated(params.min_calib, params.max_calib, "_contrib_quantized_elemwise_mul");
  const auto product = [](auto a, auto b) { return int32_t{a} * int32_t{b}; };
  if (params.float_output) {
    float* to = out.as<float>();
    const float step = lhs_step * rhs_step;
    each_pair(context,
              [=](auto a, auto b, int64_t i) { to[i] = static_cast<float>(product(a, b)) * step; });
  } else if (range) {
    int8_t* to = out.as<int8_t>();
    const float scale = lhs_step * rhs_step * steps_per_unit(kInt8, range->magnitude());
    each_pair(context, [=](auto a, auto b, int64_t i) {
      to[i] = nearest<int8_t>(static_cast<float>(product(a, b)) * scale);
    });
    write_range(context, *range);
  } else {
    int32_t* to = out.as<int32_t>();
    each_pair(context, [=](auto a, auto b, int64_t i) { to[i] = product(a, b); });
    write_product_range(context, lhs_step, rhs_step);
  }
}

void infer_binary(Infer& infer) {
  infer.in(0).same_shape(infer.in(1)).same_shape(infer.out(0));
  infer.in(1).same_shape(infer.out(0));
  for (int i = 0; i < 2; ++i) expect_bytes(infer.in(i));
  infer_range_inputs(infer, 2, 6);
}

OpBuilder<BinaryParams> binary(const char* name, const char* doc) {
  OpBuilder<BinaryParams> op(name);
  op.doc(doc)
      .input("lhs", "The left array, int8 or uint8.")
      .input("rhs", "The right array.")
      .input("lhs_min", "Smallest real number of the left.")
      .input("lhs_max", "Largest real number of the left.")
      .input("rhs_min", "Smallest real number of the right.")
      .input("rhs_max", "Largest real number of the right.")
      .param("min_calib_range", &BinaryParams::min_calib, std::nullopt,
             "Smallest result, known beforehand: the result then has 8 bits, not 32.")
      .param("max_calib_range", &BinaryParams::max_calib, std::nullopt,
             "Largest result, known beforehand.")
      .output("output")
      .output("min_output")
      .output("max_output");
  return op;
}

[[maybe_unused]] const bool defined = [] {
  binary("_contrib_quantized_elemwise_add", "Sums of quantized numbers.")
      .outputs([](const BinaryParams&) { return 3; })
      .infer([](const BinaryParams& params, Infer& infer) {
        infer_binary(infer);
        infer_range_outputs(infer);
        const DType lhs = infer.in(0).dtype(), rhs = infer.in(1).dtype();
        if (!params.is_calibrated()) {
          infer.out(0).set_dtype(DType::kInt32);
        } else if (lhs != DType::kUnknown && rhs != DType::kUnknown) {
          const bool positive = lhs == DType::kUInt8 && rhs == DType::kUInt8;
          infer.out(0).set_dtype(positive ? DType::kUInt8 : DType::kInt8);
        }
      })
      .cpu(add_cpu);
  binary("_contrib_quantized_elemwise_mul", "Products of quantized numbers.")
      .param("enable_float_output", &BinaryParams::float_output, false,
             "Whether the result is real numbers, without a range.")
      .outputs([](const BinaryParams& params) { return params.float_output ? 1 : 3; })
      .infer([](const BinaryParams& params, Infer& infer) {
        infer_binary(infer);
        if (params.float_output) {
          infer.out(0).set_dtype(DType::kFloat32);
          return;
        }
        infer.out(0).set_dtype(params.is_calibrated() ? DType::kInt8 : DType::kInt32);
        infer_range_outputs(infer);
      })
      .cpu(multiply_cpu)
      .zero_grad();
  return true;
}();

// ---- batch normalisation -----------------------------------------------------------------------

// Inputs: data, gamma, beta, mean, variance, ends of the data. Always by the moving statistics.
void batch_norm_cpu(const BatchNormParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const auto range =
      calibrated(params.min_calib_range, params.max_calib_range, "_contrib_quantized_batch_norm");
  MX_ASSERT(range);  // the rule of inference has asked
  const float step = read_range(context, 5, 6).magnitude() / wide_limit(in.dtype);
  const float per_unit = steps_per_unit(kWideInt8, range->magnitude());
  const float *gamma = context.in(1).as<float>(), *beta = context.in(2).as<float>();
  const float *mean = context.in(3).as<float>(), *variance = context.in(4).as<float>();
  const int64_t channels = in.dim(1), inner = in.shape().size(2, in.ndim());
  dispatch_dtype<DTypeSet::of(DType::kInt8, DType::kUInt8)>(
      in.dtype, "_contrib_quantized_batch_norm", [&]<class T>(TypeTag<T>) {
        parallel_for(
            in.dim(0) * channels, 2.0 * static_cast<double>(inner),
            [&](int64_t first, int64_t last) {
              for (int64_t row = first; row < last; ++row) {
                const int64_t c = row % channels;
                const auto eps = static_cast<float>(params.eps);
                const float slope = gamma[c] / std::sqrt(variance[c] + eps);
                const float scale = slope * step * per_unit;
                const float shift = (beta[c] - mean[c] * slope) * per_unit;
                const T* from = in.as<T>() + row * inner;
                int8_t* to = out.as<int8_t>() + row * inner;
                for (int64_t i = 0; i < inner; ++i)
                  to[i] = nearest<int8_t>(static_cast<float>(from[i]) * scale + shift);
              }
            },
            1);
      });
  write_range(context, *range);
}

void infer_batch_norm(const BatchNormParams& params, Infer& infer) {
  if (params.axis != 1) infer.fail("given axis " + std::to_string(params.axis) + ", expected 1");
  if (!params.min_calib_range || !params.max_calib_range)
    infer.fail("given no range of the result, expected min_calib_range and max_calib_range");
  expect_bytes(infer.in(0));
  infer.out(0).same_shape(infer.in(0)).set_dtype(DType::kInt8);
  for (int i = 1; i < 5; ++i) {
    infer.in(i).set_dtype(DType::kFloat32);
    if (!infer.in(0).rank_known()) continue;
    if (infer.in(0).ndim() < 2) infer.in(0).fail("two or more dimensions");
    infer.in(i).set_shape({infer.in(0).dim(1)});
  }
  infer_range_inputs(infer, 5, 7);
  infer_range_outputs(infer);
}

MX_OP(_contrib_quantized_batch_norm, BatchNormParams)
.doc("Batch normalisation of bytes by the moving statistics, into a calibrated range.")
    .input("data", "Integers, channels in dimension 1.")
    .input("gamma", "Scale of each channel, used whatever fix_gamma says.")
    .input("beta", "Offset of each channel.")
    .input("moving_mean", "Mean of each channel.")
    .input("moving_var", "Variance of each channel.")
    .input("min_data", "Smallest real number of the data.")
    .input("max_data", "Largest real number of the data.")
    .param("eps", &BatchNormParams::eps, 0.0010000000474974513, "Added to variances.")
    .param("momentum", &BatchNormParams::momentum, 0.9f,
           "Without meaning here: statistics do not move.")
    .param("fix_gamma", &BatchNormParams::fix_gamma, true,
           "Of the layer that was quantized, whose gamma is one already where this is true.")
    .param("use_global_stats", &BatchNormParams::use_global_stats, false,
           "Of the layer that was quantized; the moving statistics are used always.")
    .param("output_mean_var", &BatchNormParams::output_mean_var, false,
           "Of the layer that was quantized; there are no such outputs.")
    .param("axis", &BatchNormParams::axis, 1, "Dimension of channels; only 1.")
    .param("cudnn_off", &BatchNormParams::cudnn_off, false, "Whether cuDNN is not used, for GPUs.")
    .param("min_calib_range", &BatchNormParams::min_calib_range, std::nullopt, "Smallest result.")
    .param("max_calib_range", &BatchNormParams::max_calib_range, std::nullopt, "Largest result.")
    .outputs([](const BatchNormParams&) { return 3; })
    .output("output")
    .output("min_output")
    .output("max_output")
    .states({3, 4})
    .infer(infer_batch_norm)
    .cpu(batch_norm_cpu)
    .zero_grad();

}  // namespace
}  // namespace mxnet::quantize
