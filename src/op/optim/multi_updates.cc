// SPDX-License-Identifier: Apache-2.0
// Updates of many parameters by one operation and in one parallel pass: what a step of a network
// with hundreds of small parameters costs is the number of operations.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "op/optim/tensor_scalar.h"
#include "op/optim/trust_ratio.h"
#include "op/optim/update_op.h"
#include "op/reducing/axes.h"
#include "op/reducing/evaluate.h"
#include "op/run/gpu.h"
#include "op/run/parallel.h"
#include "op/run/single_shape.h"

namespace mxnet {
namespace {

struct MultiParams : UpdateScalars {
  std::vector<float> lrs, wds, etas;
  std::vector<std::optional<int64_t>> step_count;  // more of them than a Shape takes
  int32_t count;
};
using Op = UpdateOp<MultiParams>;

// Inputs of a multi-tensor operator: for each parameter weight, gradient, states and perhaps the
// master weight; after all of them what is common.
struct Layout {
  UpdateRule rule;
  bool mixed;
  // What the common inputs are: learning rates and weight decays, the factor of the gradients.
  enum Common { kNothing, kRates, kScale } common;

  constexpr int per_parameter() const { return 2 + update_states(rule) + (mixed ? 1 : 0); }
  constexpr int num_common() const { return common == kRates ? 2 : common == kScale ? 1 : 0; }
  int num_inputs(const MultiParams& p) const { return p.count * per_parameter() + num_common(); }
  int weight(int k) const { return k * per_parameter(); }
  int state(int k, int s) const { return weight(k) + 2 + s; }
  int master(int k) const { return weight(k) + per_parameter() - 1; }
};

std::vector<int> mutated(const Layout& layout, const MultiParams& p) {
  std::vector<int> inputs;
  for (int k = 0; k < p.count; ++k)
    for (int i = 2; i < layout.per_parameter(); ++i) inputs.push_back(layout.weight(k) + i);
  return inputs;
}

std::vector<std::string> input_names(const Layout& layout, const MultiParams& p) {
  const bool momentum = update_states(layout.rule) == 1;
  std::vector<std::string> roles = {"weight", "grad"};
  if (update_states(layout.rule) > 0) roles.emplace_back(momentum ? "mom" : "mean");
  if (update_states(layout.rule) > 1) roles.emplace_back("var");
  if (layout.mixed) roles.emplace_back("weight32");
  std::vector<std::string> names;
  for (int k = 0; k < p.count; ++k)
    for (const std::string& role : roles) names.push_back(role + "_" + std::to_string(k));
  if (layout.common == Layout::kRates) names.insert(names.end(), {"lrs", "wds"});
  if (layout.common == Layout::kScale) names.emplace_back("rescale_grad");
  return names;
}

void check_length(std::size_t given, int expected, const char* name, Infer& infer) {
  if (given == static_cast<std::size_t>(expected)) return;
  infer.fail(fmt::format("given {} {}, expected {}, one for each weight", given, name, expected));
}

void infer_multi(const Layout& layout, const MultiParams& p, Infer& infer) {
  if (layout.common != Layout::kRates) {
    check_length(p.lrs.size(), p.count, "learning rates", infer);
    check_length(p.wds.size(), p.count, "weight decays", infer);
  }
  if (layout.common == Layout::kScale) check_length(p.etas.size(), p.count, "etas", infer);
  if (layout.rule == UpdateRule::kLambDirection)
    check_length(p.step_count.size(), p.count, "step counts", infer);
  for (int k = 0; k < p.count; ++k) {
    InferArg weight = infer.in(layout.weight(k));
    weight.same_as(infer.in(layout.weight(k) + 1)).same_as(infer.out(k));
    for (int i = 2; i < layout.per_parameter(); ++i) {
      InferArg state = infer.in(layout.weight(k) + i);
      weight.same_shape(state);
      layout.mixed ? state.set_dtype(DType::kFloat32) : weight.same_dtype(state);
    }
  }
  if (layout.common == Layout::kScale) require_scalar(infer.in(infer.num_in() - 1));
  if (layout.common == Layout::kRates) {
    for (int i = 1; i <= 2; ++i) infer.in(infer.num_in() - i).set_shape({p.count});
  }
}

std::vector<UpdateJob> make_jobs(const Layout& layout, const MultiParams& p,
                                 KernelContext& context) {
  // What is common: learning rates and weight decays, or the factor.
  const bool there = gpu_table(context) != nullptr;
  const auto common = [&](int i) -> const Tensor& {
    return context.in(context.num_in() - layout.num_common() + i);
  };
  std::vector<UpdateJob> jobs;
  jobs.reserve(static_cast<std::size_t>(p.count));
  for (int k = 0; k < p.count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    UpdateJob& job = jobs.emplace_back();
    job.scalars = p;
    if (layout.common == Layout::kRates && there) {
      job.numbers.lr = common(0);
      job.numbers.wd = common(1);
      job.numbers.at = k;
    } else if (layout.common == Layout::kRates) {
      job.scalars.lr = tensor_scalar(common(0), k);
      job.scalars.wd = tensor_scalar(common(1), k);
    } else {
      job.scalars.lr = p.lrs[at];
      job.scalars.wd = p.wds[at];
    }
    if (layout.common == Layout::kScale) {
      job.scalars.eta = p.etas[at];
      if (there)
        job.numbers.rescale_grad = common(0);
      else
        job.scalars.rescale_grad = tensor_scalar(common(0), 0);
    }
    job.weight = context.in(layout.mixed ? layout.master(k) : layout.weight(k));
    job.grad = context.in(layout.weight(k) + 1);
    for (int s = 0; s < update_states(layout.rule); ++s)
      job.state[static_cast<std::size_t>(s)] = context.in(layout.state(k, s));
    job.out = layout.mixed ? job.weight : context.out(k);
    if (layout.mixed) job.rounded = context.out(k);
  }
  return jobs;
}

void multi_cpu(const Layout& layout, const MultiParams& p, KernelContext& context) {
  const std::vector<UpdateJob> jobs = make_jobs(layout, p, context);
  if (layout.common == Layout::kScale && !jobs.empty()) {
    const bool there = gpu_table(context) != nullptr;  // kernels look at the factor
    const bool left_out = !there && !usable_scale(jobs[0].scalars.rescale_grad);
    for (int k = 0; k < p.count && (there || left_out); ++k)
      keep_weight(context, context.in(layout.weight(k)), context.out(k));
    if (left_out) return;
  }
  run_updates(layout.rule, jobs, context);
}

// Parts of fixed length, so that the sum does not depend on the number of threads.
float norm(const Tensor& tensor, KernelContext& context) {
  constexpr int64_t kPart = 16384;
  const int64_t size = tensor.size(), parts = (size + kPart - 1) / kPart;
  double* const sums = context.workspace_of<double>(std::max(parts, int64_t{1}));
  dispatch_dtype<kFloating>(tensor.dtype, "norm", [&]<class T>(TypeTag<T>) {
    parallel_for(
        parts, kPart,
        [&](int64_t first, int64_t last) {
          for (int64_t part = first; part < last; ++part) {
            const T* values = tensor.as<T>() + part * kPart;
            const int64_t n = std::min(kPart, size - part * kPart);
            if constexpr (std::is_floating_point_v<T>) {
              sums[part] = sum_squares(values, n);
            } else {
              sums[part] = 0;
              for (int64_t i = 0; i < n; ++i)
                sums[part] += double{float(values[i])} * double{float(values[i])};
            }
          }
        },
        1);
  });
  double sum = 0;
  for (int64_t part = 0; part < parts; ++part) sum += sums[part];
  return static_cast<float>(std::sqrt(sum));
}

// The norm of a tensor of the call's GPU, there.
Tensor norm_there(const Tensor& tensor, KernelContext& context) {
  const Tensor found{context.workspace_of<float>(1), &single_shape(), DType::kFloat32};
  reduce_to({.reduction = Reduction::sum_squares, .finish = Finish::kRoot, .wide = true}, tensor,
            all_axes(tensor.ndim()), found, context);
  return found;
}

// A step along a direction, which is its gradient.
void make_step(UpdateJob* step, KernelContext& context) {
  if (gpu_table(context) != nullptr) {
    step->numbers.weight_norm = norm_there(step->weight, context);
    step->numbers.direction_norm = norm_there(step->grad, context);
    step->scalars = scaled_step(step->scalars, 1.0f);
  } else {
    const float ratio =
        trust_ratio(step->scalars, norm(step->weight, context), norm(step->grad, context));
    step->scalars = scaled_step(step->scalars, ratio);
  }
}

// Directions of all parameters into scratch memory, their norms, then steps along them.
void multi_lamb_cpu(const Layout& layout, const MultiParams& p, KernelContext& context) {
  const std::vector<UpdateJob> jobs = make_jobs(layout, p, context);
  std::vector<UpdateJob> directions = jobs, steps = jobs;
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    Tensor direction = jobs[k].weight;
    if (direction.dtype != DType::kFloat64) direction.dtype = DType::kFloat32;
    direction.data =
        context.workspace(static_cast<std::size_t>(direction.size()) * dtype_size(direction.dtype));
    directions[k].scalars.t = static_cast<int32_t>(p.step_count[k].value_or(0));
    directions[k].out = steps[k].grad = direction;
    directions[k].rounded = {};
  }
  run_updates(UpdateRule::kLambDirection, directions, context);
  for (UpdateJob& step : steps) make_step(&step, context);
  run_updates(UpdateRule::kSgd, steps, context);
}

template <Layout layout>
Op define(const char* name, const char* doc) {
  Op builder(name);
  builder.op.doc(doc)
      .input_list(
          "data",
          "For each parameter weight, gradient, states, master weight; then what is common.")
      .num_inputs([](const MultiParams& p) { return layout.num_inputs(p); })
      .input_names([](const MultiParams& p) { return input_names(layout, p); })
      .outputs([](const MultiParams& p) { return int{p.count}; })
      .inplace_stride(layout.per_parameter())
      .infer([](const MultiParams& p, Infer& infer) { infer_multi(layout, p, infer); })
      .cpu([](const MultiParams& p, KernelContext& context) {
        layout.rule == UpdateRule::kLambDirection ? multi_lamb_cpu(layout, p, context)
                                                  : multi_cpu(layout, p, context);
      });
  if constexpr (layout.per_parameter() > 2)
    builder.op.mutates([](const MultiParams& p) { return mutated(layout, p); });
  mark_portable(name);
  return builder;
}

void list(Op& builder, const char* name, std::vector<float> MultiParams::*field, const char* doc) {
  builder.op.param(name, field, doc);
}

void count(Op& builder, const char* name) {
  builder.op.param(name, &MultiParams::count, 1, "Number of weights.").at_least<int32_t>(0);
}

template <Layout layout>
void define_sgd(const char* name, const char* doc) {
  Op builder = define<layout>(name, doc);
  if (layout.common != Layout::kRates) {
    list(builder, "lrs", &MultiParams::lrs, "Learning rates.");
    list(builder, "wds", &MultiParams::wds, "Weight decays.");
  }
  if (update_states(layout.rule) > 0) builder.momentum();
  builder.rescale().clip();
  count(builder, "num_weights");
}

template <Layout layout>
void define_adamw(const char* name, const char* doc) {
  Op builder = define<layout>(name, doc);
  list(builder, "lrs", &MultiParams::lrs, "Learning rates.");
  builder.betas().epsilon(1e-8f);
  list(builder, "wds", &MultiParams::wds, "Weight decays.");
  list(builder, "etas", &MultiParams::etas, "Multipliers of the schedule.");
  builder.clip();
  count(builder, "num_weights");
}

template <Layout layout>
void define_lamb(const char* name, const char* doc) {
  Op builder = define<layout>(name, doc);
  list(builder, "learning_rates", &MultiParams::lrs, "Learning rates.");
  builder.betas().epsilon(1e-6f);
  list(builder, "wds", &MultiParams::wds, "Weight decays.");
  builder.rescale().bounds().clip().bias_correction();
  builder.op.param("step_count", &MultiParams::step_count,
                   "Number of each weight's update, from 1.");
  count(builder, "num_tensors");
}

[[maybe_unused]] const bool defined = [] {
  using enum UpdateRule;
  constexpr auto kNone = Layout::kNothing;
  constexpr auto kRates = Layout::kRates;
  define_sgd<Layout{kSgd, false, kNone}>("multi_sgd_update", "sgd_update of many weights.");
  define_sgd<Layout{kSgdMomentum, false, kNone}>("multi_sgd_mom_update",
                                                 "sgd_mom_update of many weights.");
  define_sgd<Layout{kSgd, true, kNone}>("multi_mp_sgd_update", "mp_sgd_update of many weights.");
  define_sgd<Layout{kSgdMomentum, true, kNone}>("multi_mp_sgd_mom_update",
                                                "mp_sgd_mom_update of many weights.");
  define_sgd<Layout{kSgd, false, kRates}>("preloaded_multi_sgd_update",
                                          "sgd_update of many weights, rates in arrays.");
  define_sgd<Layout{kSgdMomentum, false, kRates}>(
      "preloaded_multi_sgd_mom_update", "sgd_mom_update of many weights, rates in arrays.");
  define_sgd<Layout{kSgd, true, kRates}>("preloaded_multi_mp_sgd_update",
                                         "mp_sgd_update of many weights, rates in arrays.");
  define_sgd<Layout{kSgdMomentum, true, kRates}>(
      "preloaded_multi_mp_sgd_mom_update", "mp_sgd_mom_update of many weights, rates in arrays.");
  define_adamw<Layout{kAdamW, false, Layout::kScale}>("_multi_adamw_update",
                                                      "AdamW of many weights.");
  define_adamw<Layout{kAdamW, true, Layout::kScale}>("_multi_mp_adamw_update",
                                                     "AdamW of many weights in mixed precision.");
  define_lamb<Layout{kLambDirection, false, kNone}>("_multi_lamb_update", "LAMB of many weights.");
  define_lamb<Layout{kLambDirection, true, kNone}>("_multi_mp_lamb_update",
                                                   "LAMB of many weights in mixed precision.");
  return true;
}();

}  // namespace
}  // namespace mxnet
