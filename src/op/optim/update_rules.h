// SPDX-License-Identifier: Apache-2.0
// The arithmetic of each optimizer for one element: from weight w, gradient g and states to the new
// weight; states are updated in place. Everything that does not depend on the element is computed
// in the constructor. Free of branches, so that loops vectorise; T is float or double.
#pragma once
#include <cmath>
#include <limits>

#include "base/host_device.h"
#include "op/params/update_scalars.h"

// The name of a rule and its class.
#define MX_UPDATE_RULES(ROW)             \
  ROW(kSgd, Sgd)                         \
  ROW(kSgdMomentum, SgdMomentum)         \
  ROW(kNesterov, Nesterov)               \
  ROW(kNesterovInPlace, NesterovInPlace) \
  ROW(kSignSgd, SignSgd)                 \
  ROW(kSignum, Signum)                   \
  ROW(kAdam, Adam)                       \
  ROW(kAdamW, AdamW)                     \
  ROW(kAdamWScaleGrad, AdamWScaleGrad)   \
  ROW(kRmsProp, RmsProp)                 \
  ROW(kRmsPropAlex, RmsPropAlex)         \
  ROW(kFtrl, Ftrl)                       \
  ROW(kFtml, Ftml)                       \
  ROW(kAdaGrad, AdaGrad)                 \
  ROW(kAdaDelta, AdaDelta)               \
  ROW(kAdamax, Adamax)                   \
  ROW(kNadam, Nadam)                     \
  ROW(kLambDirection, LambDirection)

#define MX_RULE_INLINE MX_HOST_DEVICE [[gnu::always_inline]] inline

namespace mxnet::update_rules {

template <class T>
MX_RULE_INLINE T sign(T x) {
  return static_cast<T>(x > T(0)) - static_cast<T>(x < T(0));
}

// Into [-limit, limit]; NaN stays NaN. Two selections, each of which is one instruction.
template <class T>
MX_RULE_INLINE T clip(T x, T limit) {
  const T y = x > limit ? limit : x;
  return y < -limit ? -limit : y;
}

template <class T>
T limit_or_none(float limit, bool none) {
  return none ? std::numeric_limits<T>::infinity() : static_cast<T>(limit);
}

// What all rules have. kStates: how many state arrays; kWritesGrad: the gradient is replaced by
// what was used of it.
template <class T>
struct RuleBase {
  explicit RuleBase(const UpdateScalars& p)
      : lr(p.lr),
        wd(p.wd),
        rescale(p.rescale_grad),
        grad_limit(limit_or_none<T>(p.clip_gradient, p.clip_gradient < 0)) {}
  static constexpr bool kWritesGrad = false;

  // With numbers of this step that kernels find in arrays. For rules that make nothing else of
  // them beforehand.
  MX_RULE_INLINE void take(T rate, T decay, T factor) {
    lr = rate;
    wd = decay;
    rescale = factor;
  }

  MX_RULE_INLINE T scaled(T g) const { return clip(rescale * g, grad_limit); }
  // With weight decay as part of the gradient, clipped before or after it is added.
  MX_RULE_INLINE T decayed(T g, T w) const { return scaled(g) + wd * w; }
  MX_RULE_INLINE T clipped_decayed(T g, T w) const {
    return clip(rescale * g + wd * w, grad_limit);
  }

  T lr, wd, rescale;
  const T grad_limit;
};

// A weight without `decay` of itself and without a step. As in 1.x the decay is a factor, not a
// part of the gradient, so that an infinite weight (of a mask) stays what it is; rules with
// momentum make NaN of it. The factor 1 - decay is two numbers: one alone is a multiple of 6e-8,
// which is all of what small rates take off.
template <class T>
class Decay {
 public:
  MX_RULE_INLINE explicit Decay(T decay) : kept_(T(1) - decay), rest_((T(1) - kept_) - decay) {
    // Of one sign, and neither is 0 where the other is not: times infinity they do not make NaN.
    if (rest_ * kept_ < T(0)) {
      const T nearer = kKeepsLess * kept_;
      rest_ += kept_ - nearer;
      kept_ = nearer;
    }
    if (rest_ == T(0)) rest_ = kept_ * T(0x1p-64);  // which moves no weight
  }
  MX_RULE_INLINE T operator()(T w, T rate, T step) const {
    return kept_ * w + (rest_ * w - rate * step);
  }

