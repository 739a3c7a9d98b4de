// SPDX-License-Identifier: Apache-2.0
// Messages of a job as bytes: what goes in comes out, and what no process of this version can have
// sent is refused before anything is made of it.
#include "plugin/mpi/messages.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

#include "plugin/mpi/frames.h"

namespace mxnet::mpi {
namespace {

std::string_view text_of(const std::vector<char>& bytes) { return {bytes.data(), bytes.size()}; }

// Whether `read` refuses the bytes, saying how many they are.
template <class Read>
bool refused(const std::vector<char>& bytes, Read&& read) {
  try {
    read(bytes);
  } catch (const BadMessage& bad) {
    return std::string(bad.what()).find("given " + std::to_string(bytes.size()) + " bytes") !=
           std::string::npos;
  }
  return false;
}

bool frame_refused(const std::vector<char>& bytes) {
  return refused(bytes, [](const std::vector<char>& given) {
    std::string_view left = text_of(given);
    take_frame<CallHead>(left);
  });
}

constexpr CallHead kCall{0, 7, 3, 1000, 0, -2, 0};

TEST(Messages, FramesComeBackOneAfterTheOther) {
  std::vector<char> bundle = bytes_of(kCall, "head", "abc");
  CallHead big = kCall;
  big.bytes = 1 << 20;  // which is not in the message
  big.slice = 1 << 18;
  const std::vector<char> second = bytes_of(big, "second", nullptr);
  bundle.insert(bundle.end(), second.begin(), second.end());
  std::string_view left = text_of(bundle);
  const Frame<CallHead> first = take_frame<CallHead>(left);
  EXPECT_EQ(first.text, "head");
  EXPECT_EQ(first.body, "abc");
  EXPECT_EQ(first.head.id, 7U);
  EXPECT_EQ(first.head.priority, -2);
  const Frame<CallHead> next = take_frame<CallHead>(left);
  EXPECT_EQ(next.text, "second");
  EXPECT_EQ(next.body, "");
  EXPECT_EQ(next.head.bytes, 1 << 20);
  EXPECT_TRUE(left.empty());
}

TEST(Messages, DamagedFramesAreRefused) {
  const std::vector<char> good = bytes_of(kCall, "head", "abc");
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_TRUE(frame_refused({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n)})) << n;
  const auto with = [&](auto CallHead::*field, int64_t value) {
    std::vector<char> bytes = good;
    CallHead head;
    std::memcpy(&head, bytes.data(), sizeof(head));
    head.*field = static_cast<std::remove_reference_t<decltype(head.*field)>>(value);
    std::memcpy(bytes.data(), &head, sizeof(head));
    return bytes;
  };
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(),
                    kLeast = std::numeric_limits<int64_t>::min();
  for (const int64_t value : {int64_t{0}, int64_t{8}, int64_t{56}, int64_t{1000}, kMost, kLeast})
    EXPECT_TRUE(frame_refused(with(&CallHead::all, value))) << value;
  for (const int64_t value : {int64_t{0}, int64_t{5}, int64_t{-1}, kMost, kLeast})
    EXPECT_TRUE(frame_refused(with(&CallHead::text, value))) << value;
  for (const int64_t value : {int64_t{2}, int64_t{4}, int64_t{-1}, kMost, kLeast})
    EXPECT_TRUE(frame_refused(with(&CallHead::bytes, value))) << value;
  for (const int64_t value : {int64_t{0}, int64_t{-1}, kMost, kLeast})
    EXPECT_TRUE(frame_refused(with(&CallHead::slice, value))) << value;
}

// Each slice costs whoever receives it something.
TEST(Messages, ABodyHasBoundedlyManySlices) {
  CallHead head = kCall;
  head.bytes = 1 << 30;
  head.slice = 1;
  EXPECT_TRUE(frame_refused(bytes_of(head, "head", nullptr)));
  for (const int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{1} << 30, int64_t{1} << 40}) {
    for (const int64_t asked : {int64_t{0}, int64_t{1}, int64_t{1} << 40}) {
      head.bytes = bytes;
      head.slice = slice_of(asked, bytes);
      const std::vector<char> body(is_small(bytes) ? static_cast<std::size_t>(bytes) : 0);
      EXPECT_FALSE(frame_refused(bytes_of(head, "head", body.data()))) << bytes << " " << asked;
    }
  }
  EXPECT_EQ(slice_of(160000, 100 << 20), 160000) << "what is asked for, where that can be";
}

