// SPDX-License-Identifier: Apache-2.0
// Strided copies against an element-by-element walk, over random plans that reach every kernel.
#include "op/moving/strided_copy.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "base/config_table.h"
#include "base/stream_copy.h"

namespace mxnet {
namespace {

constexpr uint32_t kSeed = 20240607;
constexpr int kPlans = 2000;

int64_t size_of(const StridedPlan& plan) {
  int64_t size = 1;
  for (const auto& dim : plan.dims()) size *= dim.size;
  return size;
}

// The definition: one element after the other.
std::vector<char> copied_slowly(const StridedPlan& plan, const std::vector<char>& in,
                                std::vector<char> out, int64_t element) {
  const auto dims = plan.dims();
  for (int64_t n = 0; n < size_of(plan); ++n) {
    int64_t rest = n, from = plan.in_offset, to = plan.out_offset;
    for (std::size_t i = dims.size(); i-- > 0;) {
      from += rest % dims[i].size * dims[i].in_step;
      to += rest % dims[i].size * dims[i].out_step;
      rest /= dims[i].size;
    }
    std::memcpy(out.data() + to * element, in.data() + from * element,
                static_cast<std::size_t>(element));
  }
  return out;
}

std::vector<char> random_bytes(int64_t count, std::mt19937& random) {
  std::vector<char> bytes(static_cast<std::size_t>(count));
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

struct Case {
  StridedPlan plan;
  int64_t in_size, out_size;
};

// A permutation of a random box, some of its dimensions walked backwards or repeated, written into
// the middle of a larger box.
Case random_case(std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const int ndim = static_cast<int>(pick(0, 5));
  const int64_t longest = ndim <= 2 ? 150 : ndim == 3 ? 40 : 9;
  std::vector<int64_t> size, out_size;
  for (int i = 0; i < ndim; ++i) {
    size.push_back(pick(0, 20) == 0 ? 0 : pick(1, longest));
    out_size.push_back(size.back() + (pick(0, 3) == 0 ? pick(1, 3) : 0));
  }
  std::vector<int> order(static_cast<std::size_t>(ndim));
  std::iota(order.begin(), order.end(), 0);
  if (pick(0, 3) != 0) std::shuffle(order.begin(), order.end(), random);

  std::vector<int64_t> in_step(static_cast<std::size_t>(ndim));
  int64_t in_total = 1;
  Case result;
  for (const int axis : order) {
    const auto i = static_cast<std::size_t>(axis);
    if (pick(0, 6) == 0) continue;  // repeated
    in_step[i] = in_total;
    in_total *= std::max<int64_t>(size[i], 1);
    if (pick(0, 5) == 0 && size[i] > 0) {
      result.plan.in_offset += (size[i] - 1) * in_step[i];
      in_step[i] = -in_step[i];
    }
  }
  std::vector<int64_t> out_step(static_cast<std::size_t>(ndim));
  int64_t out_total = 1;
  for (int i = ndim - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    out_step[at] = out_total;
    out_total *= std::max<int64_t>(out_size[at], 1);
    result.plan.out_offset += pick(0, out_size[at] - size[at]) * out_step[at];
  }
  for (int i = 0; i < ndim; ++i) {
    const auto at = static_cast<std::size_t>(i);
    result.plan.add(size[at], in_step[at], out_step[at]);
  }
  result.in_size = in_total;
  result.out_size = out_total;
  return result;
}

void check_random_plans(int plans) {
  std::mt19937 random(kSeed);
  for (int round = 0; round < plans; ++round) {
    Case c = random_case(random);
    // Every second one as a part of a result that is written past the caches.
    if (round % 2 == 1) c.plan.whole_bytes = kPastCaches;
    const int64_t element = int64_t{1} << random() % 4;
    const std::vector<char> in = random_bytes(c.in_size * element, random);
    const std::vector<char> before = random_bytes(c.out_size * element, random);
    std::vector<char> out = before;
    copy_strided(c.plan, in.data(), out.data(), static_cast<std::size_t>(element));
    ASSERT_EQ(out, copied_slowly(c.plan, in, before, element))
        << "seed " << kSeed << ", plan " << round << ", element " << element;
  }
}

TEST(StridedCopy, EqualsTheWalkOverElementsForRandomPlans) { check_random_plans(kPlans); }

TEST(StridedCopy, IsTheSameForAnyNumberOfThreads) {
  const int before = omp_get_max_threads();
  config_set("MXNET_CPU_PARALLEL_SIZE", "1");  // everything is worth a thread
  for (const int threads : {2, 3, 5}) {
    omp_set_num_threads(threads);
    check_random_plans(kPlans / 10);
  }
  config_set("MXNET_CPU_PARALLEL_SIZE", std::nullopt);
  omp_set_num_threads(before);
}

// Large enough for threads and for the buffer of transpositions, ragged at both ends.
TEST(StridedCopy, LargeTranspositionsMissNoElement) {
  std::mt19937 random(kSeed);
  constexpr int64_t kRows = 1031, kColumns = 517;
  for (const int64_t element : {1, 2, 4, 8}) {
    const std::vector<char> in = random_bytes(kRows * kColumns * element, random);
    for (const bool backwards : {false, true}) {
      StridedPlan transpose;
      transpose.in_offset = backwards ? kColumns - 1 : 0;
      transpose.add(kColumns, backwards ? -1 : 1, kRows);
      transpose.add(kRows, kColumns, 1);
      std::vector<char> out(in.size()), expected(in.size());
      copy_strided(transpose, in.data(), out.data(), static_cast<std::size_t>(element));
      EXPECT_EQ(out, copied_slowly(transpose, in, expected, element)) << element << backwards;
    }
  }
}

// The last dimension is shorter than a line: what the next ones write goes on in it.
TEST(StridedCopy, TranspositionsIntoShortRowsMissNoElement) {
  std::mt19937 random(kSeed);
  for (const int64_t shortest : {1, 2, 3, 7, 8, 12, 17, 40}) {
    for (const int64_t next : {2, 31, 150}) {
      for (const int64_t length : {5, 8, 29, 64}) {
        // (shortest, outermost, next, length) to (outermost, length, next, shortest).
        constexpr int64_t kOutermost = 2;
        StridedPlan plan;
        plan.add(kOutermost, next * length, length * next * shortest);
        plan.add(length, 1, next * shortest);
        plan.add(next, length, shortest);
        plan.add(shortest, kOutermost * next * length, 1);
        for (const int64_t element : {1, 2, 4, 8, 16}) {
          const std::vector<char> in = random_bytes(size_of(plan) * element, random);
          std::vector<char> out(in.size());
          copy_strided(plan, in.data(), out.data(), static_cast<std::size_t>(element));
          ASSERT_EQ(out, copied_slowly(plan, in, std::vector<char>(in.size()), element))
              << shortest << ' ' << next << ' ' << length << ' ' << element;
        }
      }
    }
  }
}

// Small planes, each of which is turned, flipped or thinned out, side by side and apart.
TEST(StridedCopy, SmallPlanesMissNoElement) {
  std::mt19937 random(kSeed);
  constexpr int64_t kOuter = 3, kPlanes = 7;
  for (const int64_t rows : {1, 2, 3, 5, 8, 13, 20, 41}) {
    for (const int64_t columns : {1, 2, 3, 4, 5, 7, 16, 41}) {
      for (const int64_t step : {-2, -1, 0, 1, 2, 3}) {
        for (const int64_t gap : {0, 3}) {
          const int64_t in_row = std::max<int64_t>(1, std::abs(step) * columns);
          const int64_t in_plane = rows * in_row, out_plane = rows * columns + gap;
          StridedPlan plan;
          plan.in_offset = step < 0 ? -step * (columns - 1) : 0;
          plan.add(kOuter, kPlanes * in_plane, kPlanes * out_plane);
          plan.add(kPlanes, in_plane, out_plane);
          plan.add(columns, step, rows);
          plan.add(rows, in_row, 1);
          for (const int64_t element : {1, 2, 4, 8}) {
            const std::vector<char> in =
                random_bytes(kOuter * kPlanes * in_plane * element, random);
            std::vector<char> out(static_cast<std::size_t>(kOuter * kPlanes * out_plane * element)),
                expected = copied_slowly(plan, in, out, element);
            copy_strided(plan, in.data(), out.data(), static_cast<std::size_t>(element));
            ASSERT_EQ(out, expected) << rows << " x " << columns << ", step " << step << ", gap "
                                     << gap << ", element " << element;
          }
        }
      }
    }
  }
}

// Short runs of elements, which are no longer one element, again and again in small planes.
TEST(StridedCopy, RunsInSmallPlanesMissNoElement) {
  std::mt19937 random(kSeed);
  constexpr int64_t kPlanes = 5;
  for (int64_t run = 1; run <= 9; ++run) {
    for (const int64_t times : {2, 3}) {
      for (const int64_t rows : {2, 3, 7}) {
        StridedPlan plan;
        plan.add(kPlanes, rows * run, rows * times * run);
        plan.add(rows, run, times * run);
        plan.add(times, 0, run);
        plan.add(run, 1, 1);
        for (const int64_t element : {1, 2, 4, 8}) {
          const std::vector<char> in = random_bytes(kPlanes * rows * run * element, random);
          std::vector<char> out(in.size() * static_cast<std::size_t>(times)),
              expected = copied_slowly(plan, in, out, element);
          copy_strided(plan, in.data(), out.data(), static_cast<std::size_t>(element));
          ASSERT_EQ(out, expected) << run << " elements of " << element << ", " << times
                                   << " times, " << rows << " rows";
        }
      }
    }
  }
}

// Pairs of elements whose parts become rows of their own.
TEST(StridedCopy, PartsOfShortPairsMissNoElement) {
  std::mt19937 random(kSeed);
  constexpr int64_t kBlocks = 2, kRows = 9;
  for (const int64_t pairs : {1, 2, 3, 4, 8, 15, 16, 17, 40, 300}) {
    StridedPlan plan;
    plan.add(kBlocks, kRows * 2 * pairs, kRows * 2 * pairs);
    plan.add(2, 1, kRows * pairs);
    plan.add(kRows, 2 * pairs, pairs);
    plan.add(pairs, 2, 1);
    for (const int64_t element : {1, 2, 4, 8}) {
      const std::vector<char> in = random_bytes(size_of(plan) * element, random);
      std::vector<char> out(in.size()), expected = copied_slowly(plan, in, out, element);
      copy_strided(plan, in.data(), out.data(), static_cast<std::size_t>(element));
      ASSERT_EQ(out, expected) << pairs << " pairs of " << element;
    }
  }
}

// Rows of one element each, of lengths around those of vectors, side by side and apart; what lies
// between them and behind the last one stays.
TEST(StridedCopy, AnElementFillsItsRow) {
  std::mt19937 random(kSeed);
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    for (const int64_t length : {2,  4,  5,  7,   8,   9,   15,  16,  17,  31,  32,  33,   63,
                                 64, 65, 96, 127, 128, 129, 255, 256, 257, 300, 512, 1025, 2049}) {
      for (const int64_t apart : {0, 3}) {
        constexpr int64_t kRows = 3;
        const std::vector<char> in = random_bytes(kRows * element, random);
        StridedPlan spread;
        spread.add(kRows, 1, length + apart);
        spread.add(length, 0, 1);
        const int64_t size = kRows * (length + apart) + 4;
        std::vector<char> out(static_cast<std::size_t>(size * element), 'x');
        const std::vector<char> expected = copied_slowly(spread, in, out, element);
        copy_strided(spread, in.data(), out.data(), static_cast<std::size_t>(element));
        EXPECT_EQ(out, expected) << element << " bytes, " << length << ", " << apart << " apart";
      }
    }
  }
}

// So large that lines are written past the caches: where each row begins a line, with rows and
// columns over, and where none does.
TEST(StridedCopy, TranspositionsPastTheCachesMissNoElement) {
  std::mt19937 random(kSeed);
  constexpr int64_t kRows = 1048, kColumns = 1037, kElement = 8, kLine = 64;
  const std::vector<char> in = random_bytes(kRows * kColumns * kElement, random);
  StridedPlan transpose;
  transpose.add(kColumns, 1, kRows);
  transpose.add(kRows, kColumns, 1);
  const std::vector<char> expected =
      copied_slowly(transpose, in, std::vector<char>(in.size()), kElement);
  for (const int64_t shift : {0, 8}) {
    std::vector<char> memory(in.size() + 2 * kLine, 'x');
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    char* out = memory.data() + (kLine - static_cast<int64_t>(address % kLine)) % kLine + shift;
    copy_strided(transpose, in.data(), out, kElement);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out)) << shift;
    EXPECT_EQ(out[in.size()], 'x');
  }
}

