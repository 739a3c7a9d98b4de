// SPDX-License-Identifier: Apache-2.0
// What happens where MXNET_CUDA_ALLOW_TENSOR_CORE=0 leaves nothing of half types.
#pragma once
#include "base/error.h"

namespace mxnet::cuda {

// Says once in a process, of the first it meets, that layers and products of half types are
// computed on tensor cores all the same. `why` there was nothing else.
void say_tensor_cores_all_the_same(const Error& why);

}  // namespace mxnet::cuda
