// SPDX-License-Identifier: Apache-2.0
// Copies of bytes that lie together, by threads that walk to and fro.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace mxnet {

struct LongPiece {
  const char* from;
  char* to;
  int64_t bytes;
};

// Copies them all, each thread a part of all their bytes, in the order in which they are named or
// the other way round. `whole`: the bytes of the result that these are a part of. What is read and
// what is written do not overlap.
void copy_pieces(std::span<const LongPiece> pieces, int64_t whole);

// The same of one that is the whole.
void copy_block(const void* from, void* to, std::size_t bytes);

}  // namespace mxnet
