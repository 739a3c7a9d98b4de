// SPDX-License-Identifier: Apache-2.0
// Batches of sequences of unequal length (op/index/sequence_view.h): a value after the end, and
// reversal up to the end. Elements are moved by their size.
#include "op/index/sequence_view.h"

#include <cstring>

#include "op/run/element_size.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {
namespace {

// The place of an element: which sequence, which step of it.
struct Steps {
  int64_t steps, batch, width;
  bool steps_outside;  // else the batch is
  const int64_t* lengths;

  MX_DEVICE void place(int64_t i, int64_t* step, int64_t* sequence) const {
    const int64_t row = i / width, inner = steps_outside ? batch : steps;
    *step = steps_outside ? row / inner : row % inner;
    *sequence = steps_outside ? row % inner : row / inner;
  }
  MX_DEVICE int64_t length(int64_t sequence) const {
    return lengths == nullptr ? steps : lengths[sequence];
  }
  MX_DEVICE int64_t step_stride() const { return steps_outside ? batch * width : width; }
};
Steps steps_of(const SequenceView& view, const int64_t* lengths) {
  return {view.steps, view.batch, view.width, view.step_stride >= view.batch_stride, lengths};
}

template <class E>
struct MaskSteps {
  Steps steps;
  const E* in;
  E* out;
  E value;
  MX_DEVICE void operator()(int64_t i) const {
    int64_t step, sequence;
    steps.place(i, &step, &sequence);
    out[i] = step < steps.length(sequence) ? in[i] : value;
  }
};

template <class E>
struct ReverseSteps {
  Steps steps;
  const E* in;
  E* out;
  MX_DEVICE void operator()(int64_t i) const {
    int64_t step, sequence;
    steps.place(i, &step, &sequence);
    const int64_t length = steps.length(sequence);
    const int64_t from = step < length ? length - 1 - step : step;
    out[i] = in[i + (from - step) * steps.step_stride()];
  }
};

}  // namespace

void mask_steps(NativeStream* stream, const SequenceView& view, const int64_t* lengths,
                double value, const Tensor& in, const Tensor& out) {
  uint64_t bits = 0;  // of the value as an element
  for_dtype(out.dtype, "SequenceMask", [&](auto type) {
    using T = decltype(type);
    const T element = narrow<T>(value);
    std::memcpy(&bits, &element, sizeof(T));
  });
  dispatch_size(out.dtype, [&](auto unit) {
    using E = decltype(unit);
    for_each(stream, "SequenceMask", out.size(),
             MaskSteps<E>{steps_of(view, lengths), in.as<E>(), out.as<E>(), static_cast<E>(bits)});
  });
}

void reverse_steps(NativeStream* stream, const SequenceView& view, const int64_t* lengths,
                   const Tensor& in, const Tensor& out) {
  dispatch_size(out.dtype, [&](auto unit) {
    using E = decltype(unit);
    for_each(stream, "SequenceReverse", out.size(),
             ReverseSteps<E>{steps_of(view, lengths), in.as<E>(), out.as<E>()});
  });
}

}  // namespace cuda
}  // namespace mxnet
