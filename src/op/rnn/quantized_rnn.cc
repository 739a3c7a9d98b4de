// SPDX-License-Identifier: Apache-2.0
// The recurrent operator on sequences of bytes, q = x * scale + shift: computed of the real numbers
// that they stand for, with real weights.
#include "op/op_builder.h"
#include "op/rnn/network.h"
#include "op/run/parallel_each.h"

namespace mxnet {
namespace rnn {
namespace {

struct QuantizedRnnParams : RnnParams {
  bool quantized;  // written by 1.x into every such node

  int num_inputs() const { return length_input() + 2; }
  int num_results() const { return state_outputs ? 1 + num_states() : 1; }
};

// A field of the parameters that RNN has, as one of these.
template <class T>
constexpr T QuantizedRnnParams::*field(T RnnParams::*of_rnn) {
  return of_rnn;
}

void infer_quantized(const QuantizedRnnParams& params, Infer& infer) {
  if (params.state_size == 0 || params.num_layers == 0)
    infer.fail("expected state_size and num_layers above 0");
  if (params.use_sequence_length) infer.fail("given use_sequence_length, expected whole sequences");
  if (params.projection_size && (*params.projection_size <= 0 || !params.has_cell()))
    infer.fail("given projection_size, expected mode lstm with a positive one");
  const int64_t places = int64_t{params.num_layers} * params.directions();
  InferArg data = infer.in(0), state = infer.in(2);
  data.set_dtype(DType::kUInt8).set_shape({-1, -1, -1});
  state.set_shape({places, data.dim(1), params.out()});
  data.set_dim(1, state.dim(1));
  const int64_t steps = data.dim(0), batch = data.dim(1), input_size = data.dim(2);
  if (params.has_cell()) infer.in(3).set_shape({places, batch, params.hidden()});
  if (input_size >= 0) infer.in(1).set_shape({ParamLayout(params, input_size).size()});
  for (int i = 1; i < infer.num_in(); ++i) infer.in(i).set_dtype(DType::kFloat32);
  for (int i = params.length_input(); i < infer.num_in(); ++i) infer.in(i).set_shape({1});
  infer.out(0).set_shape({steps, batch, params.out() * params.directions()});
  if (params.state_outputs) infer.out(1).set_shape({places, batch, params.out()});
  if (params.state_outputs && params.has_cell())
    infer.out(2).set_shape({places, batch, params.hidden()});
  for (int o = 0; o < infer.num_out(); ++o) infer.out(o).set_dtype(DType::kFloat32);
}

void quantized_cpu(const QuantizedRnnParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Extent extent{in.dim(0), in.dim(1), in.dim(2)};
  const float scale = *context.in(params.length_input()).as<float>();
  const float shift = *context.in(params.length_input() + 1).as<float>();
  const float step = scale != 0 ? 1 / scale : 0;
  float* data = context.workspace_of<float>(in.size());
  parallel_each(in.size(), 1.0, [=, bytes = in.as<uint8_t>()](int64_t i) {
    data[i] = (static_cast<float>(bytes[i]) - shift) * step;
  });
  RnnParams network = params;
  network.p = 0;  // quantized networks only infer
  ForwardArrays<float> a{};
  a.packs = packed_weights_chosen();
  a.home = home_of_weights(context, 1);
  a.data = data;
  a.params = context.in(1).as<float>();
  a.state = context.in(2).as<float>();
  if (params.has_cell()) a.cell = context.in(3).as<float>();
  a.out = context.out(0).as<float>();
  if (params.state_outputs) {
    a.state_out = context.out(1).as<float>();
    if (params.has_cell()) a.cell_out = context.out(2).as<float>();
  }
  a.reserve =
      context.workspace_of<float>(ReserveLayout(network, extent.steps, extent.batch).size());
  run_forward(network, extent, a, context);
}

MX_OP(_contrib_quantized_rnn, QuantizedRnnParams)
.doc("RNN over sequences of uint8, for inference.")
    .input("data", "Sequences in bytes, (steps, batch, features).")
    .input("parameters", "All weights, then all biases.")
    .input("state", "First hidden states, (layers * directions, batch, units).")
    .input("state_cell", "First cell states of an LSTM.")
    .input("data_scale", "Steps of the bytes per real number.")
    .input("data_shift", "The byte of zero.")
    .num_inputs([](const QuantizedRnnParams& params) { return params.num_inputs(); })
    .input_names([](const QuantizedRnnParams& params) {
      std::vector<std::string> names{"data", "parameters", "state"};
      if (params.has_cell()) names.emplace_back("state_cell");
      names.insert(names.end(), {"min_data", "max_data"});
      return names;
    })
    .outputs([](const QuantizedRnnParams& params) { return params.num_results(); })
    .output("output")
    .output("state_output")
    .output("statecell_output")
    .param("state_size", field(&RnnParams::state_size), "Hidden units of a direction of a layer.")
    .param("num_layers", field(&RnnParams::num_layers), "Layers, each on top of the one before.")
    .param("bidirectional", field(&RnnParams::bidirectional), false,
           "Whether a second direction reads the sequence from its end.")
    .choice("mode", field(&RnnParams::mode),
            {{"rnn_relu", Mode::kRelu},
             {"rnn_tanh", Mode::kTanh},
             {"lstm", Mode::kLstm},
             {"gru", Mode::kGru}},
            nullptr, "The kind of cell.")
    .param("p", field(&RnnParams::p), 0.0f, "Of the layer that was quantized: nothing is dropped.")
    .param("state_outputs", field(&RnnParams::state_outputs), false,
           "Whether the final states are outputs.")
    .param("projection_size", field(&RnnParams::projection_size), std::nullopt,
           "Numbers that the hidden units of an LSTM are projected to.")
    .param("lstm_state_clip_min", field(&RnnParams::lstm_state_clip_min), std::nullopt,
           "Lower bound of the LSTM's cell state.")
    .param("lstm_state_clip_max", field(&RnnParams::lstm_state_clip_max), std::nullopt,
           "Upper bound of the LSTM's cell state.")
    .param("lstm_state_clip_nan", field(&RnnParams::lstm_state_clip_nan), false,
           "Whether NaN in the cell state becomes the lower bound.")
    .param("use_sequence_length", field(&RnnParams::use_sequence_length), false,
           "Of the layer that was quantized; whole sequences only.")
    .param("quantized", &QuantizedRnnParams::quantized, true, "Set in files of 1.x.")
    .unlisted()
    .infer(infer_quantized)
    .cpu(quantized_cpu)
    .never_inline();

}  // namespace
}  // namespace rnn
}  // namespace mxnet
