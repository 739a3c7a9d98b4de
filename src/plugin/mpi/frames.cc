// SPDX-License-Identifier: Apache-2.0
// Frames are written and read for calls and answers alike; every number in one is checked.
#include "plugin/mpi/frames.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace mxnet::mpi {

int64_t slice_of(int64_t asked, int64_t bytes) {
  const int64_t wanted = asked > 0 ? std::min(asked, kMostBytes) : kMostBytes;
  return std::max(wanted, bytes / kMostSlices + 1);
}

template <class Head>
std::vector<char> bytes_of(Head head, std::string_view text, const void* body) {
  const std::size_t small = is_small(head.bytes) ? static_cast<std::size_t>(head.bytes) : 0;
  head.text = static_cast<int64_t>(text.size());
  head.all = sizeof(head) + text.size() + small;
  std::vector<char> bytes(head.all);
  std::memcpy(bytes.data(), &head, sizeof(head));
  text.copy(bytes.data() + sizeof(head), text.size());
  if (small > 0) std::memcpy(bytes.data() + sizeof(head) + text.size(), body, small);
  return bytes;
}

template <class Head>
Frame<Head> take_frame(std::string_view& bytes) {
  const auto require = [all = bytes.size()](bool good) {
    if (!good)
      throw BadMessage(
          fmt::format("given {} bytes, expected calls or answers as this version sends them", all));
  };
  Frame<Head> frame;
  Head& head = frame.head;
  require(bytes.size() >= sizeof(head));
  std::memcpy(&head, bytes.data(), sizeof(head));
  require(head.all >= sizeof(head) && head.all <= bytes.size());
  const auto rest = static_cast<int64_t>(head.all - sizeof(head));
  require(head.bytes >= 0 && head.slice > 0 && head.slice <= kMostBytes &&
          head.bytes / head.slice < kMostSlices);
  require(head.text >= 0 && head.text <= rest &&
          rest - head.text == (is_small(head.bytes) ? head.bytes : 0));
  const auto text = static_cast<std::size_t>(head.text);
  frame.text = bytes.substr(sizeof(head), text);
  frame.body = bytes.substr(sizeof(head) + text, static_cast<std::size_t>(rest) - text);
  bytes.remove_prefix(head.all);
  return frame;
}

template std::vector<char> bytes_of(CallHead, std::string_view, const void*);
template std::vector<char> bytes_of(AnswerHead, std::string_view, const void*);
template Frame<CallHead> take_frame(std::string_view&);
template Frame<AnswerHead> take_frame(std::string_view&);

}  // namespace mxnet::mpi
