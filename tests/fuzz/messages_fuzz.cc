// SPDX-License-Identifier: Apache-2.0
// libFuzzer on what the processes of a distributed job tell each other: fuzz_messages
// -max_total_time=60 -max_len=1024. The first byte says what kind of message follows. It is
// refused, or its parts are those bytes again; what rank 0 makes of wishes has an end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "plugin/mpi/coordinator.h"
#include "plugin/mpi/frames.h"
#include "plugin/mpi/messages.h"

namespace {

using namespace mxnet::mpi;  // NOLINT(google-build-using-namespace)

void require(bool good) {
  if (!good) std::abort();
}

template <class Head>
void check_frames(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view before = bytes;
    const Frame<Head> frame = take_frame<Head>(bytes);
    require(bytes.size() < before.size());
    const std::vector<char> again = bytes_of(frame.head, frame.text, frame.body.data());
    require(before.starts_with(std::string_view(again.data(), again.size())));
    require(again.size() == before.size() - bytes.size());
    const int64_t slices = (frame.head.bytes + frame.head.slice - 1) / frame.head.slice;
    require(slices >= 0 && slices <= kMostSlices);
  }
}

// `unused` has a bit for each rank that asks.
void check_wishes(const std::vector<Wish>& wishes) {
  constexpr int kRanks = 3;
  Coordinator coordinator(kRanks);
  Decision decision;
  for (const Wish& wish : wishes) {
    for (int rank = 0; rank < kRanks; ++rank)
      if ((wish.unused >> rank & 1) != 0) coordinator.ask(rank, wish);
    for (std::size_t left = wishes.size() * kRanks; coordinator.next(decision); --left) {
      require(left > 0 && !decision.ids.empty());
      require(bytes_of(decision_of(bytes_of(decision))) == bytes_of(decision));
    }
    if (coordinator.at_odds()) coordinator.split();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto* text = reinterpret_cast<const char*>(data) + 1;
  const std::vector<char> bytes(text, text + size - 1);
  try {
    switch (data[0] % 4) {
      case 0:
        check_frames<CallHead>({bytes.data(), bytes.size()});
        break;
      case 1:
        check_frames<AnswerHead>({bytes.data(), bytes.size()});
        break;
      case 2:
        require(bytes_of(decision_of(bytes)) == bytes);
        break;
      case 3:
        check_wishes(wishes_of(bytes));
    }
  } catch (const BadMessage& bad) {
    require(std::string_view(bad.what()).starts_with("given "));
  }
  return 0;
}
