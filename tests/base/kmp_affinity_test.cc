// SPDX-License-Identifier: Apache-2.0
// The syntax of KMP_AFFINITY and the places that it gives on a made-up machine.
#include "base/kmp_affinity.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/error.h"

namespace mxnet {
namespace {

constexpr unsigned kSeed = 4711;
constexpr int kRandomTexts = 20'000;

using Places = std::vector<std::vector<int>>;

// Two packages of two cores of two threads, numbered as Linux does: siblings are 4 apart.
std::vector<LogicalCpu> two_packages() {
  std::vector<LogicalCpu> cpus;
  for (int id = 0; id < 8; ++id) cpus.push_back({id, id % 4 / 2, id % 2, id / 4});
  return cpus;
}

Places places(std::string_view text) {
  return affinity_places(parse_kmp_affinity(text), two_packages());
}

TEST(KmpAffinity, DocumentedFormSpreadsOverCoresFirst) {
  EXPECT_EQ(places("granularity=fine,compact,1,0"),
            (Places{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}));
}

TEST(KmpAffinity, CompactFillsACoreFirst) {
  EXPECT_EQ(places("granularity=fine,compact"), (Places{{0}, {4}, {1}, {5}, {2}, {6}, {3}, {7}}));
}

TEST(KmpAffinity, ScatterAlternatesPackages) {
  EXPECT_EQ(places("granularity=fine,scatter"), (Places{{0}, {2}, {1}, {3}, {4}, {6}, {5}, {7}}));
}

TEST(KmpAffinity, CoreGranularityIsTheDefaultAndBindsToSiblings) {
  EXPECT_EQ(places("compact"), (Places{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(places("granularity=core,scatter"), (Places{{0, 4}, {2, 6}, {1, 5}, {3, 7}}));
}

TEST(KmpAffinity, NonePinsNothing) {
  EXPECT_TRUE(places("none").empty());
  EXPECT_TRUE(places("disabled").empty());
}

TEST(KmpAffinity, ModifiersPermuteAndOffsetAreRead) {
  const KmpAffinity a =
      parse_kmp_affinity(" VERBOSE, norespect ,nowarnings,granularity=thread,Compact,2,5");
  EXPECT_TRUE(a.verbose);
  EXPECT_FALSE(a.respect);
  EXPECT_EQ(a.granularity, AffinityGranularity::kThread);
  EXPECT_EQ(a.type, AffinityType::kCompact);
  EXPECT_EQ(a.permute, 2);
  EXPECT_EQ(a.offset, 5);
}

class Refused : public testing::TestWithParam<const char*> {};

TEST_P(Refused, WithAListOfWhatIsSupported) {
  try {
    parse_kmp_affinity(GetParam());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kValue);
    EXPECT_EQ(error.tag(), "KMP_AFFINITY");
    EXPECT_NE(error.message().find("supported is"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(KmpAffinity, Refused,
                         testing::Values("", ",", "granularity=fine", "balanced",
                                         "explicit,proclist=[0,1]", "granularity=socket,compact",
                                         "compact,1,0,0", "compact,3", "compact,-1", "compact,one",
                                         "compact,1,-1", "compact,1,99999999999", "compact,",
                                         "compact,1x"));

TEST(KmpAffinity, HugeTextGivesAShortMessage) {
  try {
    parse_kmp_affinity(std::string(1 << 20, 'x'));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_LT(error.message().size(), 1000U);
  }
}

// Any text either parses, with values in range, or is refused by an Error.
TEST(KmpAffinity, RandomTextsNeverDoAnythingElse) {
  const char* const words[] = {"granularity=fine",
                               "granularity=",
                               "compact",
                               "scatter",
                               "none",
                               ",",
                               ",",
                               "0",
                               "1",
                               "2",
                               "-",
                               "99999999999999999999",
                               "verbose",
                               "\xff",
                               " "};
  std::mt19937 random(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  int accepted = 0;
  for (int i = 0; i < kRandomTexts; ++i) {
    std::string text;
    for (unsigned n = random() % 8; n > 0; --n) text += words[random() % std::size(words)];
    try {
      const KmpAffinity a = parse_kmp_affinity(text);
      ++accepted;
      EXPECT_GE(a.permute, 0);
      EXPECT_LE(a.permute, 2);
      EXPECT_GE(a.offset, 0);
      for (const auto& place : affinity_places(a, two_packages())) EXPECT_FALSE(place.empty());
    } catch (const Error& error) {
      EXPECT_EQ(error.tag(), "KMP_AFFINITY");
    }
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace mxnet
