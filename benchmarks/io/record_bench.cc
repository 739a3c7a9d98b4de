// SPDX-License-Identifier: Apache-2.0
// Reading a RecordIO file from the page cache, by the class and by the function of the C ABI,
// beside `cat` of the same file:
//   bench_io [MiB of the file, 512] [bytes of a record, 100000]
// They are repeated in turn; what counts is the fastest run of each, in time of the process: what
// else the machine does is not in it.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>

#include "io/record_reader.h"
#include "io/record_writer.h"
#include "mxnet/c_api.h"

namespace {

double process_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(auto&& work) {
  const double begin = process_seconds();
  work();
  return process_seconds() - begin;
}

// As cat(1) does it: 128 KiB at a time, to the start of a page, written to where nothing is kept.
void cat(const std::string& path) {
  const int in = ::open(path.c_str(), O_RDONLY), out = ::open("/dev/null", O_WRONLY);
  alignas(4096) static char buffer[128 << 10];
  for (ssize_t got; (got = ::read(in, buffer, sizeof buffer)) > 0;)
    if (::write(out, buffer, static_cast<std::size_t>(got)) < 0) std::abort();
  ::close(in);
  ::close(out);
}

uint64_t read_records(const std::string& path) {
  mxnet::io::RecordReader reader(path);
  uint64_t bytes = 0;
  while (const auto record = reader.next()) bytes += record->size();
  return bytes;
}

uint64_t read_records_by_c(const std::string& path) {
  RecordIOHandle reader = nullptr;
  if (MXRecordIOReaderCreate(path.c_str(), &reader) != 0) std::abort();
  uint64_t bytes = 0;
  for (;;) {
    const char* record = nullptr;
    std::size_t size = 0;
    if (MXRecordIOReaderReadRecord(reader, &record, &size) != 0) std::abort();
    if (record == nullptr) break;
    bytes += size;
  }
  MXRecordIOReaderFree(reader);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t total = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 512) << 20;
  const std::size_t size = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100000;
  const std::string path = "/tmp/mxnet_bench.rec";
  std::mt19937 random(1);
  std::string record(size, '\0');
  for (char& c : record) c = static_cast<char>(random());
  const double writing = seconds_of([&] {
    mxnet::io::RecordWriter writer(path);
    while (writer.tell() < total) writer.write(record);
  });
  double cat_best = 1e9, read_best = 1e9, c_best = 1e9;
  for (int i = 0; i < 15; ++i) {
    cat_best = std::min(cat_best, seconds_of([&] { cat(path); }));
    read_best = std::min(read_best, seconds_of([&] {
                           if (read_records(path) == 0) std::abort();
                         }));
    c_best = std::min(c_best, seconds_of([&] {
                        if (read_records_by_c(path) == 0) std::abort();
                      }));
  }
  const double gib = static_cast<double>(total) / (1 << 30);
  fmt::print("{} MiB in records of {} bytes\n", total >> 20, size);
  const auto line = [&](const char* what, double seconds) {
    fmt::print("{:10} {:6.2f} GiB/s, {:.2f} of cat\n", what, gib / seconds, cat_best / seconds);
  };
  line("write", writing);
  line("cat", cat_best);
  line("read", read_best);
  line("read by C", c_best);
  std::remove(path.c_str());
}
