// SPDX-License-Identifier: Apache-2.0
// Who factors matrices that both a block of threads and cuSOLVER can factor.
#pragma once
#include <cstdint>

namespace mxnet::cuda {

// cuSOLVER has the whole GPU for a matrix, one after the other, in many launches each; blocks take
// as many matrices at a time as the GPU has processors. Large matrices are the former's, whatever
// their number; of those between, few are. An estimate: no GPU has measured it.
constexpr bool is_large_for_a_block(int64_t n, int64_t batch) {
  constexpr int64_t kMiddle = 128, kLarge = 1024, kFew = 16;
  return n >= kLarge || (n >= kMiddle && batch <= kFew);
}

// Whether matrices in between are factored by one call for all: a block of ours that works in the
// device's memory is for small ones. An estimate as well.
constexpr bool is_batch_for_library(int64_t n, int64_t batch) {
  constexpr int64_t kSmall = 32;
  return n >= kSmall && batch > 1 && !is_large_for_a_block(n, batch);
}

// Whether equations with triangles are cuBLAS's, one matrix after the other: where a thread takes a
// right-hand side, each of its n * n steps waits for memory. An estimate as well.
constexpr bool is_large_for_a_thread(int64_t n, int64_t batch) {
  constexpr int64_t kMiddle = 64, kLarge = 256, kFew = 32;
  return n >= kLarge || (n >= kMiddle && batch <= kFew);
}

// Whether eigenvalues of all are one call; a large matrix has the whole GPU for itself.
constexpr bool has_batched_spectra(int64_t n, int64_t batch) {
  constexpr int64_t kLarge = 512;
  return batch > 1 && n <= kLarge;
}

// The same of singular values, of which the library takes no wider matrices (Solver::kMostTogether)
// and counts the matrices in 32 bits.
constexpr bool has_batched_singular_values(int64_t n, int64_t batch, int64_t widest) {
  return batch > 1 && batch <= INT32_MAX && n <= widest;
}

}  // namespace mxnet::cuda
