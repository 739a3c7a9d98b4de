// SPDX-License-Identifier: Apache-2.0
// The fused recurrent operator: its description, and the conversion of half types, which are
// computed in float.
#include <fmt/format.h>

#include <cstring>

#include <vector>

#include "base/error.h"
#include "op/inline_vector.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/op_cost.h"
#include "op/rnn/network.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace rnn {
namespace {

DType compute_type(DType dtype) {
  return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

void check(const RnnParams& params, Infer& infer) {
  if (params.state_size == 0 || params.num_layers == 0)
    infer.fail(fmt::format("given state_size {} and num_layers {}, expected both positive",
                           params.state_size, params.num_layers));
  if (params.projection_size && params.mode != Mode::kLstm)
    infer.fail("given projection_size, expected mode lstm with it");
  if (params.projection_size && *params.projection_size <= 0)
    infer.fail(
        fmt::format("given projection_size {}, expected a positive one", *params.projection_size));
  if ((params.lstm_state_clip_min || params.lstm_state_clip_max) && params.mode != Mode::kLstm)
    infer.fail("given lstm_state_clip_min or lstm_state_clip_max, expected mode lstm with it");
  if (!(params.p >= 0 && params.p <= 1))
    infer.fail(fmt::format("given p = {}, expected a probability", params.p));
}

// Arguments of the forward operator; the same come first in the backward one.
void infer_arguments(const RnnParams& params, Infer& infer) {
  check(params, infer);
  const int64_t places = int64_t{params.num_layers} * params.directions();
  for (int i = 1; i < params.length_input(); ++i) infer.in(0).same_dtype(infer.in(i));
  const DType dtype = infer.in(0).dtype();
  if (dtype != DType::kUnknown && !kFloating.contains(dtype))
    infer.in(0).fail("a floating-point type");
  infer.in(0).set_shape(Shape{-1, -1, -1});
  infer.in(2).set_shape(Shape{places, infer.in(0).dim(1), params.out()});
  infer.in(0).set_dim(1, infer.in(2).dim(1));
  const int64_t batch = infer.in(0).dim(1);
  if (params.has_cell()) infer.in(3).set_shape(Shape{places, batch, params.hidden()});
  if (params.use_sequence_length) {
    InferArg lengths = infer.in(params.length_input());
    lengths.set_shape(Shape{batch});
    if (lengths.dtype() == DType::kUnknown) lengths.set_dtype(DType::kInt32);
  }
  const int64_t input_size = infer.in(0).dim(2);
  if (input_size >= 0) infer.in(1).set_shape(Shape{ParamLayout(params, input_size).size()});
}

void infer_forward(const RnnParams& params, Infer& infer) {
  infer_arguments(params, infer);
  infer_results(params, infer, 2);
}

int num_inputs(const RnnParams& params) {
  return params.length_input() + (params.use_sequence_length ? 1 : 0);
}
int num_visible(const RnnParams& params) {
  return 1 + (params.state_outputs ? params.num_states() : 0);
}

void infer_backward(const RnnParams& params, Infer& infer) {
  infer_arguments(params, infer);
  const int result = num_inputs(params), reserve = result + 1, heads = reserve + 1;
  InlineVector<InferArg, 8> arguments, results;
  for (int i = 0; i < result; ++i) arguments.push_back(infer.in(i));
  for (int o = 0; o < num_visible(params); ++o) results.push_back(infer.in(heads + o));
  results.push_back(infer.in(reserve));
  infer.follow([&](Infer& forward) { infer_forward(params, forward); }, arguments.span(),
               results.span());
  infer.in(result).same_as(infer.in(heads));
  for (int o = 0; o < num_visible(params); ++o) infer.in(0).same_dtype(infer.in(heads + o));
  if (const DType dtype = infer.in(0).dtype(); dtype != DType::kUnknown)
    infer.in(reserve).set_dtype(compute_type(dtype));
  for (int i = 0; i < params.length_input(); ++i) infer.out(i).same_as(infer.in(i));
}

// Lengths of the samples, or null. Throws where one exceeds the steps.
const int64_t* sequence_lengths(const RnnParams& params, int64_t steps, KernelContext& context) {
  if (!params.use_sequence_length) return nullptr;
  const Tensor& lengths = context.in(params.length_input());
  auto* result = context.workspace_of<int64_t>(lengths.size());
  dispatch_dtype<kAllTypes>(lengths.dtype, "RNN", [&](auto tag) {
    convert_array(lengths.as<typename decltype(tag)::type>(), result, lengths.size());
  });
  for (int64_t i = 0; i < lengths.size(); ++i) {
    if (result[i] < 0 || result[i] > steps) {
      throw Error(ErrorCode::kValue, "RNN",
                  fmt::format("sequence_length: given {} for sample {}, expected 0 to {}",
                              result[i], i, steps));
    }
  }
  return result;
}

Extent extent_of(const KernelContext& context) {
  return {context.in(0).dim(0), context.in(0).dim(1), context.in(0).dim(2)};
}

// The parameters with nothing but the biases, at their end, written.
template <class T>
const T* converted_biases(const RnnParams& params, KernelContext& context) {
  const Tensor& all = context.in(1);
  T* copy = context.workspace_of<T>(all.size());
  const int64_t first = ParamLayout(params, extent_of(context).input_size).input_bias(0, 0);
  convert_array(all.as<bfloat16>() + first, copy + first, all.size() - first);
  return copy;
}

template <class T>
void forward_in(const RnnParams& params, bool packs, const WeightHome& home,
                KernelContext& context) {
  Computed<T> arrays(context);
  const Extent extent = extent_of(context);
  ForwardArrays<T> a{};
  a.packs = packs;
  a.home = home;
  a.data = arrays.in(0);
  if (packs && context.in(1).dtype == DType::kBFloat16 &&
      multiplies_bfloat16(params, extent.input_size)) {
    a.narrow_params = context.in(1).as<bfloat16>();
    a.params = converted_biases<T>(params, context);
  } else {
    a.params = arrays.in(1);
  }
  a.state = arrays.in(2);
  if (params.has_cell()) a.cell = arrays.in(3);
  a.lengths = sequence_lengths(params, extent.steps, context);
  a.out = arrays.out(0);
  if (params.state_outputs) {
    a.state_out = arrays.out(1);
    if (params.has_cell()) a.cell_out = arrays.out(2);
  }
  a.reserve = context.out(num_visible(params)).template as<T>();
  a.keeps_reserve = context.is_read(num_visible(params));
  run_forward(params, extent, a, context);
  arrays.write_back();
}

template <class T>
void backward_in(const RnnParams& params, bool packs, KernelContext& context) {
  Computed<T> arrays(context);
  const Extent extent = extent_of(context);
  const auto clear = [&](int i) {
    const Tensor& out = context.out(i);
    if (out.size() > 0)
      std::memset(out.data, 0, static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
  };
  auto a = backward_arrays<T>(params, sequence_lengths(params, extent.steps, context), arrays,
                              extent.steps == 0 || extent.batch == 0, clear);
  a.packs = packs;
  a.narrow =
      context.in(1).dtype == DType::kBFloat16 && multiplies_bfloat16(params, extent.input_size);
  run_backward(params, extent, a, context);
  arrays.write_back();
}

template <bool packs>
void forward_cpu(const RnnParams& params, KernelContext& context) {
  forward_on_host(params, packs, home_of_weights(context, 1), context);
}
template <bool packs>
void backward_cpu(const RnnParams& params, KernelContext& context) {
  compute_type(context.in(0).dtype) == DType::kFloat64 ? backward_in<double>(params, packs, context)
                                                       : backward_in<float>(params, packs, context);
}

bool chooses_packed(const RnnParams&, const Signature&) { return packed_weights_chosen(); }

void declare_params(OpBuilder<RnnParams>& op) {
  op.param("state_size", &RnnParams::state_size, "Hidden units of a direction of a layer.")
      .param("num_layers", &RnnParams::num_layers, "Layers, each on top of the one before.")
      .param("bidirectional", &RnnParams::bidirectional, false,
             "Whether a second direction reads the sequence from its end.")
      .choice("mode", &RnnParams::mode,
              {{"rnn_relu", Mode::kRelu},
               {"rnn_tanh", Mode::kTanh},
               {"lstm", Mode::kLstm},
               {"gru", Mode::kGru}},
              nullptr, "The kind of cell.")
      .param("p", &RnnParams::p, 0.0f, "Part of the numbers between layers that training drops.")
      .param("state_outputs", &RnnParams::state_outputs, false,
             "Whether the final states are outputs.")
      .param("projection_size", &RnnParams::projection_size, std::nullopt,
             "Numbers that the hidden units of an LSTM are projected to.")
      .param("lstm_state_clip_min", &RnnParams::lstm_state_clip_min, std::nullopt,
             "Lower bound of the LSTM's cell state.")
      .param("lstm_state_clip_max", &RnnParams::lstm_state_clip_max, std::nullopt,
             "Upper bound of the LSTM's cell state.")
      .param("lstm_state_clip_nan", &RnnParams::lstm_state_clip_nan, false,
             "Whether NaN in the cell state becomes the lower bound.")
      .param("use_sequence_length", &RnnParams::use_sequence_length, false,
             "Whether sequence_length says where each sample ends.");
}

// OpBuilder keeps no state of its own: a second one continues the declaration.
OpBuilder<RnnParams> with_params(const char* name) {
  OpBuilder<RnnParams> op(name);
  declare_params(op);
  return op;
}

[[maybe_unused]] const OpBuilder<RnnParams> forward_op =
    with_params("RNN")
        .alias("_npx_rnn")
        .doc(
            "Layers of recurrent cells (plain, LSTM or GRU) over sequences, with the weights in "
            "one vector.")
        .input("data", "Sequences, (steps, batch, features).")
        .input("parameters", "All weights, then all biases.")
        .input("state", "First hidden states, (layers * directions, batch, units).")
        .input("state_cell", "First cell states of an LSTM.")
        .input("sequence_length", "Steps of each sample.")
        .num_inputs(num_inputs)
        .input_names([](const RnnParams& params) {
          std::vector<std::string> names{"data", "parameters", "state"};
          if (params.has_cell()) names.emplace_back("state_cell");
          if (params.use_sequence_length) names.emplace_back("sequence_length");
          return names;
        })
        .outputs(num_rnn_outputs)
        .visible_outputs(num_visible)
        .output("output")
        .output("state_output")
        .output("statecell_output")
        .dtypes(kAllTypes)  // of sequence_length
        .infer(infer_forward)
        .cpu(forward_cpu<true>, chooses_packed, "packed")
        .cpu(forward_cpu<false>)
        .uses_random()
        .never_inline()
        .grad([](const RnnParams& params, Grad& grad) {
          std::vector<Value> inputs;
          inputs.reserve(static_cast<std::size_t>(num_inputs(params)));
          for (int i = 0; i < num_inputs(params); ++i) inputs.push_back(grad.in(i));
          inputs.push_back(grad.out(0));
          inputs.push_back(grad.out(num_visible(params)));
          for (int i = 0; i < num_visible(params); ++i) inputs.push_back(grad.dout(i));
          int wanted = 0;
          for (int i = 0; i < params.length_input(); ++i) wanted |= int{grad.wants(i)} << i;
          Attrs attrs = grad.attrs();
          attrs.emplace_back("wanted", std::to_string(wanted));
          Gradients result(static_cast<std::size_t>(num_inputs(params)));
          const Value first = apply("_backward_RNN", inputs, std::move(attrs));
          for (int i = 0; i < params.length_input(); ++i) {
            if (grad.wants(i)) result[static_cast<std::size_t>(i)] = output(first, i);
          }
          return result;
        });

[[maybe_unused]] const OpBuilder<RnnParams> backward_op =
    with_params("_backward_RNN")
        .param("wanted", &RnnParams::wanted, 15, "Bit i: the gradient of input i is asked for.")
        .doc("Gradient of RNN.")
        .input_list("values", "Inputs, output and reserve of RNN, then gradients of its outputs.")
        .num_inputs(
            [](const RnnParams& params) { return num_inputs(params) + 2 + num_visible(params); })
        .outputs([](const RnnParams& params) { return params.length_input(); })
        .dtypes(kAllTypes)
        .infer(infer_backward)
        .cpu(backward_cpu<true>, chooses_packed, "packed")
        .cpu(backward_cpu<false>)
        .never_inline();

[[maybe_unused]] const bool products = mark_products({"RNN"});
// On GPUs, for the lengths of samples.
[[maybe_unused]] const bool waits = mark_waiting({"RNN", "_backward_RNN"});

}  // namespace

int num_rnn_outputs(const RnnParams& params) { return num_visible(params) + 1; }

void infer_results(const RnnParams& params, Infer& infer, int state) {
  const Shape& data = infer.in(0).shape();
  const int states = params.state_outputs ? params.num_states() : 0;
  infer.out(0)
      .same_dtype(infer.in(0))
      .set_shape(Shape{data[0], data[1], params.out() * params.directions()});
  for (int i = 0; i < states; ++i) infer.out(1 + i).same_as(infer.in(state + i));
  InferArg reserve = infer.out(1 + states);
  if (infer.in(0).dtype() != DType::kUnknown) reserve.set_dtype(compute_type(infer.in(0).dtype()));
  if (data.known()) reserve.set_shape(Shape{ReserveLayout(params, data[0], data[1]).size()});
}

void forward_on_host(const RnnParams& params, bool packs, const WeightHome& home,
                     KernelContext& context) {
  compute_type(context.in(0).dtype) == DType::kFloat64
      ? forward_in<double>(params, packs, home, context)
      : forward_in<float>(params, packs, home, context);
}
}  // namespace rnn
}  // namespace mxnet
