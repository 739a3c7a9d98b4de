// SPDX-License-Identifier: Apache-2.0
// contract() on a GPU: two arrays by one batched matrix product.
#pragma once
#include "op/matrix/contract.h"
#include "op/run/gpu_table.h"

namespace mxnet {

// As contract(); throws Error(kNotImplemented) for other numbers of arrays and for beta != 0.
void contract_on_gpu(const GpuTable& gpu, std::span<const int64_t> dims,
                     std::span<const Labelled> in, const Labelled& out, KernelContext& context,
                     double alpha, double beta);

}  // namespace mxnet
