// SPDX-License-Identifier: Apache-2.0
// RecordIO: writer, reader, offsets, damage.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "io/record_format.h"
#include "io/record_index.h"
#include "io/record_reader.h"
#include "io/record_writer.h"
#include "record_properties.h"
#include "temporary_file.h"

namespace mxnet::io {
namespace {

using testing_io::check_records;
using testing_io::TemporaryFile;

const std::string kMagic(reinterpret_cast<const char*>(&kRecordMagic), sizeof kRecordMagic);

std::vector<std::string> awkward_records() {
  return {"",
          "a",
          "abcd",
          kMagic,
          kMagic + kMagic,
          "12" + kMagic,
          "1234" + kMagic + "5",
          std::string(100, 'x') + kMagic,
          std::string(3 << 20, 'y')};
}

void write_all(const std::string& path, const std::vector<std::string>& records) {
  RecordWriter writer(path);
  for (const std::string& record : records) writer.write(record);
}

std::vector<std::string> read_all(RecordReader& reader) {
  std::vector<std::string> records;
  while (const auto record = reader.next()) records.emplace_back(*record);
  return records;
}

TEST(Records, ComeBackAsTheyWere) {
  const TemporaryFile file;
  write_all(file.path(), awkward_records());
  RecordReader reader(file.path());
  EXPECT_EQ(read_all(reader), awkward_records());
  EXPECT_FALSE(reader.next());
}

TEST(Records, AreThoseOfTheirPlacesInAnyOrder) {
  constexpr uint32_t kSeed = 7;
  std::mt19937 random(kSeed);
  const TemporaryFile file;
  std::vector<std::string> records;
  std::vector<uint64_t> places;
  {
    RecordWriter writer(file.path());
    for (int i = 0; i < 3000; ++i) {
      // Small ones mostly, some that fill windows, some of several parts.
      const std::size_t size = random() % 50 == 0 ? random() % 100'000 : random() % 200;
      records.push_back(std::string(size, static_cast<char>('a' + i % 26)));
      if (random() % 20 == 0) records.back() += std::string(-size & 3, '.') + kMagic + "end";
      places.push_back(writer.tell());
      writer.write(records.back());
    }
    places.push_back(writer.tell());
  }
  RecordReader reader(file.path());
  std::size_t at = 0;
  for (int step = 0; step < 30'000; ++step) {
    ASSERT_EQ(reader.tell(), places[at]) << "step " << step << ", seed " << kSeed;
    const uint32_t choice = random() % 16;
    if (choice == 0 || at == records.size()) {
      at = random() % (records.size() + 1);
      reader.seek(places[at]);
    } else if (choice == 1) {
      at = at >= 5 ? at - 5 : 0;  // mostly within the window
      reader.seek(places[at]);
    } else if (choice < 4) {
      ASSERT_TRUE(reader.skip_record());
      ASSERT_EQ(reader.started_at(), places[at++]);
    } else {
      ASSERT_EQ(reader.next(), records[at]) << "step " << step << ", seed " << kSeed;
      ASSERT_EQ(reader.started_at(), places[at++]);
    }
  }
}

TEST(Records, OfAWriterAreNotWrittenByAForkedProcess) {
  const TemporaryFile file;
  auto writer = std::make_unique<RecordWriter>(file.path());
  writer->write("before");
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 1;
    try {
      writer->write("from the child");
    } catch (const Error&) {
      status = 0;
    }
    writer.reset();
    ::_exit(status);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  writer->write("after");
  writer.reset();
  RecordReader reader(file.path());
  EXPECT_EQ(read_all(reader), (std::vector<std::string>{"before", "after"}));
}

TEST(Records, AreFoundAtTheWritersPositions) {
  const TemporaryFile file;
  const std::vector<std::string> records = awkward_records();
  std::vector<uint64_t> positions;
  {
    RecordWriter writer(file.path());
    for (const std::string& record : records) {
      positions.push_back(writer.tell());
      writer.write(record);
    }
  }
  RecordReader reader(file.path());
  for (std::size_t i = records.size(); i-- > 0;) {
    reader.seek(positions[i]);
    EXPECT_EQ(*reader.next(), records[i]);
    EXPECT_EQ(reader.started_at(), positions[i]);
  }
  EXPECT_EQ(record_offsets(file.path(), "", 0, 1), positions);
}

// An index file may hold any number: none may lead out of the window, nor wrap around to its start.
TEST(Records, BeyondTheEndAreNone) {
  const TemporaryFile file;
  write_all(file.path(), {"first", "second"});
  RecordReader reader(file.path());
  const uint64_t end = file.content().size(), most = std::numeric_limits<uint64_t>::max();
  for (const uint64_t place : {end, end + 1, most / 2, most - 8, most - 7, most - 1, most}) {
    reader.seek(0);
    EXPECT_EQ(reader.next(), "first");  // there is a window now
    reader.seek(place);
    EXPECT_EQ(reader.next(), std::nullopt) << place;
    EXPECT_FALSE(reader.skip_record()) << place;
    EXPECT_EQ(reader.tell(), place);
  }
}

// Files of records that something else stands before, of any number of bytes.
TEST(Records, AreFoundAtAnyOffset) {
  const TemporaryFile plain;
  const std::vector<std::string> records{"first", "", std::string(100, 'x'), "the last"};
  write_all(plain.path(), records);
  for (const std::size_t before : {1U, 2U, 3U, 4U, 63U}) {
    const TemporaryFile file(std::string(before, '?') + plain.content());
    io::RecordReader reader(file.path());
    reader.seek(before);
    for (const std::string& record : records) EXPECT_EQ(reader.next(), record) << before;
    EXPECT_EQ(reader.tell(), before + plain.content().size());
    EXPECT_EQ(reader.next(), std::nullopt);
  }
}

TEST(Records, PartsHaveEachRecordOnce) {
  const TemporaryFile file;
  write_all(file.path(), std::vector<std::string>(37, std::string(13, 'z') + kMagic));
  const std::vector<uint64_t> all = record_offsets(file.path(), "", 0, 1);
  ASSERT_EQ(all.size(), 37U);
  for (uint32_t parts : {2U, 3U, 7U, 40U}) {
    std::vector<uint64_t> joined;
    for (uint32_t part = 0; part < parts; ++part) {
      const std::vector<uint64_t> some = record_offsets(file.path(), "", part, parts);
      joined.insert(joined.end(), some.begin(), some.end());
    }
    EXPECT_EQ(joined, all) << parts;
  }
}

TEST(Records, ReadersOnManyThreadsShareAFile) {
  const TemporaryFile file;
  write_all(file.path(), awkward_records());
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      RecordReader reader(file.path());
      good[static_cast<std::size_t>(i)] = read_all(reader) == awkward_records() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<int>(4, 1));
}

TEST(DamagedRecords, AreErrorsWithFileAndOffset) {
  const TemporaryFile file;
  write_all(file.path(), {"first", "second", "third"});
  std::string content = file.content();
  content[16] = 'X';
  file.write(content);
  RecordReader reader(file.path());
  EXPECT_EQ(*reader.next(), "first");
  try {
    reader.next();
    FAIL() << "a damaged record was read";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("'" + file.path() + "' at byte 16"), std::string::npos)
        << error.message();
  }
}

