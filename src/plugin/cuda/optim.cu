// SPDX-License-Identifier: Apache-2.0
// Kernels of the update rules (op/optim/update_rules.h): one pass over weight, gradient and states.
#include "base/error.h"
#include "op/optim/run_updates.h"
#include "op/optim/trust_ratio.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

// An array of any floating type, read and written as numbers of C. All threads ask for the same
// type, so that the branch costs next to nothing beside the memory.
template <class C>
struct Numbers {
  void* data;
  DType dtype;
  MX_DEVICE C get(int64_t i) const {
    switch (dtype) {
      case DType::kFloat32:
        return static_cast<C>(static_cast<const float*>(data)[i]);
      case DType::kFloat64:
        return static_cast<C>(static_cast<const double*>(data)[i]);
      case DType::kFloat16:
        return static_cast<C>(widen(static_cast<const float16*>(data)[i]));
      default:
        return static_cast<C>(widen(static_cast<const bfloat16*>(data)[i]));
    }
  }
  MX_DEVICE void set(int64_t i, C value) const {
    switch (dtype) {
      case DType::kFloat32:
        static_cast<float*>(data)[i] = static_cast<float>(value);
        break;
      case DType::kFloat64:
        static_cast<double*>(data)[i] = static_cast<double>(value);
        break;
      case DType::kFloat16:
        static_cast<float16*>(data)[i] = narrow<float16>(value);
        break;
      default:
        static_cast<bfloat16*>(data)[i] = narrow<bfloat16>(value);
    }
  }
};

// A step's numbers where some of them lie in arrays (NumbersInArrays). Float, as scalars are.
struct Given {
  Numbers<float> lr, wd, rescale, weight_norm, direction_norm;
  int64_t at;
  float scalar_lr, scalar_wd, scalar_rescale, lower_bound, upper_bound;

  explicit Given(const UpdateJob& job)
      : lr(numbers(job.numbers.lr)),
        wd(numbers(job.numbers.wd)),
        rescale(numbers(job.numbers.rescale_grad)),
        weight_norm(numbers(job.numbers.weight_norm)),
        direction_norm(numbers(job.numbers.direction_norm)),
        at(job.numbers.at),
        scalar_lr(job.scalars.lr),
        scalar_wd(job.scalars.wd),
        scalar_rescale(job.scalars.rescale_grad),
        lower_bound(job.scalars.lower_bound),
        upper_bound(job.scalars.upper_bound) {}
  static Numbers<float> numbers(const Tensor& tensor) { return {tensor.data, tensor.dtype}; }

  // False where the step is left out.
  template <class Rule>
  MX_DEVICE bool give(Rule* rule) const {
    float rate = lr.data == nullptr ? scalar_lr : lr.get(at);
    if (weight_norm.data != nullptr)
      rate *= trust_ratio(lower_bound, upper_bound, weight_norm.get(0), direction_norm.get(0));
    const float factor = rescale.data == nullptr ? scalar_rescale : rescale.get(0);
    rule->take(rate, wd.data == nullptr ? scalar_wd : wd.get(at), factor);
    return rescale.data == nullptr || usable_scale(factor);
  }
};
// The rules of operators that take numbers from arrays.
constexpr bool may_be_given(UpdateRule rule) {
  return rule == UpdateRule::kSgd || rule == UpdateRule::kSgdMomentum ||
         rule == UpdateRule::kAdamW || rule == UpdateRule::kAdamWScaleGrad;
}

template <class Rule, class C>
struct Update {
  Rule rule;
  Numbers<C> out, weight, grad, rounded;
  Numbers<C> state[kMaxUpdateStates];
  MX_DEVICE void operator()(int64_t i) const { step(rule, i); }
  MX_DEVICE void step(const Rule& by, int64_t i) const {
    C g = grad.get(i);
    C s[kMaxUpdateStates] = {};
#pragma unroll
    for (int k = 0; k < Rule::kStates; ++k) s[k] = state[k].get(i);
    const C result = by(weight.get(i), g, s[0], s[1], s[2]);
    out.set(i, result);
    if (rounded.data != nullptr) rounded.set(i, result);
    if constexpr (Rule::kWritesGrad) grad.set(i, g);
#pragma unroll
    for (int k = 0; k < Rule::kStates; ++k) state[k].set(i, s[k]);
  }
};

template <class Rule, class C>
struct GivenUpdate {
  Update<Rule, C> update;
  Given given;
  MX_DEVICE void operator()(int64_t i) const {
    Rule rule = update.rule;
    if (given.give(&rule)) update.step(rule, i);
  }
};

template <UpdateRule kRule, class Rule, class C>
void run(NativeStream* stream, const char* name, const UpdateJob& job) {
  const auto numbers = [](const Tensor& tensor) { return Numbers<C>{tensor.data, tensor.dtype}; };
  Update<Rule, C> f{Rule(job.scalars), numbers(job.out),     numbers(job.weight),
                    numbers(job.grad), numbers(job.rounded), {}};
  for (int k = 0; k < Rule::kStates; ++k) f.state[k] = numbers(job.state[k]);
  if constexpr (may_be_given(kRule)) {
    if (job.numbers.any())
      return for_each(stream, name, job.weight.size(), GivenUpdate<Rule, C>{f, Given(job)});
  } else {
    MX_ASSERT(!job.numbers.any());
  }
  for_each(stream, name, job.weight.size(), f);
}

}  // namespace

void update(NativeStream* stream, int rule, const UpdateJob& job) {
  // As on the CPU: double where all are.
  const bool in_double = job.weight.dtype == DType::kFloat64 && job.grad.dtype == DType::kFloat64;
  switch (static_cast<UpdateRule>(rule)) {
#define MX_CASE(id, rule)                                                                          \
  case UpdateRule::id:                                                                             \
    return in_double ? run<UpdateRule::id, update_rules::rule<double>, double>(stream, #rule, job) \
                     : run<UpdateRule::id, update_rules::rule<float>, float>(stream, #rule, job);
    MX_UPDATE_RULES(MX_CASE)
#undef MX_CASE
  }
}

}  // namespace cuda
}  // namespace mxnet
