// SPDX-License-Identifier: Apache-2.0
// Log likelihood of marked self-exciting (Hawkes) processes with exponential kernels, given the
// times between their events. The state is the excitation of each mark at the last event.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "op/computed.h"
#include "op/op_builder.h"
#include "op/parallel.h"

namespace mxnet {
namespace {

enum Input { kRate, kAlpha, kBeta, kState, kLags, kMarks, kLength, kMaxTime, kInputs };

void infer_inputs(Infer& infer) {
  for (const int i : {kAlpha, kBeta, kState, kLags, kLength, kMaxTime})
    infer.in(kRate).same_dtype(infer.in(i));
  infer.in(kRate).set_shape(Shape{-1, -1});
  infer.in(kLags).set_shape(Shape{infer.in(kRate).dim(0), -1});
  infer.in(kState).same_shape(infer.in(kRate));
  infer.in(kMarks).set_dtype(DType::kInt32).same_shape(infer.in(kLags));
  for (const int i : {kAlpha, kBeta}) infer.in(i).set_shape(Shape{infer.in(kRate).dim(1)});
  for (const int i : {kLength, kMaxTime}) infer.in(i).set_shape(Shape{infer.in(kRate).dim(0)});
}

// The sequences of a call, of T.
template <class T>
struct Sequences {
  const T *rate, *alpha, *beta, *state, *lags, *max_time;
  const int32_t* marks;
  std::vector<int64_t> length;
  int64_t count, kinds, longest;

  Sequences(Computed<T>& arrays, const KernelContext& context)
      : rate(arrays.in(kRate)),
        alpha(arrays.in(kAlpha)),
        beta(arrays.in(kBeta)),
        state(arrays.in(kState)),
        lags(arrays.in(kLags)),
        max_time(arrays.in(kMaxTime)),
        marks(context.in(kMarks).as<int32_t>()),
        count(context.in(kRate).dim(0)),
        kinds(context.in(kRate).dim(1)),
        longest(context.in(kLags).dim(1)) {
    const T* lengths = arrays.in(kLength);
    for (int64_t i = 0; i < count; ++i) {
      if (!(lengths[i] >= 0 && lengths[i] <= static_cast<T>(longest)))
        fail("valid_length", static_cast<double>(lengths[i]), longest);
      length.push_back(static_cast<int64_t>(lengths[i]));
      for (int64_t j = 0; j < length.back(); ++j) {
        const int32_t mark = marks[i * longest + j];
        if (mark < 0 || mark >= kinds) fail("marks", mark, kinds - 1);
      }
    }
  }
  int64_t length_of(int64_t i) const { return length[static_cast<std::size_t>(i)]; }
  double cost() const { return static_cast<double>(64 * (longest + kinds)); }

 private:
  static void fail(const char* input, double given, int64_t most) {
    throw Error(ErrorCode::kValue, "_contrib_hawkesll",
                fmt::format("{}: given {}, expected 0 to {}", input, given, most));
  }
};

// One sequence. For each mark: its excitation and the time of its last event.
template <class T>
T log_likelihood(const Sequences<T>& s, int64_t i, T* state) {
  std::vector<T> last(static_cast<std::size_t>(s.kinds), T{0});
  T likelihood{0}, time{0};
  for (int64_t j = 0; j < s.length_of(i); ++j) {
    const int64_t mark = s.marks[i * s.longest + j];
    T& before = last[static_cast<std::size_t>(mark)];
    time += s.lags[i * s.longest + j];
    const T passed = time - before, rate = s.rate[i * s.kinds + mark];
    const T decay = std::exp(-s.beta[mark] * passed);
    const T intensity = rate + s.alpha[mark] * s.beta[mark] * state[mark] * decay;
    likelihood += std::log(intensity) - rate * passed - s.alpha[mark] * state[mark] * (1 - decay);
    state[mark] = 1 + state[mark] * decay;
    before = time;
  }
  for (int64_t m = 0; m < s.kinds; ++m) {
    const T passed = s.max_time[i] - last[static_cast<std::size_t>(m)];
    const T decay = std::exp(-s.beta[m] * passed);
    likelihood -= s.rate[i * s.kinds + m] * passed + s.alpha[m] * state[m] * (1 - decay);
    state[m] *= decay;
  }
  return likelihood;
}

void hawkes_cpu(const NoParams&, KernelContext& context) {
  compute(context.in(kRate).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const Sequences<T> sequences(arrays, context);
    T *likelihood = arrays.out(0), *state = arrays.out(1);
    std::copy_n(sequences.state, sequences.count * sequences.kinds, state);
    parallel_for(
        sequences.count, sequences.cost(),
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i)
            likelihood[i] = log_likelihood(sequences, i, state + i * sequences.kinds);
        },
        1);
  });
}

// What the backward pass of a sequence has to know of an event.
template <class T>
struct Event {
  int64_t mark;
  T passed, state, decay;
};

