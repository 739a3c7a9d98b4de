// SPDX-License-Identifier: Apache-2.0
// Blocks of a few elements in an order of their own, as of small matrices that are transposed.
#include <cstring>

#include "op/moving/strided_kernels.h"

namespace mxnet {
namespace {

template <class T>
void move(const char* in, char* out, const StridedLoop& outer, const StridedLoop& inner,
          const SmallBlock& block) {
  constexpr int64_t kBytes = sizeof(T);
  const int64_t count = block.count();
  for (int64_t o = 0; o < outer.size; ++o, in += outer.in, out += outer.out) {
    const char* from = in;
    char* to = out;
    for (int64_t i = 0; i < inner.size; ++i, from += inner.in, to += inner.out) {
#pragma GCC unroll 4
      for (int64_t k = 0; k < count; ++k)
        std::memcpy(to + k * kBytes, from + block.place(k), sizeof(T));
    }
  }
}

}  // namespace

void move_small_blocks(const char* in, char* out, const StridedLoop& outer,
                       const StridedLoop& inner, const SmallBlock& block) {
  const auto run = block.element == 1   ? move<uint8_t>
                   : block.element == 2 ? move<uint16_t>
                   : block.element == 4 ? move<uint32_t>
                                        : move<uint64_t>;
  run(in, out, outer, inner, block);
}

}  // namespace mxnet
