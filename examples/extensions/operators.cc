// SPDX-License-Identifier: Apache-2.0
// Operators in a library of their own: a product of matrices with its gradient, a running mean that
// writes one of its inputs, and a dropout-like operator whose state goes from a call to its
// gradient.
//   g++ -shared -fPIC -O2 -I<include> operators.cc -o liboperators.so
//   mx.library.load("/path/liboperators.so"); mx.nd.example_gemm(a, b)
#include <mxnet/lib_api.h>

using namespace mxnet::ext;

namespace {

// c (m x n) = a (m x k) * b (k x n); with `ta` or `tb` what is given is the transpose.
void multiply(const float* a, const float* b, float* c, int64_t m, int64_t k, int64_t n, bool ta,
              bool tb) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += (ta ? a[p * m + i] : a[i * k + p]) * (tb ? b[j * k + p] : b[p * n + j]);
      c[i * n + j] = sum;
    }
  }
}

MXReturnValue gemm_forward(const Attributes&, std::vector<MXTensor>* inputs,
                           std::vector<MXTensor>* outputs, const OpResource&) {
  const MXTensor &a = inputs->at(0), &b = inputs->at(1);
  multiply(a.data<float>(), b.data<float>(), outputs->at(0).data<float>(), a.shape[0], a.shape[1],
           b.shape[1], false, false);
  return MX_SUCCESS;
}

// Inputs: dc, a, b, c. da = dc * b', db = a' * dc.
MXReturnValue gemm_backward(const Attributes&, std::vector<MXTensor>* inputs,
                            std::vector<MXTensor>* outputs, const OpResource&) {
  const MXTensor &dc = inputs->at(0), &a = inputs->at(1), &b = inputs->at(2);
  const int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  multiply(dc.data<float>(), b.data<float>(), outputs->at(0).data<float>(), m, n, k, false, true);
  multiply(a.data<float>(), dc.data<float>(), outputs->at(1).data<float>(), k, m, n, true, false);
  return MX_SUCCESS;
}

MXReturnValue two_inputs(const Attributes&, int* num_inputs, int* num_outputs) {
  *num_inputs = 2;
  *num_outputs = 1;
  return MX_SUCCESS;
}

MXReturnValue float_types(const Attributes&, std::vector<int>* inputs, std::vector<int>* outputs) {
  for (const int type : *inputs) {
    if (type != kFloat32) {
      MX_ERROR_MSG << "given an input of type " << type << ", expected float32";
      return MX_FAIL;
    }
  }
  for (int& type : *outputs) type = kFloat32;
  return MX_SUCCESS;
}

MXReturnValue gemm_shape(const Attributes&, ShapeList* inputs, ShapeList* outputs) {
  const std::vector<unsigned int>&a = inputs->at(0), &b = inputs->at(1);
  if (a.size() != 2 || b.size() != 2 || a[1] != b[0]) {
    MX_ERROR_MSG << "expected two matrices of which the first has as many columns as the second "
                    "has rows";
    return MX_FAIL;
  }
  outputs->at(0) = {a[0], b[1]};
  return MX_SUCCESS;
}

REGISTER_OP(example_gemm)
    .setForward(gemm_forward, "cpu")
    .setBackward(gemm_backward, "cpu")
    .setParseAttrs(two_inputs)
    .setInferType(float_types)
    .setInferShape(gemm_shape);

// mean = mean * momentum + data * (1 - momentum); the output is the new mean.
MXReturnValue mean_forward(const Attributes& attrs, std::vector<MXTensor>* inputs,
                           std::vector<MXTensor>* outputs, const OpResource&) {
  const auto given = attrs.find("momentum");
  const float momentum = given == attrs.end() ? 0.9f : std::stof(given->second);
  const float* data = inputs->at(0).data<float>();
  float* mean = inputs->at(1).data<float>();
  float* out = outputs->at(0).data<float>();
  for (int64_t i = 0; i < inputs->at(0).size(); ++i)
    out[i] = mean[i] = mean[i] * momentum + data[i] * (1 - momentum);
  return MX_SUCCESS;
}

MXReturnValue second_is_written(const Attributes&, std::vector<int>* input_indices) {
  *input_indices = {1};
  return MX_SUCCESS;
}

MXReturnValue same_shapes(const Attributes&, ShapeList* inputs, ShapeList* outputs) {
  for (const std::vector<unsigned int>& shape : *inputs) {
    if (shape != inputs->at(0)) {
      MX_ERROR_MSG << "expected inputs of one shape";
      return MX_FAIL;
    }
  }
  for (std::vector<unsigned int>& shape : *outputs) shape = inputs->at(0);
  return MX_SUCCESS;
}

REGISTER_OP(example_running_mean)
    .setForward(mean_forward, "cpu")
    .setParseAttrs(two_inputs)
    .setInferType(float_types)
    .setInferShape(same_shapes)
    .setMutateInputs(second_is_written);

// Multiplies by how often this state was used before, plus one, and remembers by what.
class Counter : public CustomStatefulOp {
 public:
  MXReturnValue Forward(std::vector<MXTensor>* inputs, std::vector<MXTensor>* outputs,
                        const OpResource&) override {
    ++calls_;
    return scale(inputs->at(0), outputs->at(0));
  }
  MXReturnValue Backward(std::vector<MXTensor>* inputs, std::vector<MXTensor>* outputs,
                         const OpResource&) override {
    return scale(inputs->at(0), outputs->at(0));
  }

 private:
  MXReturnValue scale(const MXTensor& from, const MXTensor& to) const {
    for (int64_t i = 0; i < from.size(); ++i)
      to.data<float>()[i] = from.data<float>()[i] * static_cast<float>(calls_);
    return MX_SUCCESS;
  }
  int calls_ = 0;
};

MXReturnValue one_input(const Attributes&, int* num_inputs, int* num_outputs) {
  *num_inputs = 1;
  *num_outputs = 1;
  return MX_SUCCESS;
}

MXReturnValue new_counter(const Attributes&, const MXContext&, const ShapeList&,
                          const std::vector<int>, CustomStatefulOp** state) {
  *state = new Counter;
  return MX_SUCCESS;
}

REGISTER_OP(example_counter)
    .setParseAttrs(one_input)
    .setInferType(float_types)
    .setInferShape(same_shapes)
    .setCreateOpState(new_counter, "cpu");

}  // namespace

MXReturnValue initialize(int version) {
  if (version < 10901) {
    MX_ERROR_MSG << "given version " << version << ", expected 10901 or later";
    return MX_FAIL;
  }
  return MX_SUCCESS;
}
