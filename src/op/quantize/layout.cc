// SPDX-License-Identifier: Apache-2.0
// Quantized operators that move integers and change little: flatten, lookup, relu.
#include <algorithm>
#include <cstring>

#include "op/op_builder.h"
#include "op/params/dense_and_sparse.h"
#include "op/quantize/range.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet::quantize {
namespace {

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
    parallel_for(in.size(), 1.0, [&](int64_t first, int64_t last) {
      // Bytes may alias whatever lies around, unless it is said that they do not.
      const int8_t* __restrict from = in.as<int8_t>() + first;
      int8_t* __restrict to = out.as<int8_t>() + first;
      const int64_t n = last - first;
      for (int64_t i = 0; i < n; ++i) to[i] = from[i] < 0 ? int8_t{0} : from[i];
    });
  }
  write_range(context, range);
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

void define_flatten() {
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
}

void define_act() {
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
}

void define_embedding() {
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
}

[[maybe_unused]] const bool defined = [] {
  define_flatten();
  define_act();
  define_embedding();
  return true;
}();

}  // namespace
}  // namespace mxnet::quantize