 private:
  static constexpr T kKeepsLess = T(1) - std::numeric_limits<T>::epsilon();
  T kept_, rest_;
};

template <class T>
struct Sgd : RuleBase<T> {
  explicit Sgd(const UpdateScalars& p) : RuleBase<T>(p), decay(this->lr * this->wd) {}
  static constexpr int kStates = 0;
  MX_RULE_INLINE void take(T new_rate, T new_decay, T factor) {
    RuleBase<T>::take(new_rate, new_decay, factor);
    decay = Decay<T>(this->lr * this->wd);
  }
  MX_RULE_INLINE T operator()(T w, T& g, T&, T&, T&) const {
    return decay(w, this->lr, this->scaled(g));
  }
  Decay<T> decay;
};

template <class T>
struct SgdMomentum : RuleBase<T> {
  explicit SgdMomentum(const UpdateScalars& p) : RuleBase<T>(p), momentum(p.momentum) {}
  static constexpr int kStates = 1;
  MX_RULE_INLINE T operator()(T w, T& g, T& mom, T&, T&) const {
    mom = momentum * mom - this->lr * this->decayed(g, w);
    return w + mom;
  }
  const T momentum;
};

template <class T>
struct Nesterov : RuleBase<T> {
  explicit Nesterov(const UpdateScalars& p) : RuleBase<T>(p), momentum(p.momentum) {}
  static constexpr int kStates = 1;
  MX_RULE_INLINE T operator()(T w, T& g, T& mom, T&, T&) const {
    const T step = this->lr * this->decayed(g, w);
    mom = momentum * mom - step;
    return w + (momentum * mom - step);
  }
  const T momentum;
};

// What training has always run: where the new weight replaces the old one, the momentum decays with
// the new one.
template <class T>
struct NesterovInPlace : Nesterov<T> {
  using Nesterov<T>::Nesterov;
  MX_RULE_INLINE T operator()(T w, T& g, T& mom, T& unused1, T& unused2) const {
    const T y = Nesterov<T>::operator()(w, g, mom, unused1, unused2);
    mom = mom - this->lr * this->wd * (y - w);
    return y;
  }
};

template <class T>
struct SignSgd : RuleBase<T> {
  explicit SignSgd(const UpdateScalars& p) : RuleBase<T>(p), decay(this->lr * this->wd) {}
  static constexpr int kStates = 0;
  MX_RULE_INLINE T operator()(T w, T& g, T&, T&, T&) const { return decay(w, this->lr, sign(g)); }
  const Decay<T> decay;
};

template <class T>
struct Signum : RuleBase<T> {
  explicit Signum(const UpdateScalars& p)
      : RuleBase<T>(p), momentum(p.momentum), decay(this->lr * static_cast<T>(p.wd_lh)) {}
  static constexpr int kStates = 1;
  MX_RULE_INLINE T operator()(T w, T& g, T& mom, T&, T&) const {
    mom = momentum * mom - (T(1) - momentum) * this->decayed(g, w);
    return decay(w, this->lr, -sign(mom));
  }
  const T momentum;
  const Decay<T> decay;
};

// First and second moments, as Adam keeps them.
template <class T>
struct MomentsBase : RuleBase<T> {
  explicit MomentsBase(const UpdateScalars& p)
      : RuleBase<T>(p), beta1(p.beta1), beta2(p.beta2), epsilon(p.epsilon) {}
  static constexpr int kStates = 2;
  MX_RULE_INLINE void accumulate(T g, T& mean, T& var) const {
    mean = beta1 * mean + (T(1) - beta1) * g;
    var = beta2 * var + (T(1) - beta2) * g * g;
  }
  const T beta1, beta2, epsilon;
};

template <class T>
struct Adam : MomentsBase<T> {
  using MomentsBase<T>::MomentsBase;
  MX_RULE_INLINE T operator()(T w, T& g, T& mean, T& var, T&) const {
    this->accumulate(this->clipped_decayed(g, w), mean, var);
    return w - this->lr * mean / (std::sqrt(var) + this->epsilon);
  }
};

template <class T>
struct AdamW : MomentsBase<T> {
  explicit AdamW(const UpdateScalars& p) : MomentsBase<T>(p), eta(p.eta) {}
  MX_RULE_INLINE T operator()(T w, T& g, T& mean, T& var, T&) const {
    this->accumulate(this->scaled(g), mean, var);
    return w - eta * (this->lr * mean / (std::sqrt(var) + this->epsilon) + this->wd * w);
  }
  const T eta;
};

// Leaves the gradient scaled and clipped, which programs can see.
template <class T>
struct AdamWScaleGrad : AdamW<T> {
  using AdamW<T>::AdamW;
  static constexpr bool kWritesGrad = true;
  MX_RULE_INLINE T operator()(T w, T& g, T& mean, T& var, T& unused) const {
    const T y = AdamW<T>::operator()(w, g, mean, var, unused);
    g = this->scaled(g);
    return y;
  }
};

// Decaying averages of squares, and weights that may be clipped.
template <class T>
struct RmsBase : RuleBase<T> {
  explicit RmsBase(const UpdateScalars& p)
      : RuleBase<T>(p),
        gamma1(p.gamma1),
        epsilon(p.epsilon),
        weight_limit(limit_or_none<T>(p.clip_weights, !(p.clip_weights > 0))) {}
  const T gamma1, epsilon, weight_limit;
};

template <class T>
struct RmsProp : RmsBase<T> {
  using RmsBase<T>::RmsBase;
  static constexpr int kStates = 1;
  MX_RULE_INLINE T operator()(T w, T& g, T& n, T&, T&) const {
    const T d = this->clipped_decayed(g, w);
    n = (T(1) - this->gamma1) * d * d + this->gamma1 * n;
    return clip(w - this->lr * d / std::sqrt(n + this->epsilon), this->weight_limit);
  }
};

template <class T>
struct RmsPropAlex : RmsBase<T> {
  explicit RmsPropAlex(const UpdateScalars& p) : RmsBase<T>(p), gamma2(p.gamma2) {}
  static constexpr int kStates = 3;
  MX_RULE_INLINE T operator()(T w, T& g, T& n, T& mean, T& delta) const {
    const T d = this->clipped_decayed(g, w);
    n = (T(1) - this->gamma1) * d * d + this->gamma1 * n;
    mean = (T(1) - this->gamma1) * d + this->gamma1 * mean;
    const T variance =
        n - mean * mean;  // of gradients that hardly change rounding makes it negative
    delta = gamma2 * delta -
            this->lr * d / std::sqrt((variance < T(0) ? T(0) : variance) + this->epsilon);
    return clip(w + delta, this->weight_limit);
  }
  const T gamma2;
};

// The weight is made anew of the state in each step, so that a rounding of either goes through all
// that follow: both are computed in double and rounded once.
template <class T>
struct Ftrl : RuleBase<T> {
  explicit Ftrl(const UpdateScalars& p)
      : RuleBase<T>(p), lamda1(p.lamda1), beta(p.beta), per_rate(1.0 / p.lr) {}
  static constexpr int kStates = 2;
  MX_RULE_INLINE T operator()(T w, T& g, T& z, T& n, T&) const {
    const T d = this->scaled(g);
    const T old_root = std::sqrt(n);
    n = n + d * d;
    const T root = std::sqrt(n);
    z = static_cast<T>(z + (d - (double{root} - old_root) * w * per_rate));
    const double y = (sign(z) * lamda1 - double{z}) / ((beta + root) * per_rate + this->wd);
    return std::fabs(z) <= lamda1 ? T(0) : static_cast<T>(y);  // NaN stays NaN
  }
  const T lamda1;
  const double beta, per_rate;
};

template <class T>
struct Ftml : RuleBase<T> {
  explicit Ftml(const UpdateScalars& p)
      : RuleBase<T>(p),
        beta1(p.beta1),
        beta2(p.beta2),
        epsilon(static_cast<T>(p.ftml_epsilon)),
        rate(static_cast<T>((1 - std::pow(double{p.beta1}, p.t)) / p.lr)),
        correction2(static_cast<T>(1 - std::pow(double{p.beta2}, p.t))) {}
  static constexpr int kStates = 3;
  MX_RULE_INLINE T operator()(T w, T& g, T& d, T& v, T& z) const {
    const T h = this->clipped_decayed(g, w);
    v = beta2 * v + (T(1) - beta2) * h * h;
    const T next_d = rate * (std::sqrt(v / correction2) + epsilon);
    z = beta1 * z + (T(1) - beta1) * h - (next_d - beta1 * d) * w;
    d = next_d;
    return -z / next_d;
  }
  const T beta1, beta2, epsilon, rate, correction2;
};

template <class T>
struct AdaGrad : RuleBase<T> {
  explicit AdaGrad(const UpdateScalars& p) : RuleBase<T>(p), epsilon(p.epsilon) {}
  static constexpr int kStates = 1;
  MX_RULE_INLINE T operator()(T w, T& g, T& history, T&, T&) const {
    const T d = this->scaled(g);
    history = history + d * d;
    return w - this->lr * (d / std::sqrt(history + epsilon) + this->wd * w);
  }
  const T epsilon;
};

// As long as recent steps were, relative to recent gradients: without a learning rate.
template <class T>
struct AdaDelta : RuleBase<T> {
  explicit AdaDelta(const UpdateScalars& p)
      : RuleBase<T>(p),
        rho(static_cast<T>(p.decay1)),
        rest(static_cast<T>(1 - p.decay1)),
        epsilon(p.epsilon) {}
  static constexpr int kStates = 2;
  MX_RULE_INLINE T operator()(T w, T& g, T& squares, T& steps, T&) const {
    const T d = this->scaled(g);
    squares = rho * squares + rest * d * d;
    const T step = std::sqrt(steps + epsilon) / std::sqrt(squares + epsilon) * d;
    steps = rho * steps + rest * step * step;
    return w - (step + this->wd * w);
  }
  const T rho, rest, epsilon;
};

// Adam with the largest recent gradient in place of the mean of squares; its rate is corrected by
// the caller.
template <class T>
struct Adamax : RuleBase<T> {
  explicit Adamax(const UpdateScalars& p)
      : RuleBase<T>(p),
        beta1(static_cast<T>(p.decay1)),
        rest1(static_cast<T>(1 - p.decay1)),
        beta2(static_cast<T>(p.decay2)) {}
  static constexpr int kStates = 2;
  MX_RULE_INLINE T operator()(T w, T& g, T& mean, T& largest, T&) const {
    const T d = this->clipped_decayed(g, w);
    mean = beta1 * mean + rest1 * d;
    const T before = beta2 * largest, now = std::fabs(d);
    largest = before > now ? before : now;
    return w - this->lr * mean / largest;
  }
  const T beta1, rest1, beta2;
};

// Adam whose step looks ahead: a mixture of the gradient and of its mean, which the schedule says.
template <class T>
struct Nadam : RuleBase<T> {
  explicit Nadam(const UpdateScalars& p)
      : RuleBase<T>(p),
        beta1(static_cast<T>(p.decay1)),
        rest1(static_cast<T>(1 - p.decay1)),
        beta2(static_cast<T>(p.decay2)),
        rest2(static_cast<T>(1 - p.decay2)),
        correction2(static_cast<T>(1 - std::pow(p.decay2, p.t))),
        grad_share(static_cast<T>(p.grad_share)),
        mean_share(static_cast<T>(p.mean_share)),
        epsilon(p.epsilon) {}
  static constexpr int kStates = 2;
  MX_RULE_INLINE T operator()(T w, T& g, T& mean, T& square, T&) const {
    const T d = this->clipped_decayed(g, w);
    mean = beta1 * mean + rest1 * d;
    square = beta2 * square + rest2 * d * d;
    const T ahead = grad_share * d + mean_share * mean;
    return w - this->lr * ahead / (std::sqrt(square / correction2) + epsilon);
  }
  const T beta1, rest1, beta2, rest2, correction2, grad_share, mean_share, epsilon;
};

// Not the new weight but the direction that LAMB then scales by the ratio of two norms.
template <class T>
struct LambDirection : MomentsBase<T> {
  explicit LambDirection(const UpdateScalars& p)
      : MomentsBase<T>(p),
        correction1(p.bias_correction ? static_cast<T>(1 - std::pow(double{p.beta1}, p.t)) : T(1)),
        correction2(p.bias_correction ? static_cast<T>(1 - std::pow(double{p.beta2}, p.t)) : T(1)) {
  }
  MX_RULE_INLINE T operator()(T w, T& g, T& mean, T& var, T&) const {
    this->accumulate(this->scaled(g), mean, var);
    return (mean / correction1) / (std::sqrt(var / correction2) + this->epsilon) + this->wd * w;
  }
  const T correction1, correction2;
};

}  // namespace mxnet::update_rules
