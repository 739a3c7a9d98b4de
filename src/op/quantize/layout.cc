// SPDX-License-Identifier: Apache-2.0
// Quantized operators that move integers and change little: flatten, concatenation, lookup, relu.
#include <algorithm>
#include <cstring>

#include "op/dispatch.h"
#include "op/numbered_names.h"
#include "op/op_builder.h"
#include "op/parallel.h"
#include "op/params.h"
#include "op/quantize/range.h"

namespace mxnet::quantize {
namespace {

constexpr DTypeSet kBytes = DTypeSet::of(DType::kInt8, DType::kUInt8);

void copy_bytes(const Tensor& in, const Tensor& out) {
  if (in.size() > 0) std::memmove(out.data, in.data, static_cast<std::size_t>(in.size()));
}

template <class P>
OpBuilder<P>& ranged_outputs(OpBuilder<P>& op) {
  return op.outputs([](const P&) { return 3; })
      .output("output")
      .output("min_output")
      .output("max_output");
}

// ---- flatten -----------------------------------------------------------------------------------

void flatten_cpu(const NoParams&, KernelContext& context) {
  const Range range = read_range(context, 1, 2);
  copy_bytes(context.in(0), context.out(0));
  write_range(context, range);
}

// ---- activation --------------------------------------------------------------------------------

enum class Act : int8_t { kRelu, kSigmoid, kSoftrelu, kSoftsign, kTanh };
struct ActParams {
  Act type;
};

// Bytes of uint8 are not negative and stay as they are, though the result is called int8: existing
// models read them so.
void act_cpu(const ActParams&, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const Range range = read_range(context, 1, 2);
  if (in.dtype == DType::kUInt8) {
    copy_bytes(in, out);
  } else {
    const int8_t* from = in.as<int8_t>();
    int8_t* to = out.as<int8_t>();
    parallel_for(in.size(), 1.0, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) to[i] = std::max(from[i], int8_t{0});
    });
  }
  write_range(context, range);
}

// ---- concatenation -----------------------------------------------------------------------------

// Inputs: n arrays, then for each its smallest and its largest real number.
void concat_cpu(const JoinParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const int n = params.num_args;
  Range range = read_range(context, n, n + 1);
  for (int i = 1; i < n; ++i) {
    const Range part = read_range(context, n + 2 * i, n + 2 * i + 1);
    range = {std::min(range.min, part.min), std::max(range.max, part.max)};
  }
  const int axis = normalize_axis(params.dim, out.ndim(), "_contrib_quantized_concat");
  const int64_t outer = out.shape().size(0, axis);
  const int64_t out_row = out.shape().size(axis, out.ndim());
  int64_t offset = 0;
  for (int i = 0; i < n; ++i) {
    const Tensor& in = context.in(i);
    const float end = read_range(context, n + 2 * i, n + 2 * i + 1).magnitude();
    const bool same = in.dtype == out.dtype && end == range.magnitude();
    const float scale =
        end / wide_limit(in.dtype) * steps_per_unit(wide_limit(out.dtype), range.magnitude());
    const int64_t row = in.shape().size(axis, in.ndim());
    dispatch_dtype<kBytes>(in.dtype, "quantized_concat", [&]<class From>(TypeTag<From>) {
      dispatch_dtype<kBytes>(out.dtype, "quantized_concat", [&]<class To>(TypeTag<To>) {
        for (int64_t o = 0; o < outer; ++o) {
          const From* from = in.as<From>() + o * row;
          To* to = out.as<To>() + o * out_row + offset;
          if (same) {
            std::copy_n(reinterpret_cast<const To*>(from), row, to);
          } else {
            for (int64_t k = 0; k < row; ++k)
              to[k] = nearest<To>(static_cast<float>(from[k]) * scale);
          }
        }
      });
    });
    offset += row;
  }
  write_range(context, range);
}

void infer_concat(const JoinParams& params, Infer& infer) {
  const int n = params.num_args;
  Shape shape;
  for (int i = 0; i < n; ++i) {
    if (infer.in(i).rank_known()) shape = Shape::unknown(infer.in(i).ndim());
  }
  if (shape.rank_known() && shape.ndim() > 0) {
    const int axis = infer.axis(params.dim, infer.in(0));
    int64_t total = 0;
    for (int i = 0; i < n; ++i) {
      Shape part = infer.in(i).shape();
      if (!part.rank_known()) part = Shape::unknown(shape.ndim());
      if (part.ndim() != shape.ndim())
        infer.in(i).fail(std::to_string(shape.ndim()) + " dimensions");
      total = total < 0 || part[axis] < 0 ? -1 : total + part[axis];
      part[axis] = -1;
      infer.out(0).set_shape(part);
    }
    infer.out(0).set_dim(axis, total);
    for (int i = 0; i < n; ++i) {
      Shape common = infer.out(0).shape();
      common[axis] = infer.in(i).rank_known() ? infer.in(i).dim(axis) : -1;
      infer.in(i).set_shape(common);
    }
  }
  bool known = true, positive = true;
  for (int i = 0; i < n; ++i) {
    expect_bytes(infer.in(i));
    known = known && infer.in(i).dtype() != DType::kUnknown;
    positive = positive && infer.in(i).dtype() == DType::kUInt8;
  }
  if (known) infer.out(0).set_dtype(positive ? DType::kUInt8 : DType::kInt8);
  infer_range_inputs(infer, n, 3 * n);
  infer_range_outputs(infer);
}

