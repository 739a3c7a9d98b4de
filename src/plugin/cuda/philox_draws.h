// SPDX-License-Identifier: Apache-2.0
// A Philox sequence as words that distributions are made of, for a thread of a kernel or the host.
#pragma once
#include "op/generators/random_numbers.h"
#include "plugin/cuda/philox.h"

namespace mxnet {
namespace cuda {

#ifdef __CUDACC__
#define MX_OUT_OF_LINE __host__ __device__ __noinline__
#else
#define MX_OUT_OF_LINE
#endif

// The words of one element.
class PhiloxDraws : public RandomNumbers<PhiloxDraws> {
 public:
  MX_DEVICE PhiloxDraws(uint64_t key, int64_t element)
      : key_(key), element_(static_cast<uint64_t>(element)) {}
  MX_DEVICE uint32_t word() {
    if (left_ == 0) refill();
    return words_.word[4 - left_--];
  }

 private:
  // Not where each word is taken, of which there are dozens: ptxas would take minutes.
  MX_OUT_OF_LINE void refill() {
    // The last word tells these sequences from those of philox(), of which it is 0.
    words_ = philox_block(
        {{static_cast<uint32_t>(element_), static_cast<uint32_t>(element_ >> 32), block_++, 1}},
        static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32));
    left_ = 4;
  }

  uint64_t key_, element_;
  uint32_t block_ = 0;
  int left_ = 0;
  PhiloxWords words_;
};

}  // namespace cuda
}  // namespace mxnet
