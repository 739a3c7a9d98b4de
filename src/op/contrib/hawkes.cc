// SPDX-License-Identifier: Apache-2.0
// Operators of op/contrib/hawkes.h.
#include "op/contrib/hawkes.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "op/loops/computed.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

using namespace hawkes;  // NOLINT(google-build-using-namespace): the inputs' names

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

[[noreturn]] void fail(const char* input, double given, int64_t most) {
  throw Error(ErrorCode::kValue, "_contrib_hawkesll",
              fmt::format("{}: given {}, expected 0 to {}", input, given, most));
}
template <class T>
void check(const HawkesSequences<T>& s) {
  for (int64_t i = 0; i < s.count; ++i) {
    if (!s.has_length(i)) fail("valid_length", static_cast<double>(s.lengths[i]), s.longest);
    for (int64_t j = 0; j < s.length_of(i); ++j)
      if (!s.has_mark(i, j)) fail("marks", s.mark(i, j), s.kinds - 1);
  }
}

void hawkes_cpu(const NoParams&, KernelContext& context) {
  compute(context.in(kRate).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const HawkesSequences<T> sequences(arrays, context);
    check(sequences);
    T *likelihood = arrays.out(0), *state = arrays.out(1);
    std::copy_n(sequences.state, sequences.count * sequences.kinds, state);
    parallel_for(
        sequences.count, static_cast<double>(64 * (sequences.longest + sequences.kinds)),
        [&](int64_t first, int64_t last) {
          std::vector<T> times(static_cast<std::size_t>(sequences.kinds));
          for (int64_t i = first; i < last; ++i) {
            std::fill(times.begin(), times.end(), T{0});
            likelihood[i] =
                hawkes_likelihood(sequences, i, state + i * sequences.kinds, times.data());
          }
        },
        1);
  });
}

// Inputs: those of the operator, then gradients of the likelihoods and of the final state.
void hawkes_backward_cpu(const NoParams&, KernelContext& context) {
  compute(context.in(kRate).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const HawkesSequences<T> s(arrays, context);
    check(s);
    const T *dlikelihood = arrays.in(kInputs), *dend = arrays.in(kInputs + 1);
    T *drate = arrays.out(0), *dalpha = arrays.out(1), *dbeta = arrays.out(2),
      *dstate = arrays.out(3);
    std::fill_n(drate, s.count * s.kinds, T{0});
    std::fill_n(dalpha, s.kinds, T{0});
    std::fill_n(dbeta, s.kinds, T{0});
    std::vector<HawkesEvent<T>> events(static_cast<std::size_t>(s.longest));
    for (int64_t i = 0; i < s.count; ++i) {
      const int64_t at = i * s.kinds;
      std::vector<T> last(static_cast<std::size_t>(s.kinds)),
          state(s.state + at, s.state + at + s.kinds);
      hawkes_gradients(s, i, dlikelihood[i], dend + at, drate + at, dalpha, dbeta, dstate + at,
                       last.data(), state.data(), events.data());
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
      .input("valid_length", "Number of events of each sequence, rounded up.")
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