std::vector<std::string> concat_names(const JoinParams& params) {
  std::vector<std::string> names = numbered_names("arg", params.num_args);
  for (int i = 0; i < params.num_args; ++i) {
    for (const char* end : {"_min", "_max"}) names.push_back("arg" + std::to_string(i) + end);
  }
  return names;
}

// ---- lookup ------------------------------------------------------------------------------------

void embedding_cpu(const EmbeddingParams& params, KernelContext& context) {
  const Tensor &index = context.in(0), &weight = context.in(1);
  const int64_t width = params.output_dim, rows = params.input_dim;
  const int8_t* table = weight.as<int8_t>();
  int8_t* out = context.out(0).as<int8_t>();
  dispatch_dtype<kNumeric>(index.dtype, "_contrib_quantized_embedding", [&]<class T>(TypeTag<T>) {
    const T* at = index.as<T>();
    parallel_for(
        index.size(), static_cast<double>(width) / 8,
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) {
            // The nearest row for what lies outside; NaN is row 0.
            const double row = static_cast<double>(static_cast<ComputeType<T>>(at[i]));
            const int64_t k =
                row > 0 ? static_cast<int64_t>(std::min(row, static_cast<double>(rows - 1))) : 0;
            std::copy_n(table + k * width, width, out + i * width);
          }
        },
        1);
  });
  write_range(context, read_range(context, 2, 3));
}

// ---- operators ---------------------------------------------------------------------------------

[[maybe_unused]] const bool defined = [] {
  OpBuilder<NoParams> flatten("_contrib_quantized_flatten");
  flatten.doc("Rows of all dimensions but the first.")
      .input("data", "Integers.")
      .input("min_data", "Smallest real number of the data.")
      .input("max_data", "Largest real number of the data.")
      .lenient()
      .inplace(0, 0)
      .infer([](const NoParams&, Infer& infer) {
        InferArg data = infer.in(0);
        expect_bytes(data);
        infer.out(0).same_dtype(data);
        infer_range_inputs(infer, 1, 3);
        infer_range_outputs(infer);
        if (!data.rank_known()) return;
        if (data.ndim() < 1) data.fail("one or more dimensions");
        infer.out(0).set_shape(
            {data.dim(0), data.known() ? data.shape().size(1, data.ndim()) : -1});
      })
      .cpu(flatten_cpu)
      .zero_grad();
  ranged_outputs(flatten);

  OpBuilder<ActParams> act("_contrib_quantized_act");
  act.doc("Zero for negative numbers; the only activation that integers have.")
      .input("data", "Integers, int8 or uint8.")
      .input("min_data", "Smallest real number of the data.")
      .input("max_data", "Largest real number of the data.")
      .choice("act_type", &ActParams::type,
              {{"relu", Act::kRelu},
               {"sigmoid", Act::kSigmoid},
               {"softrelu", Act::kSoftrelu},
               {"softsign", Act::kSoftsign},
               {"tanh", Act::kTanh}},
              nullptr, "Which; others than relu are refused.")
      .infer([](const ActParams& params, Infer& infer) {
        if (params.type != Act::kRelu) infer.fail("given another act_type, expected relu");
        expect_bytes(infer.in(0));
        infer.in(0).same_shape(infer.out(0));
        infer.out(0).set_dtype(DType::kInt8);
        infer_range_inputs(infer, 1, 3);
        infer_range_outputs(infer);
      })
      .cpu(act_cpu);
  ranged_outputs(act);

  OpBuilder<JoinParams> concat("_contrib_quantized_concat");
  concat.doc("Arrays one after another, brought to one range.")
      .inputs("data", "Arrays, then the smallest and the largest real number of each.",
              &JoinParams::num_args, "num_args")
      .num_inputs([](const JoinParams& params) { return 3 * params.num_args; })
      .input_names(concat_names)
      .param("num_args", &JoinParams::num_args, "Number of arrays.")
      .at_least<int32_t>(1)
      .param("dim", &JoinParams::dim, 1, "The dimension in which they follow each other.")
      .infer(infer_concat)
      .cpu(concat_cpu)
      .zero_grad();
  ranged_outputs(concat);

  OpBuilder<EmbeddingParams> embedding("_contrib_quantized_embedding");
  embedding.doc("Rows of a table of int8.")
      .input("data", "Numbers of rows; those outside of the table take its nearest row.")
      .input("weight", "The table.")
      .input("min_weight", "Smallest real number of the table.")
      .input("max_weight", "Largest real number of the table.")
      .param("input_dim", &EmbeddingParams::input_dim, "Rows of the table.")
      .at_least<int32_t>(1)
      .param("output_dim", &EmbeddingParams::output_dim, "Numbers in a row.")
      .at_least<int32_t>(1)
      .dtype_param("dtype", &EmbeddingParams::dtype, kNumeric, false, "float32",
                   "Of the layer that was quantized; the table is int8.")
      .param("sparse_grad", &EmbeddingParams::sparse_grad, false,
             "Of the layer that was quantized.")
      .infer([](const EmbeddingParams& params, Infer& infer) {
        infer.in(1).set_shape({params.input_dim, params.output_dim}).set_dtype(DType::kInt8);
        infer.out(0).set_dtype(DType::kInt8);
        infer_range_inputs(infer, 2, 4);
        infer_range_outputs(infer);
        if (!infer.in(0).rank_known()) return;
        Shape shape = infer.in(0).shape();
        shape.push_back(params.output_dim);
        infer.out(0).set_shape(shape);
      })
      .cpu(embedding_cpu)
      .zero_grad();
  ranged_outputs(embedding);
  return true;
}();

}  // namespace
}  // namespace mxnet::quantize
