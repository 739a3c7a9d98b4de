// SPDX-License-Identifier: Apache-2.0
// What operators that make arrays out of nothing share: where, of which type, and a loop that
// writes a function of the position.
#pragma once
#include <string>

#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/parallel_each.h"

namespace mxnet {

// Types that `dtype` of most of these operators takes: all numbers, or bool too.
inline constexpr DTypeSet kNumbersOnly = kNumeric;

// Declares "ctx", which the border of the C ABI reads before the call.
template <class P>
OpBuilder<P>& add_context(OpBuilder<P>& op) {
  return op
      .param("ctx", &P::ctx, std::string(),
             "Device of the result, as cpu(0); inputs decide otherwise.")
      .type_text("string, optional, default=''");
}

// out[i] = value(i), computed in double.
template <class Value>
void fill_with(const Tensor& out, double cost, const Value& value) {
  dispatch_dtype(out.dtype, "creation", [&]<class T>(TypeTag<T>) {
    T* const to = out.as<T>();
    parallel_each(out.size(), cost, [=](int64_t i) { to[i] = convert<T>(value(i)); });
  });
}

// out[i] = start + (i / repeat) * step on the host. (op/create/sequence.cc)
void count_up(const Tensor& out, double start, double step, int64_t repeat);

}  // namespace mxnet