// Columns that have become rows, with some elements behind the last one.
struct Turned {
  Turned(int64_t rows, int64_t columns, int64_t element, int64_t whole_bytes, std::mt19937& random)
      : in(random_bytes(rows * columns * element, random)),
        before(random_bytes((rows * columns + 16) * element, random)),
        out(before) {
    StridedPlan transpose;
    transpose.whole_bytes = whole_bytes;
    transpose.add(rows, 1, columns);
    transpose.add(columns, rows, 1);
    copy_strided(transpose, in.data(), out.data(), static_cast<std::size_t>(element));
    expected = copied_slowly(transpose, in, before, element);
  }
  const std::vector<char> in, before;
  std::vector<char> out, expected;
};

// Sides around those of squares of lines, rows that begin lines, or lie between them, or follow
// each other; what lies between rows stays.
TEST(StridedCopy, TranspositionsByLinesMissNoElement) {
  std::mt19937 random(kSeed);
  constexpr int64_t kLine = 64;
  for (const int64_t element : {1, 2, 4, 8}) {
    const int64_t side = kLine / element, lanes = side / 4;
    for (const int64_t rows : {side - 1, side, side + 1, side + lanes, 5 * side - 1}) {
      for (const int64_t columns : {side - 1, side, side + 1, 2 * side, 9 * side + lanes}) {
        const int64_t whole = (columns + side - 1) / side * side;
        for (const int64_t row : {columns, whole, whole + 1}) {
          for (const int64_t shift : {int64_t{0}, element}) {
            for (const int64_t whole_bytes : {int64_t{0}, kPastCaches}) {
              const std::vector<char> in = random_bytes((rows + 3) * columns * element, random);
              const std::vector<char> before = random_bytes(rows * row * element + kLine, random);
              std::vector<char> memory(before.size() + kLine);
              const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
              char* const out =
                  memory.data() + (kLine - static_cast<int64_t>(address % kLine)) % kLine;
              std::copy(before.begin(), before.end(), out);
              StridedPlan transpose;
              transpose.whole_bytes = whole_bytes;
              transpose.out_offset = shift / element;
              transpose.add(rows, 1, row);
              transpose.add(columns, rows + 3, 1);
              copy_strided(transpose, in.data(), out, static_cast<std::size_t>(element));
              const std::vector<char> expected = copied_slowly(transpose, in, before, element);
              ASSERT_TRUE(std::equal(expected.begin(), expected.end(), out))
                  << rows << " rows of " << columns << " x " << element << ", step " << row
                  << ", shift " << shift << ", whole " << whole_bytes;
            }
          }
        }
      }
    }
  }
}

