// SPDX-License-Identifier: Apache-2.0
// A whole recurrent network on plain arrays of float or double, forward and backward.
#pragma once
#include <cstdint>
#include <optional>

#include "base/half.h"
#include "base/matrix_unit.h"
#include "op/infer.h"
#include "op/kernel.h"
#include "op/rnn/backward_arrays.h"
#include "op/rnn/layout.h"
#include "op/rnn/weight_cache.h"

namespace mxnet::rnn {

struct Extent {
  int64_t steps, batch, input_size;
};

// `lengths` is null, or holds the number of steps of each sample: after its end, outputs are zero
// and the state stays.
template <class T>
struct ForwardArrays {
  const T *data, *params, *state, *cell;
  // The parameters where products are of bfloat16, else null; of `params` only the biases are read
  // then.
  const bfloat16* narrow_params;
  bool packs;  // weights are packed first; else BLAS reads them as they lie
  WeightHome home;
  const int64_t* lengths;
  T *out, *state_out, *cell_out;  // the last two may be null
  T* reserve;
  bool keeps_reserve;  // whether the backward call may come; else it is scratch
};
// Whether MXNET_ONEDNN_ENABLED and MXNET_USE_ONEDNN_RNN choose packed weights: where they choose
// oneDNN in 1.x, the kernels here are the library's own.
bool packed_weights_chosen();
// Who multiplies in a format of the matrix unit, which may be `there`; nobody where
// MXNET_RNN_MATRIX_UNIT does not choose it, which asks whether it `gains`.
std::optional<MultipliedBy> by_matrix_unit(bool there, bool gains = true);
// Whether layers of these sizes can multiply in bfloat16 here.
bool multiplies_bfloat16(const RnnParams& params, int64_t input_size);
template <class T>
void run_forward(const RnnParams& params, const Extent& extent, const ForwardArrays<T>& arrays,
                 KernelContext& context);

// The operator's forward call; weights are kept at `home`.
void forward_on_host(const RnnParams& params, bool packs, const WeightHome& home,
                     KernelContext& context);
// Visible outputs and the reserve.
int num_rnn_outputs(const RnnParams& params);
// Types of outputs, where those of the data and of the states, from input `state` on, are known.
void infer_results(const RnnParams& params, Infer& infer, int state);

// Lengths as above.
template <class T>
using HostBackwardArrays = BackwardArrays<T, const int64_t*>;
template <class T>
void run_backward(const RnnParams& params, const Extent& extent,
                  const HostBackwardArrays<T>& arrays, KernelContext& context);

}  // namespace mxnet::rnn
