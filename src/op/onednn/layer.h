// SPDX-License-Identifier: Apache-2.0
// The forward primitive of a layer that has weights, with its arguments: convolutions and fully
// connected layers alike.
#pragma once
#include "op/onednn/operand.h"

namespace mxnet::onednn {

// out = data * weight + bias. Belongs to one thread, as its operands do.
template <class Primitive>
class Layer {
 public:
  // Arrays as they are given; without a bias its description is zero.
  struct Plain {
    dnnl::memory::desc data, weight, bias, out;
  };
  Layer(const typename Primitive::primitive_desc& desc, const Plain& plain)
      : data_(plain.data, desc.src_desc(), false),
        weight_(plain.weight, desc.weights_desc(), false),
        bias_(plain.bias.is_zero() ? Operand() : Operand(plain.bias, desc.bias_desc(), false)),
        out_(plain.out, desc.dst_desc(), true),
        scratchpad_(desc.scratchpad_desc()),
        primitive_(desc) {}

  void run(const KernelContext& context, const void* data, const void* weight, const void* bias,
           void* out) {
    run_loaded(context, data, weight_.load(context, weight), bias, out);
  }
  // Input 1 of the call is the weight, and is kept in the primitive's layout.
  void run_lasting(const KernelContext& context, const void* data, const void* bias, void* out) {
    run_loaded(context, data, weight_.load_lasting(context, 1), bias, out);
    weight_.forget();
  }

 private:
  void run_loaded(const KernelContext& context, const void* data, dnnl_memory_t weight,
                  const void* bias, void* out) {
    execute(primitive_, {{DNNL_ARG_SRC, data_.load(context, data)},
                         {DNNL_ARG_WEIGHTS, weight},
                         {DNNL_ARG_BIAS, bias_.load(context, bias)},
                         {DNNL_ARG_DST, out_.place(context, out)},
                         {DNNL_ARG_SCRATCHPAD, scratchpad_.take(context)}});
    out_.store();
  }

  Operand data_, weight_, bias_, out_;
  Scratchpad scratchpad_;
  Primitive primitive_;
};

}  // namespace mxnet::onednn