// Gradients of one sequence; those of alpha and beta are summed over all.
template <class T>
void gradients(const Sequences<T>& s, int64_t i, T dlikelihood, const T* dend, T* drate, T* dalpha,
               T* dbeta, T* dstate) {
  std::vector<T> last(static_cast<std::size_t>(s.kinds), T{0});
  std::vector<T> state(s.state + i * s.kinds, s.state + (i + 1) * s.kinds);
  std::vector<Event<T>> events;
  T time{0};
  for (int64_t j = 0; j < s.length_of(i); ++j) {
    const int64_t mark = s.marks[i * s.longest + j];
    const auto m = static_cast<std::size_t>(mark);
    time += s.lags[i * s.longest + j];
    const T passed = time - last[m], decay = std::exp(-s.beta[mark] * passed);
    events.push_back({mark, passed, state[m], decay});
    state[m] = 1 + state[m] * decay;
    last[m] = time;
  }
  // d[m]: gradient of the excitation after the events that are still to be undone.
  const T d = dlikelihood;
  for (int64_t m = 0; m < s.kinds; ++m) {
    const auto at = static_cast<std::size_t>(m);
    const T passed = s.max_time[i] - last[at], decay = std::exp(-s.beta[m] * passed);
    drate[m] -= d * passed;
    dalpha[m] -= d * state[at] * (1 - decay);
    // Of decay: alpha * state from the likelihood, state from the final state.
    const T ddecay = d * s.alpha[m] * state[at] + dend[m] * state[at];
    dbeta[m] -= ddecay * decay * passed;
    dstate[m] = dend[m] * decay - d * s.alpha[m] * (1 - decay);
  }
  for (std::size_t j = events.size(); j-- > 0;) {
    const Event<T>& e = events[j];
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

// Inputs: those of the operator, then gradients of the likelihoods and of the final state.
void hawkes_backward_cpu(const NoParams&, KernelContext& context) {
  compute(context.in(kRate).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const Sequences<T> s(arrays, context);
    const T *dlikelihood = arrays.in(kInputs), *dend = arrays.in(kInputs + 1);
    T *drate = arrays.out(0), *dalpha = arrays.out(1), *dbeta = arrays.out(2),
      *dstate = arrays.out(3);
    std::fill_n(drate, s.count * s.kinds, T{0});
    std::fill_n(dalpha, s.kinds, T{0});
    std::fill_n(dbeta, s.kinds, T{0});
    for (int64_t i = 0; i < s.count; ++i) {
      gradients(s, i, dlikelihood[i], dend + i * s.kinds, drate + i * s.kinds, dalpha, dbeta,
                dstate + i * s.kinds);
    }
  });
}

template <class Builder>
Builder& declare_inputs(Builder& op) {
  return op.input("lda", "Base rates, (sequences, marks).")
      .input("alpha", "Branching ratio of each mark.")
      .input("beta", "Decay of each mark.")
      .input("state", "Excitation at the start, (sequences, marks).")
      .input("lags", "Times between events, (sequences, events).")
      .input("marks", "Marks of events, int32.")
      .input("valid_length", "Number of events of each sequence.")
      .input("max_time", "When the observation of each sequence ends.");
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<NoParams> forward("_contrib_hawkesll");
  declare_inputs(forward)
      .doc("Log likelihood of marked self-exciting processes, and their excitation at the end.")
      .outputs([](const NoParams&) { return 2; })
      .output("output")
      .output("out_state")
      .lenient()
      .dtypes(kAllTypes)
      .infer([](const NoParams&, Infer& infer) {
        infer_inputs(infer);
        infer.out(0).same_dtype(infer.in(kRate)).set_shape(Shape{infer.in(kRate).dim(0)});
        infer.out(1).same_as(infer.in(kState));
      })
      .cpu(hawkes_cpu)
      .grad([](const NoParams&, Grad& grad) {
        std::vector<Value> values;
        values.reserve(kInputs + 2);
        for (int i = 0; i < kInputs; ++i) values.push_back(grad.in(i));
        for (int i = 0; i < 2; ++i) values.push_back(grad.dout(i));
        Gradients result(kInputs);
        result[0] = mxnet::apply("_backward_hawkesll", values);
        for (int i = 1; i < 4; ++i) result[static_cast<std::size_t>(i)] = output(result[0], i);
        return result;
      });
  OpBuilder<NoParams> backward("_backward_hawkesll");
  declare_inputs(backward)
      .doc("Gradient of _contrib_hawkesll.")
      .input("dlikelihood", "Gradient of the likelihoods.")
      .input("dstate", "Gradient of the excitation at the end.")
      .outputs([](const NoParams&) { return 4; })
      .dtypes(kAllTypes)
      .infer([](const NoParams&, Infer& infer) {
        infer_inputs(infer);
        for (int i = 0; i < 4; ++i) infer.out(i).same_as(infer.in(i));
      })
      .cpu(hawkes_backward_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet
