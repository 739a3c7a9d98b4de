// SPDX-License-Identifier: Apache-2.0
// What the padding operators of both front ends share; they differ in how widths are written and in
// their modes.
#pragma once
#include <fmt/format.h>

#include <string>

#include "op/shape/adjoint.h"
#include "op/shape/pad_maps.h"

namespace mxnet {

// P: the parameters, with `mode`, `constant_value` and widths(ndim).
template <class P>
void pad_cpu(const P& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  pad_elements(PadMaps(in.shape(), params.widths(in.ndim()), params.mode), in, context.out(0),
               params.constant_value, context);
}

template <class P>
void pad_back_cpu(const P& params, KernelContext& context) {
  const Tensor& dx = context.out(0);
  sum_padded(PadMaps(dx.shape(), params.widths(dx.ndim()), params.mode), context.in(0), dx,
             context);
}

[[noreturn]] inline void refuse_widths(Infer& infer, const std::string& given,
                                       const char* expected) {
  infer.fail(fmt::format("given pad_width {} for 'data' of shape {}, expected {}", given,
                         to_string(infer.in(0).shape()), expected));
}

template <class P>
OpBuilder<P> define_pad(const char* name, const char* doc, void (*declare)(OpBuilder<P>&),
                        void (*infer)(const P&, Infer&),
                        void (*forward)(const P&, KernelContext&)) {
  return define_linear<P>({.name = name,
                           .doc = doc,
                           .declare = declare,
                           .infer = infer,
                           .forward = forward,
                           .backward = pad_back_cpu<P>,
                           .backward_types = kNumeric,
                           .linear_attrs = without_constant});
}

}  // namespace mxnet
