// SPDX-License-Identifier: Apache-2.0
// What a test asks of the cuBLASLt that stands in for the real one.
#pragma once
#include <cublasLt.h>

namespace fake_cublaslt {

// The next `times` searches for an algorithm of a product with an epilogue (or of any) are answered
// so.
void fail_searches(cublasStatus_t status, int times, bool with_epilogue_alone = false);
// Searches answer as if there were products with an epilogue, and each of these is refused.
void refuse_epilogues(bool yes);
// Products of half types exist on tensor cores alone, as on some GPUs.
void have_halves_on_tensor_cores_alone(bool yes);
// There are no products of int8, as on a GPU without tensor cores for them.
void lack_bytes(bool yes);

struct Counts {
  int searches = 0, products = 0;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;  // of the last product
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
};
// Since it was last asked.
Counts take_counts();

}  // namespace fake_cublaslt
