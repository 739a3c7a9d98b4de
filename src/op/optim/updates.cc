// SPDX-License-Identifier: Apache-2.0
// Update operators of one parameter: each is a rule, its states and its numbers. The mp_ forms keep
// a float32 master copy of a half-precision weight.

#include "op/optim/update_op.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

using Op = UpdateOp<UpdateScalars>;

// Inputs: weight, gradient, states.
template <UpdateRule rule>
void update_cpu(const UpdateScalars& scalars, KernelContext& context) {
  UpdateJob job{scalars, context.in(0), context.in(1), {}, context.out(0), {}};
  for (int s = 0; s < update_states(rule); ++s)
    job.state[static_cast<std::size_t>(s)] = context.in(2 + s);
  run_updates(rule, {&job, 1}, context);
}

void infer_update(const UpdateScalars&, Infer& infer) {
  for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
  infer.in(0).same_shape(infer.out(0));
  infer.one_dtype();
}

// Inputs: weight, gradient, states, master weight. The weight itself is only written.
template <UpdateRule rule>
void mixed_update_cpu(const UpdateScalars& scalars, KernelContext& context) {
  const Tensor& master = context.in(context.num_in() - 1);
  UpdateJob job{scalars, master, context.in(1), {}, master, context.out(0)};
  for (int s = 0; s < update_states(rule); ++s)
    job.state[static_cast<std::size_t>(s)] = context.in(2 + s);
  run_updates(rule, {&job, 1}, context);
}

void infer_mixed_update(const UpdateScalars&, Infer& infer) {
  for (int i = 1; i < infer.num_in(); ++i) infer.in(0).same_shape(infer.in(i));
  infer.in(0).same_shape(infer.out(0));
  infer.in(0).same_dtype(infer.in(1)).same_dtype(infer.out(0));
  for (int i = 2; i < infer.num_in(); ++i) infer.in(i).set_dtype(DType::kFloat32);
}

const char* const kWeightDoc = "Weight.";
const char* const kGradDoc = "Gradient.";

template <UpdateRule rule>
Op define(const char* name, const char* doc, std::initializer_list<const char*> states) {
  Op builder(name);
  builder.op.doc(doc).input("weight", kWeightDoc).input("grad", kGradDoc);
  for (const char* state : states) builder.op.input(state, "State, updated in place.");
  builder.op.inplace(0, 0).infer(infer_update).cpu(update_cpu<rule>);
  mark_portable(name);
  switch (states.size()) {
    case 1:
      builder.op.mutates({2});
      break;
    case 2:
      builder.op.mutates({2, 3});
      break;
    case 3:
      builder.op.mutates({2, 3, 4});
      break;
    default:
      break;
  }
  return builder;
}

template <UpdateRule rule>
Op define_mixed(const char* name, const char* doc) {
  constexpr bool kHasMomentum = update_states(rule) == 1;
  Op builder(name);
  builder.op.doc(doc).input("weight", kWeightDoc).input("grad", kGradDoc);
  if (kHasMomentum) builder.op.input("mom", "Momentum in float32.");
  builder.op.input("weight32", "Master copy of the weight in float32.");
  builder.op.inplace(0, 0).infer(infer_mixed_update).cpu(mixed_update_cpu<rule>);
  mark_portable(name);
  kHasMomentum ? builder.op.mutates({2, 3}) : builder.op.mutates({2});
  return builder;
}

