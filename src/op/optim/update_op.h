// SPDX-License-Identifier: Apache-2.0
// Shorthand for the blocks of update operators: their parameters have the same names, defaults and
// meanings everywhere.
#pragma once
#include <type_traits>

#include "op/op_builder.h"
#include "op/optim/run_updates.h"

namespace mxnet {

// P derives from UpdateScalars, or is it.
template <class P>
class UpdateOp {
 public:
  explicit UpdateOp(const char* name) : op(name) { op.dtypes(kFloating); }

  UpdateOp& lr() {
    op.param("lr", at(&UpdateScalars::lr), "Learning rate.");
    return *this;
  }
  UpdateOp& eta() {
    op.param("eta", at(&UpdateScalars::eta), "Multiplier of the schedule.");
    return *this;
  }
  UpdateOp& wd_required() {
    op.param("wd", at(&UpdateScalars::wd), "Weight decay.");
    return *this;
  }
  UpdateOp& step() {
    op.param("t", at(&UpdateScalars::t), "Number of the update, from 1.");
    return *this;
  }
  UpdateOp& momentum() {
    return number("momentum", &UpdateScalars::momentum, 0, "Part of the last step that is kept.");
  }
  UpdateOp& wd() { return number("wd", &UpdateScalars::wd, 0, "Weight decay."); }
  UpdateOp& rescale() {
    return number("rescale_grad", &UpdateScalars::rescale_grad, 1, "Factor of the gradient.");
  }
  UpdateOp& clip(const char* name = "clip_gradient") {
    return number(name, &UpdateScalars::clip_gradient, -1,
                  "The scaled gradient is clipped to [-c, c]; negative: not at all.");
  }
  // What nearly all have, in this order.
  UpdateOp& usual() { return wd().rescale().clip(); }
  UpdateOp& clip_weights() {
    return number("clip_weights", &UpdateScalars::clip_weights, -1,
                  "Weights are clipped to [-c, c]; not positive: not at all.");
  }
  UpdateOp& betas() {
    number("beta1", &UpdateScalars::beta1, 0.9f, "Decay of the mean.");
    return number("beta2", &UpdateScalars::beta2, 0.999f, "Decay of the mean of squares.");
  }
  UpdateOp& exact_betas() {
    number("beta1", &UpdateScalars::decay1, 0.9, "Decay of the mean.");
    return number("beta2", &UpdateScalars::decay2, 0.999, "Decay of the second state.");
  }
  UpdateOp& epsilon(float value) {
    return number("epsilon", &UpdateScalars::epsilon, value, "Keeps denominators from zero.");
  }
  UpdateOp& bounds() {
    number("lower_bound", &UpdateScalars::lower_bound, -1,
           "Least norm of the weight; negative: none.");
    return number("upper_bound", &UpdateScalars::upper_bound, -1,
                  "Greatest norm of the weight; negative: none.");
  }
  UpdateOp& bias_correction() {
    op.param("bias_correction", at(&UpdateScalars::bias_correction), true,
             "Whether moments are divided by 1 - beta^t.");
    return *this;
  }
  UpdateOp& lazy() {
    op.param("lazy_update", at(&UpdateScalars::lazy_update), true,
             "Rows that a row_sparse gradient lacks stay as they are.");
    return *this;
  }
  template <class T>
  UpdateOp& number(const char* name, T UpdateScalars::*field, std::type_identity_t<T> value,
                   const char* doc) {
    op.param(name, at(field), value, doc);
    return *this;
  }

  OpBuilder<P> op;

 private:
  template <class T>
  static T P::*at(T UpdateScalars::*field) {
    return field;
  }
};

}  // namespace mxnet
