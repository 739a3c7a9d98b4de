// SPDX-License-Identifier: Apache-2.0
// Philox4x32 with ten rounds: four words that look random, made of a key and a counter.
#pragma once
#include <cstdint>

#include "plugin/cuda/row_words.h"

namespace mxnet {
namespace cuda {

struct PhiloxWords {
  uint32_t word[4];
};

MX_DEVICE PhiloxWords philox_block(PhiloxWords counter, uint32_t key0, uint32_t key1) {
  // Multipliers and steps of the key, from the paper's table 2.
  for (int round = 0; round < 10; ++round) {
    const uint64_t left = static_cast<uint64_t>(0xD2511F53u) * counter.word[0];
    const uint64_t right = static_cast<uint64_t>(0xCD9E8D57u) * counter.word[2];
    counter = {
        {static_cast<uint32_t>(right >> 32) ^ counter.word[1] ^ key0, static_cast<uint32_t>(right),
         static_cast<uint32_t>(left >> 32) ^ counter.word[3] ^ key1, static_cast<uint32_t>(left)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

MX_DEVICE PhiloxWords philox(uint64_t key, uint64_t counter) {
  return philox_block(
      {{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0}},
      static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32));
}

}  // namespace cuda
}  // namespace mxnet