// Few rows, which are a line of the input or less, are divided along their columns.
TEST(StridedCopy, ThreadsShareFewLongRows) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  std::mt19937 random(kSeed);
  for (const int64_t element : {1, 2, 4, 8}) {
    for (const int64_t rows : {17 / element + 1, 64 / element, 128 / element}) {
      const Turned turned(rows, 20001, element, kPastCaches, random);
      EXPECT_EQ(turned.out, turned.expected) << rows << " rows of " << element;
    }
  }
  omp_set_num_threads(before);
}

// The widest rows that are written without a box, past the caches: of bytes a block holds few.
TEST(StridedCopy, ColumnsBecomeWideRowsPastTheCaches) {
  std::mt19937 random(kSeed);
  for (const int64_t element : {1, 2, 4, 8}) {
    for (const int64_t width : {129, 257, 300, 511, 512}) {
      const Turned turned(333, width / element, element, kPastCaches, random);
      EXPECT_EQ(turned.out, turned.expected) << element << ", " << width;
    }
  }
}

// Rows of a box, and bytes that lie together: their ends share lines with what must stay.
TEST(StridedCopy, LongRowsPastTheCachesKeepWhatLiesBetweenThem) {
  std::mt19937 random(kSeed);
  for (const int64_t width : {128, 192, 256, 511, 512, 600, 1024, 1025, 4096, 5001}) {
    for (const int64_t gap : {0, 1, 63, 64}) {
      for (const int64_t skipped : {0, 7}) {
        for (const int64_t into_line : {0, 3}) {
          const std::vector<char> in = random_bytes(5 * (width + skipped), random);
          const std::vector<char> before = random_bytes(5 * (width + gap) + 128, random);
          std::vector<char> out = before;
          const auto address = static_cast<int64_t>(reinterpret_cast<std::uintptr_t>(out.data()));
          StridedPlan rows;
          rows.whole_bytes = kPastCaches;
          rows.out_offset = (64 - address % 64) % 64 + into_line;
          rows.add(5, width + skipped, width + gap);
          rows.add(width, 1, 1);
          copy_strided(rows, in.data(), out.data(), 1);
          EXPECT_EQ(out, copied_slowly(rows, in, before, 1)) << width << ", " << gap;
        }
      }
    }
  }
}

