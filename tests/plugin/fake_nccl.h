// SPDX-License-Identifier: Apache-2.0
// What a test asks of the NCCL that it links in place of the real one.
#pragma once
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <string>
#include <vector>

namespace fake_nccl {

// What was called since the last time, in words.
std::vector<std::string> take_calls();
// Answers of `function` are errors from now on; empty = of none.
void fail_in(std::string function);
// How it makes other devices current and puts back what it has found, as the real one does; its
// destroy only the former.
void change_device_with(cudaError_t (*set_device)(int), cudaError_t (*get_device)(int*));

}  // namespace fake_nccl
