// SPDX-License-Identifier: Apache-2.0
// Hawkes processes (op/contrib/hawkes.h), a sequence by one thread: each event needs those before.
// A sequence with a mark or a length out of range has no numbers: NaN, since kernels cannot throw.
#include "op/contrib/hawkes.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"

namespace mxnet {
namespace cuda {
namespace {

using namespace hawkes;  // NOLINT(google-build-using-namespace): the inputs' names

template <class T>
struct Likelihoods {
  HawkesSequences<T> sequences;
  T *likelihood, *state, *last;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t kinds = sequences.kinds, at = i * kinds;
    const bool valid = sequences.is_valid(i);
    for (int64_t m = 0; m < kinds; ++m) {
      last[at + m] = T(0);
      state[at + m] = valid ? sequences.state[at + m] : static_cast<T>(NAN);
    }
    likelihood[i] =
        valid ? hawkes_likelihood(sequences, i, state + at, last + at) : static_cast<T>(NAN);
  }
};
void hawkes_forward(const void*, KernelContext& context) {
  compute(context.in(kRate).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const HawkesSequences<T> s(arrays, context);
    T *const likelihood = arrays.out(0), *const state = arrays.out(1);
    for_each(arrays.stream(), "_contrib_hawkesll", s.count,
             Likelihoods<T>{s, likelihood, state, context.workspace_of<T>(s.count * s.kinds)});
  });
}

template <class T>
struct LikelihoodSlopes {
  HawkesSequences<T> sequences;
  const T *dlikelihood, *dend;
  T *drate, *dalpha, *dbeta, *dstate;  // of each sequence
  T *last, *state;
  HawkesEvent<T>* events;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t kinds = sequences.kinds, at = i * kinds;
    const bool valid = sequences.is_valid(i);
    for (int64_t m = at; m < at + kinds; ++m) {
      drate[m] = dalpha[m] = dbeta[m] = dstate[m] = valid ? T(0) : static_cast<T>(NAN);
      last[m] = T(0);
      state[m] = sequences.state[m];
    }
    if (valid)
      hawkes_gradients(sequences, i, dlikelihood[i], dend + at, drate + at, dalpha + at, dbeta + at,
                       dstate + at, last + at, state + at, events + i * sequences.longest);
  }
};
template <class T>
struct SumSequences {
  const T* parts;
  T* sums;
  int64_t count, kinds;
  MX_DEVICE void operator()(int64_t m) const {
    T sum(0);
    for (int64_t i = 0; i < count; ++i) sum += parts[i * kinds + m];
    sums[m] = sum;
  }
};
// Inputs: those of the operator, then gradients of the likelihoods and of the final state.
void hawkes_backward(const void*, KernelContext& context) {
  compute(context.in(kRate).dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    const HawkesSequences<T> s(arrays, context);
    const int64_t numbers = s.count * s.kinds;
    const auto scratch = [&] { return context.workspace_of<T>(numbers); };
    T *const dalpha = scratch(), *const dbeta = scratch();
    T *const drate = arrays.out(0), *const dstate = arrays.out(3);
    for_each(arrays.stream(), "_contrib_hawkesll", s.count,
             LikelihoodSlopes<T>{s, arrays.in(kInputs), arrays.in(kInputs + 1), drate, dalpha,
                                 dbeta, dstate, scratch(), scratch(),
                                 context.workspace_of<HawkesEvent<T>>(s.count * s.longest)});
    T *const alpha_sums = arrays.out(1), *const beta_sums = arrays.out(2);
    for_each(arrays.stream(), "_contrib_hawkesll", s.kinds,
             SumSequences<T>{dalpha, alpha_sums, s.count, s.kinds});
    for_each(arrays.stream(), "_contrib_hawkesll", s.kinds,
             SumSequences<T>{dbeta, beta_sums, s.count, s.kinds});
  });
}

}  // namespace

void add_hawkes(std::vector<GpuKernelRow>* rows) {
  rows->push_back({"_contrib_hawkesll", hawkes_forward, nullptr});
  rows->push_back({"_backward_hawkesll", hawkes_backward, nullptr});
}

}  // namespace cuda
}  // namespace mxnet
