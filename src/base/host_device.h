// SPDX-License-Identifier: Apache-2.0
// Marks functions that kernels on a GPU call too; nothing to compilers that are not nvcc.
#pragma once

#ifdef __CUDACC__
#define MX_HOST_DEVICE __host__ __device__
#else
#define MX_HOST_DEVICE
#endif
