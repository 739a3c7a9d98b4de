// SPDX-License-Identifier: Apache-2.0
// Rows of bytes moved from one place to another.
#pragma once
#include <cstdint>
#include <span>

#include "base/narrow_join.h"

namespace mxnet {

// `rows` rows of `width` bytes, each the given steps behind the one before. width >= 16. The C
// library's memcpy is made for one block, and for rows whose places differ by a few bytes it is up
// to thirteen times slower (Zen 4, glibc 2.36).
void copy_rows(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t width,
               int64_t rows);

// Each of `rows` rows `count` times side by side, as copy_rows() would with a step of 0. width
// >= 16. False where nothing has been done: a row is too long to stay in registers.
bool repeat_rows(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t width,
                 int64_t count, int64_t rows);

// Of `blocks` blocks of `parts` pieces of `width` bytes, `step` bytes apart, the first pieces of
// all, then the second ones and so on, one behind the other.
void pack_pieces(const char* in, int64_t step, char* out, int64_t width, int64_t blocks,
                 int64_t parts);

// The widest piece of a row (base/narrow_join.h).
inline constexpr int64_t kWidestPiece = 64;
// Joins `rows` rows of the whole out of pieces, or splits them.
void join_rows(std::span<const PieceOfRows> pieces, char* whole, int64_t rows);
void split_rows(std::span<const PieceOfRows> pieces, const char* whole, int64_t rows);

// Rows that lie together in the input, `gap` bytes apart in the result, between which goes what
// `pattern` repeats every kGapPattern bytes. width >= 16.
inline constexpr int64_t kGapPattern = 32;
void space_rows(const char* in, char* out, int64_t width, int64_t rows, const char* pattern,
                int64_t gap);

}  // namespace mxnet
