// SPDX-License-Identifier: Apache-2.0
// Calls and answers as they lie in a message: a head, the text that says what is asked or what went
// wrong, and the body where that is small. Knows nothing of MPI.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mxnet::mpi {

// What another process sent is nothing that this version sends: which counts as the loss of it.
class BadMessage : public std::runtime_error {
 public:
  explicit BadMessage(const std::string& what, int from = -1)
      : std::runtime_error(what), from_(from) {}
  int from() const { return from_; }  // rank among all
  BadMessage sent_by(int rank) const { return BadMessage(what(), rank); }

 private:
  int from_;
};

// `all`: bytes of head, text and small body; the text ends where that body begins.
struct CallHead {
  uint64_t all, id;
  int64_t bytes, slice, text;  // `bytes` of the body, which travels in slices if it is not small
  int32_t priority, unused;
};

struct AnswerHead {
  uint64_t all, id;
  int64_t bytes, slice, text;
  int32_t failed, code;
};

template <class Head>
struct Frame {
  Head head;
  std::string_view text, body;  // in the message
};

// MPI counts in int.
inline constexpr int64_t kMostBytes = 1 << 30;
// A body has no more slices: each is a request to MPI.
inline constexpr int64_t kMostSlices = 1 << 16;

// Whether so many bytes are copied behind their head: below, a message costs more than a copy.
inline bool is_small(int64_t bytes) { return bytes <= 16 << 10; }
// Bytes of each slice but the last; `asked`: 0 = as few as can be.
int64_t slice_of(int64_t asked, int64_t bytes);

template <class Head>
std::vector<char> bytes_of(Head head, std::string_view text, const void* body);
// Takes the first frame off. Throws BadMessage.
template <class Head>
Frame<Head> take_frame(std::string_view& bytes);

}  // namespace mxnet::mpi