void define_descents() {
  using enum UpdateRule;
  define<kSgd>("sgd_update", "Stochastic gradient descent: w -= lr * (g + wd * w).", {})
      .lr()
      .usual()
      .lazy()
      .op.alias("_sparse_sgd_update");
  define<kSgdMomentum>("sgd_mom_update", "Gradient descent with momentum.", {"mom"})
      .lr()
      .momentum()
      .usual()
      .lazy()
      .op.alias("_sparse_sgd_mom_update");
  define_mixed<kSgd>("mp_sgd_update", "sgd_update in mixed precision.").lr().usual().lazy();
  define_mixed<kSgdMomentum>("mp_sgd_mom_update", "sgd_mom_update in mixed precision.")
      .lr()
      .momentum()
      .usual()
      .lazy();
  define<kNesterov>("nag_mom_update", "Nesterov's accelerated gradient.", {"mom"})
      .lr()
      .momentum()
      .usual();
  define_mixed<kNesterov>("mp_nag_mom_update", "nag_mom_update in mixed precision.")
      .lr()
      .momentum()
      .usual();
  define<kSignSgd>("signsgd_update", "Steps of fixed length against the gradient's sign.", {})
      .lr()
      .usual();
  define<kSignum>("signum_update", "Steps of fixed length along the sign of the momentum.", {"mom"})
      .lr()
      .momentum()
      .usual()
      .number("wd_lh", &UpdateScalars::wd_lh, 0, "Weight decay outside of the momentum.");
}

void define_adaptive() {
  using enum UpdateRule;
  define<kAdam>("adam_update", "Adam.", {"mean", "var"})
      .lr()
      .betas()
      .epsilon(1e-8f)
      .usual()
      .lazy()
      .op.alias("_sparse_adam_update");
  define<kRmsProp>("rmsprop_update", "RMSProp after Tieleman and Hinton.", {"n"})
      .lr()
      .number("gamma1", &UpdateScalars::gamma1, 0.95f, "Decay of the mean of squares.")
      .epsilon(1e-8f)
      .usual()
      .clip_weights();
  define<kRmsPropAlex>("rmspropalex_update", "RMSProp after Graves, centred.", {"n", "g", "delta"})
      .lr()
      .number("gamma1", &UpdateScalars::gamma1, 0.95f, "Decay of both means.")
      .number("gamma2", &UpdateScalars::gamma2, 0.9f, "Part of the last step that is kept.")
      .epsilon(1e-8f)
      .usual()
      .clip_weights();
  define<kFtrl>("ftrl_update", "Follow the regularised leader.", {"z", "n"})
      .lr()
      .number("lamda1", &UpdateScalars::lamda1, 0.01f, "L1 regularisation.")
      .number("beta", &UpdateScalars::beta, 1, "Smooths the rate of each coordinate.")
      .usual()
      .op.alias("_sparse_ftrl_update");
  Op ftml = define<kFtml>("ftml_update", "Follow the moving leader.", {"d", "v", "z"});
  ftml.lr().number("beta1", &UpdateScalars::beta1, 0.6f, "Decay of the mean.");
  ftml.op.range<float>(0, 1);
  ftml.number("beta2", &UpdateScalars::beta2, 0.999f, "Decay of the mean of squares.");
  ftml.op.range<float>(0, 1);
  ftml.number("epsilon", &UpdateScalars::ftml_epsilon, double{1e-8f},
              "Keeps denominators from zero.");
  ftml.step().wd().rescale().clip("clip_grad");
}

// Of no operator's name in the reference, which runs several for each of these.
void define_chains() {
  using enum UpdateRule;
  define<kAdaDelta>("_adadelta_update", "AdaDelta: steps as long as recent ones.",
                    {"squares", "steps"})
      .number("rho", &UpdateScalars::decay1, 0.9, "Decay of both means.")
      .epsilon(1e-5f)
      .usual();
  define<kAdamax>("_adamax_update", "Adam with the largest recent gradient in place of squares.",
                  {"mean", "largest"})
      .lr()
      .exact_betas()
      .usual();
  define<kNadam>("_nadam_update", "Adam with Nesterov's momentum.", {"mean", "square"})
      .lr()
      .exact_betas()
      .epsilon(1e-8f)
      .number("grad_share", &UpdateScalars::grad_share, 1, "Part of the gradient in the step.")
      .number("mean_share", &UpdateScalars::mean_share, 0, "Part of the mean in the step.")
      .step()
      .usual();
}

[[maybe_unused]] const bool defined = [] {
  define_descents();
  define_adaptive();
  define_chains();
  return true;
}();

}  // namespace
}  // namespace mxnet
