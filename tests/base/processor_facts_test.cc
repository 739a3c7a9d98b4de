// SPDX-License-Identifier: Apache-2.0
// What the table says of processors that need not be here.
#include "base/processor_facts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/simd.h"

namespace mxnet {
namespace {

constexpr auto kAmd = ProcessorVendor::kAmd, kIntel = ProcessorVendor::kIntel;

TEST(ProcessorFacts, OfOneThatNobodyKnowsNothingIsAssumed) {
  for (const ProcessorId& id : {ProcessorId{}, ProcessorId{.family = 0x19, .simd_level = 2},
                                ProcessorId{.family = 6, .model = 0x55, .simd_level = 2},
                                ProcessorId{kAmd, 0x17, 0x31, 2, true}}) {
    const ProcessorFacts facts = facts_about(id);
    EXPECT_FALSE(facts.halves_wide_vectors || facts.turns_along_result || facts.moves_strings ||
                 facts.reads_what_it_writes || facts.gains_by_tall_tiles ||
                 facts.gains_by_rows_at_once || facts.gains_by_open_tiles ||
                 facts.gains_by_packed_panels || facts.stores_compressed || facts.fills_far_ahead ||
                 facts.repeats_past_caches);
    EXPECT_EQ(facts.streams_of_sums, 1);
  }
}

TEST(ProcessorFacts, Amd) {
  const ProcessorFacts zen3 = facts_about({kAmd, 0x19, 0x21, 1, false}),
                       zen4 = facts_about({kAmd, 0x19, 0x11, 2, true}),
                       zen5 = facts_about({kAmd, 0x1A, 0x02, 2, true});
  EXPECT_TRUE(zen3.halves_wide_vectors && zen4.halves_wide_vectors);
  EXPECT_TRUE(zen3.turns_along_result && zen4.turns_along_result);
  EXPECT_FALSE(zen3.moves_strings || zen4.moves_strings || zen3.fills_far_ahead ||
               zen4.fills_far_ahead);
  EXPECT_EQ(zen3.streams_of_sums, 4);
  EXPECT_EQ(zen4.streams_of_sums, 2);
  EXPECT_FALSE(zen3.gains_by_rows_at_once || zen3.gains_by_open_tiles);
  for (const ProcessorFacts& wide : {zen4, zen5})
    EXPECT_TRUE(wide.gains_by_rows_at_once && wide.gains_by_open_tiles &&
                !wide.gains_by_packed_panels);
  EXPECT_FALSE(facts_about({kAmd, 0x1A, 0x02, 1, true}).gains_by_open_tiles);
  EXPECT_FALSE(zen5.halves_wide_vectors || zen5.turns_along_result || zen5.stores_compressed);
  EXPECT_TRUE(zen5.moves_strings && zen5.fills_far_ahead);
  EXPECT_EQ(zen5.streams_of_sums, 1);
  EXPECT_FALSE(facts_about({kAmd, 0x1A, 0x02, 2, false}).moves_strings);
}

TEST(ProcessorFacts, Intel) {
  const ProcessorFacts cascade_lake = facts_about({kIntel, 6, 0x55, 2, false}),
                       without_avx512 = facts_about({kIntel, 6, 0x55, 1, false}),
                       without_avx = facts_about({kIntel, 6, 0x55, 0, false}),
                       sapphire_rapids = facts_about({kIntel, 6, 0x8F, 2, true});
  EXPECT_TRUE(cascade_lake.reads_what_it_writes && cascade_lake.gains_by_tall_tiles);
  EXPECT_EQ(cascade_lake.streams_of_sums, 1);
  EXPECT_TRUE(without_avx512.reads_what_it_writes);
  EXPECT_TRUE(cascade_lake.gains_by_rows_at_once && !cascade_lake.gains_by_open_tiles);
  EXPECT_FALSE(without_avx512.gains_by_tall_tiles || without_avx512.gains_by_rows_at_once);
  EXPECT_EQ(without_avx512.streams_of_sums, 4);
  EXPECT_FALSE(without_avx.reads_what_it_writes);
  EXPECT_FALSE(sapphire_rapids.reads_what_it_writes || sapphire_rapids.gains_by_tall_tiles ||
               sapphire_rapids.moves_strings || sapphire_rapids.halves_wide_vectors);
  EXPECT_TRUE(sapphire_rapids.gains_by_open_tiles && sapphire_rapids.gains_by_rows_at_once &&
              sapphire_rapids.gains_by_packed_panels);
  EXPECT_TRUE(sapphire_rapids.repeats_past_caches);
  EXPECT_FALSE(cascade_lake.gains_by_packed_panels || cascade_lake.repeats_past_caches);
  EXPECT_FALSE(facts_about({kIntel, 6, 0x8F, 1, true}).gains_by_open_tiles);
  EXPECT_TRUE(cascade_lake.stores_compressed && sapphire_rapids.stores_compressed);
}

TEST(ProcessorFacts, LoopsThatWaitForMemoryFollowThem) {
  EXPECT_EQ(simd_level_for_traffic(),
            processor_facts().halves_wide_vectors ? std::min(simd_level(), 1) : simd_level());
}

}  // namespace
}  // namespace mxnet