TEST(Messages, WishesComeBackAndDamagedOnesAreRefused) {
  kvstore::CollectiveRequest request;
  request.kind = kvstore::CollectiveKind::kSum;
  request.name = std::string(200, 'n');
  request.count = 5;
  request.dtype = DType::kFloat64;
  const Wish wish = wish_of(request);
  const std::vector<Wish> back = wishes_of(bytes_of(std::vector<Wish>{wish, wish}));
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[1].id, wish.id);
  EXPECT_TRUE(back[1].agrees_with(wish));
  const auto bad = [](const std::vector<char>& bytes) { wishes_of(bytes); };
  std::vector<char> bytes = bytes_of(std::vector<Wish>{wish});
  EXPECT_TRUE(refused({}, bad));
  bytes.pop_back();
  EXPECT_TRUE(refused(bytes, bad));
  const auto with = [&](auto Wish::*field, int64_t value) {
    Wish damaged = wish;
    damaged.*field = static_cast<std::remove_reference_t<decltype(damaged.*field)>>(value);
    return bytes_of(std::vector<Wish>{wish, damaged});
  };
  for (const int64_t kind : {-1, 4}) EXPECT_TRUE(refused(with(&Wish::kind, kind), bad));
  for (const int64_t dtype : {-1, 8, 99}) EXPECT_TRUE(refused(with(&Wish::dtype, dtype), bad));
  for (const int64_t count : {int64_t{-1}, std::numeric_limits<int64_t>::max() / 8 + 1})
    EXPECT_TRUE(refused(with(&Wish::count, count), bad));
  EXPECT_TRUE(refused(with(&Wish::element_bytes, 4), bad));
}

TEST(Messages, DecisionsComeBackAndDamagedOnesAreRefused) {
  Decision decision;
  decision.kind = Decision::kRefuse;
  decision.ids = {3, uint64_t{1} << 63};
  decision.rank = -1;
  decision.reason = "key a: they differ";
  const std::vector<char> bytes = bytes_of(decision);
  const Decision back = decision_of(bytes);
  EXPECT_EQ(back.kind, decision.kind);
  EXPECT_EQ(back.ids, decision.ids);
  EXPECT_EQ(back.rank, decision.rank);
  EXPECT_EQ(back.reason, decision.reason);
  const auto bad = [](const std::vector<char>& given) { decision_of(given); };
  const std::size_t needed = bytes.size() - decision.reason.size();
  for (std::size_t n = 0; n < needed; ++n)
    EXPECT_TRUE(refused({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)}, bad)) << n;
  const auto with = [&](int place, int64_t value) {
    std::vector<char> damaged = bytes;
    std::memcpy(damaged.data() + place * 8, &value, 8);
    return damaged;
  };
  for (const int64_t kind : {int64_t{-1}, int64_t{5}, int64_t{1} << 32})
    EXPECT_TRUE(refused(with(0, kind), bad)) << kind;
  for (const int64_t rank : {int64_t{-2}, int64_t{1} << 31})
    EXPECT_TRUE(refused(with(1, rank), bad)) << rank;
  for (const int64_t ids : {int64_t{-1}, int64_t{0}, int64_t{5}, int64_t{1} << 61})
    EXPECT_TRUE(refused(with(2, ids), bad)) << ids;
}

}  // namespace
}  // namespace mxnet::mpi