TEST(DamagedRecords, AreSkippedAndCounted) {
  const TemporaryFile file;
  write_all(file.path(), {"first", "second", "third"});
  std::string content = file.content();
  content[16] = 'X';
  file.write(content);
  RecordReader reader(file.path(), OnDamage::kSkip);
  EXPECT_EQ(read_all(reader), (std::vector<std::string>{"first", "third"}));
  EXPECT_EQ(reader.skipped().places, 1U);
  EXPECT_EQ(reader.skipped().bytes, 16U);
}

TEST(DamagedRecords, EveryByteOfASmallFileMayBeWrong) {
  const TemporaryFile file;
  write_all(file.path(), {"first", "a" + kMagic, "abcd" + kMagic + "efgh", ""});
  const std::string good = file.content();
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    check_records(bad);
    check_records(good.substr(0, i));
  }
}

TEST(DamagedRecords, AnythingMayBeTakenForAFile) {
  const uint32_t seed = 20;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    std::string bytes;
    for (uint32_t k = random() % 40; k > 0; --k) {
      if (random() % 3 == 0) {
        bytes += kMagic;
      } else {
        const uint32_t word = random() % 2 == 0 ? random() : random() % 9 | (random() % 4) << 29;
        bytes.append(reinterpret_cast<const char*>(&word), random() % 5 == 0 ? 3 : 4);
      }
    }
    check_records(bytes);
  }
}

TEST(DamagedRecords, ReadersOnManyThreadsSkipTheSamePlaces) {
  const TemporaryFile file;
  write_all(file.path(), {"first", "second", "third", "fourth"});
  std::string content = file.content();
  content[16] = 'X';
  content[32] = 'X';
  file.write(content);
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      RecordReader reader(file.path(), OnDamage::kSkip);
      const TemporaryFile copy;
      for (int round = 0; round < 10; ++round) {
        reader.seek(0);
        const std::vector<std::string> records = read_all(reader);
        write_all(copy.path(), records);
        RecordReader again(copy.path());
        const std::vector<std::string> expected{"first", "fourth"};
        good[static_cast<std::size_t>(i)] += records == expected && read_all(again) == expected;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<int>(4, 10));
}

TEST(RecordWriter, RefusesWhatTheFormatCannotHold) {
  const TemporaryFile file;
  RecordWriter writer(file.path());
  const std::string_view too_long("", kLongestRecord + 1);  // refused before a byte is read
  EXPECT_THROW(writer.write(too_long), Error);
  EXPECT_THROW(RecordWriter("/nowhere/a.rec"), Error);
  EXPECT_THROW(RecordReader("s3://bucket/a.rec"), Error);
}

}  // namespace
}  // namespace mxnet::io