// All widths around those of vectors; rows follow each other, and what lies behind the last one
// stays.
TEST(StridedCopy, ColumnsBecomeNarrowRows) {
  std::mt19937 random(kSeed);
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    for (int64_t columns = 1; columns <= 35; ++columns) {
      for (const int64_t rows : {1, 2, 15, 16, 17, 67, 130, 1100}) {
        const Turned turned(rows, columns, element, rows % 2 == 0 ? kPastCaches : 0, random);
        ASSERT_EQ(turned.out, turned.expected)
            << columns << " columns of " << rows << " x " << element;
        if (element == 16) continue;
        std::vector<char> out = turned.before;
        std::vector<const char*> starts;
        for (int64_t c = 0; c < columns; ++c)
          starts.push_back(turned.in.data() + c * rows * element);
        const int64_t first = rows / 3;
        for (const auto& [from, to] : {std::pair(int64_t{0}, first), std::pair(first, rows)}) {
          interleave(starts, from, out.data() + from * columns * element, to - from,
                     static_cast<std::size_t>(element));
        }
        ASSERT_EQ(out, turned.expected) << columns << " columns of " << rows << " x " << element;
      }
    }
  }
}

TEST(StridedCopy, AScalarIsOneElement) {
  const double in = 2.5;
  double out = 0;
  copy_strided(StridedPlan(), &in, &out, sizeof(double));
  EXPECT_EQ(out, 2.5);
}

TEST(StridedCopy, ReversedPlansCopyBack) {
  const std::vector<int32_t> in{1, 2, 3, 4, 5, 6};
  std::vector<int32_t> turned(6), back(6);
  StridedPlan transpose;
  transpose.add(3, 1, 2);
  transpose.add(2, 3, 1);
  copy_strided(transpose, in.data(), turned.data(), 4);
  EXPECT_EQ(turned, (std::vector<int32_t>{1, 4, 2, 5, 3, 6}));
  copy_strided(transpose.reversed(), turned.data(), back.data(), 4);
  EXPECT_EQ(back, in);
}

}  // namespace
}  // namespace mxnet
