// SPDX-License-Identifier: Apache-2.0
// Log likelihood of marked self-exciting (Hawkes) processes with exponential kernels, given the
// times between their events, for the host and for kernels. The state is the excitation of each
// mark at the last event.
#pragma once
#include <cmath>
#include <cstdint>

#include "base/host_device.h"
#include "op/kernel.h"

namespace mxnet {

namespace hawkes {
enum Input { kRate, kAlpha, kBeta, kState, kLags, kMarks, kLength, kMaxTime, kInputs };
}

// The sequences of a call, of T.
template <class T>
struct HawkesSequences {
  const T *rate, *alpha, *beta, *state, *lags, *max_time;
  const int32_t* marks;
  const T* lengths;
  int64_t count, kinds, longest;

  template <class Arrays>
  HawkesSequences(Arrays& arrays, const KernelContext& context)
      : rate(arrays.in(hawkes::kRate)),
        alpha(arrays.in(hawkes::kAlpha)),
        beta(arrays.in(hawkes::kBeta)),
        state(arrays.in(hawkes::kState)),
        lags(arrays.in(hawkes::kLags)),
        max_time(arrays.in(hawkes::kMaxTime)),
        marks(context.in(hawkes::kMarks).as<int32_t>()),
        lengths(arrays.in(hawkes::kLength)),
        count(context.in(hawkes::kRate).dim(0)),
        kinds(context.in(hawkes::kRate).dim(1)),
        longest(context.in(hawkes::kLags).dim(1)) {}

  MX_HOST_DEVICE bool has_length(int64_t i) const {
    return lengths[i] >= 0 && lengths[i] <= static_cast<T>(longest);
  }
  // A part of an event counts as one.
  MX_HOST_DEVICE int64_t length_of(int64_t i) const {
    return static_cast<int64_t>(std::ceil(lengths[i]));
  }
  MX_HOST_DEVICE int32_t mark(int64_t i, int64_t j) const { return marks[i * longest + j]; }
  MX_HOST_DEVICE bool has_mark(int64_t i, int64_t j) const {
    return mark(i, j) >= 0 && mark(i, j) < kinds;
  }
  MX_HOST_DEVICE bool is_valid(int64_t i) const {
    bool valid = has_length(i);
    for (int64_t j = 0; valid && j < length_of(i); ++j) valid = has_mark(i, j);
    return valid;
  }
};

// Of sequence i, which is valid. `state`, the excitation of each mark, becomes that at the end;
// `last`, the time of each mark's last event, is scratch of zeros.
template <class T>
MX_HOST_DEVICE T hawkes_likelihood(const HawkesSequences<T>& s, int64_t i, T* state, T* last) {
  T likelihood{0}, time{0};
  for (int64_t j = 0; j < s.length_of(i); ++j) {
    const int64_t mark = s.mark(i, j);
    time += s.lags[i * s.longest + j];
    const T passed = time - last[mark], rate = s.rate[i * s.kinds + mark];
    const T decay = std::exp(-s.beta[mark] * passed);
    const T intensity = rate + s.alpha[mark] * s.beta[mark] * state[mark] * decay;
    likelihood += std::log(intensity) - rate * passed - s.alpha[mark] * state[mark] * (1 - decay);
    state[mark] = 1 + state[mark] * decay;
    last[mark] = time;
  }
  for (int64_t m = 0; m < s.kinds; ++m) {
    const T passed = s.max_time[i] - last[m];
    const T decay = std::exp(-s.beta[m] * passed);
    likelihood -= s.rate[i * s.kinds + m] * passed + s.alpha[m] * state[m] * (1 - decay);
    state[m] *= decay;
  }
  return likelihood;
}

// What the backward pass of a sequence has to know of an event.
template <class T>
struct HawkesEvent {
  int64_t mark;
  T passed, state, decay;
};

// Gradients of sequence i by those of its likelihood and of its final state: added to drate, dalpha
// and dbeta, written to dstate. Scratch: `last` zeros, `state` the excitation at the start, an
// event for each.
template <class T>
MX_HOST_DEVICE void hawkes_gradients(const HawkesSequences<T>& s, int64_t i, T dlikelihood,
                                     const T* dend, T* drate, T* dalpha, T* dbeta, T* dstate,
                                     T* last, T* state, HawkesEvent<T>* events) {
  T time{0};
  const int64_t count = s.length_of(i);
  for (int64_t j = 0; j < count; ++j) {
    const int64_t mark = s.mark(i, j);
    time += s.lags[i * s.longest + j];
    const T passed = time - last[mark], decay = std::exp(-s.beta[mark] * passed);
    events[j] = {mark, passed, state[mark], decay};
    state[mark] = 1 + state[mark] * decay;
    last[mark] = time;
  }
  // dstate[m]: gradient of the excitation after the events that are still to be undone.
  const T d = dlikelihood;
  for (int64_t m = 0; m < s.kinds; ++m) {
    const T passed = s.max_time[i] - last[m], decay = std::exp(-s.beta[m] * passed);
    drate[m] -= d * passed;
    dalpha[m] -= d * state[m] * (1 - decay);
    // Of decay: alpha * state from the likelihood, state from the final state.
    const T ddecay = d * s.alpha[m] * state[m] + dend[m] * state[m];
    dbeta[m] -= ddecay * decay * passed;
    dstate[m] = dend[m] * decay - d * s.alpha[m] * (1 - decay);
  }
  for (int64_t j = count; j-- > 0;) {
    const HawkesEvent<T>& e = events[j];
    const int64_t m = e.mark;
    const T alpha = s.alpha[m], beta = s.beta[m];
    const T intensity = s.rate[i * s.kinds + m] + alpha * beta * e.state * e.decay;
    const T dlog = d / intensity;
    drate[m] += dlog - d * e.passed;
    dalpha[m] += dlog * beta * e.state * e.decay - d * e.state * (1 - e.decay);
    const T ddecay = dlog * alpha * beta * e.state + d * alpha * e.state + dstate[m] * e.state;
    dbeta[m] += dlog * alpha * e.state * e.decay - ddecay * e.decay * e.passed;
    dstate[m] = dstate[m] * e.decay + dlog * alpha * beta * e.decay - d * alpha * (1 - e.decay);
  }
}

}  // namespace mxnet
