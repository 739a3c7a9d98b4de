// SPDX-License-Identifier: Apache-2.0
// Two ways to choose places, by how many of all they are: replacing earlier ones, or noting what
// was moved. Either draws a word for each place that it looks at and asks what the word leaves
// divided by the place's number; words and remainders are made a block at a time.
#include "op/random/distinct_places.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

namespace mxnet {
namespace {

constexpr int64_t kBlock = 256;

// left[i] = words[i] % (first + i). A quotient of numbers of 32 bits is never rounded up to the
// next whole number: the distance to it is 2^-32 of the quotient at least.
void remainders(const uint32_t* words, int64_t first, int64_t n, uint32_t* left) {
  if (first + n > int64_t{1} << 31) {
    for (int64_t i = 0; i < n; ++i) left[i] = static_cast<uint32_t>(words[i] % (first + i));
    return;
  }
  const auto from = static_cast<int32_t>(first);
#pragma omp simd
  for (int32_t i = 0; i < static_cast<int32_t>(n); ++i) {
    // Signed numbers are what all vector units convert.
    const double word = static_cast<double>(static_cast<int32_t>(words[i] ^ 0x80000000u)) + 0x1p31;
    const auto divisor = static_cast<double>(from + i);
    left[i] =
        static_cast<uint32_t>(static_cast<int32_t>(word - std::floor(word / divisor) * divisor));
  }
}

// use(place, drawn) for the places [first, last), of which each is drawn one up to itself.
template <class Use>
void for_draws(Mt19937& stream, int64_t first, int64_t last, const Use& use) {
  std::array<uint32_t, kBlock> words, drawn;
  for (int64_t at = first; at < last; at += kBlock) {
    const int64_t n = std::min(kBlock, last - at);
    stream.fill(words.data(), n);
    remainders(words.data(), at + 1, n, drawn.data());
    for (int64_t i = 0; i < n; ++i) use(at + i, int64_t{drawn[static_cast<std::size_t>(i)]});
  }
}

// The first places, then each later one in place of a random earlier one or not at all.
void replace_earlier(Mt19937& stream, int64_t count, int64_t* out, int64_t n) {
  std::iota(out, out + n, int64_t{0});
  if (n == count) return;
  int64_t nowhere;
  for_draws(stream, n, count, [&](int64_t place, int64_t drawn) {
    *(drawn < n ? out + drawn : &nowhere) = place;  // no branch: none could be foreseen
  });
}

// What is held by places that were drawn: a table of twice as many slots at least, in which a place
// stands where its own slot is or in the next ones that were free.
class HeldPlaces {
 public:
  explicit HeldPlaces(int64_t n)
      : slots_(std::bit_ceil(static_cast<std::size_t>(2 * n))),
        shift_(64 - std::countr_zero(slots_.size())) {}

  // What `place` holds, itself at first; from now on `held`.
  int64_t exchange(int64_t place, int64_t held) {
    const std::size_t last = slots_.size() - 1;
    std::size_t at = static_cast<uint64_t>(place) * 0x9e3779b97f4a7c15u >> shift_;
    while (slots_[at].next != 0 && slots_[at].next != place + 1) at = (at + 1) & last;
    const int64_t found = slots_[at].next != 0 ? slots_[at].held : place;
    slots_[at] = {place + 1, held};
    return found;
  }

 private:
  struct Slot {
    int64_t next = 0;  // the place and one; 0: none
    int64_t held = 0;
  };
  std::vector<Slot> slots_;
  const int shift_;
};

// A few of many, with a draw for each: the window [count - n, count) gets what the draws point at.
// A place below the window that was drawn before now holds the number of the draw's own place; one
// within it means that place itself.
void note_moved(Mt19937& stream, int64_t count, int64_t* out, int64_t n) {
  const int64_t window = count - n;
  HeldPlaces held(n);
  for_draws(stream, window, count, [&](int64_t place, int64_t drawn) {
    *out++ = drawn >= window ? place : held.exchange(drawn, place);
  });
}

}  // namespace

void choose_places(Mt19937& stream, int64_t count, int64_t* out, int64_t n) {
  (n < count - n ? note_moved : replace_earlier)(stream, count, out, n);
}

}  // namespace mxnet
