// SPDX-License-Identifier: Apache-2.0
// Reading never gives more than the file holds, ends, and skipping passes over what reading
// refuses.
#include "record_properties.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "io/record_index.h"
#include "io/record_reader.h"
#include "io/record_writer.h"
#include "temporary_file.h"

namespace mxnet::testing_io {
namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

struct Read {
  std::vector<std::string> records;
  bool whole = false;
};

Read read(const std::string& path, io::OnDamage on_damage) {
  Read result;
  io::RecordReader reader(path, on_damage);
  try {
    while (const auto record = reader.next()) result.records.emplace_back(*record);
    result.whole = reader.skipped().places == 0;
  } catch (const Error& error) {
    expect(error.code() == ErrorCode::kValue && on_damage == io::OnDamage::kThrow);
  }
  return result;
}

}  // namespace

void check_records(std::string_view bytes) {
  const TemporaryFile file(bytes);
  const Read strict = read(file.path(), io::OnDamage::kThrow);
  const Read skipping = read(file.path(), io::OnDamage::kSkip);
  std::size_t total = 0;
  for (const std::string& record : skipping.records) total += record.size();
  expect(total <= bytes.size());
  expect(strict.whole == skipping.whole);
  expect(strict.records.size() <= skipping.records.size());
  for (std::size_t i = 0; i < strict.records.size(); ++i)
    expect(strict.records[i] == skipping.records[i]);
  // Only heads are looked at there: never fewer places than records that can be read.
  expect(io::record_offsets(file.path(), "", 0, 1).size() >= skipping.records.size() ||
         !skipping.whole);
  // What was read is written, and read again.
  const TemporaryFile copy;
  {
    io::RecordWriter writer(copy.path());
    for (const std::string& record : skipping.records) writer.write(record);
  }
  expect(read(copy.path(), io::OnDamage::kThrow).records == skipping.records);
}

}  // namespace mxnet::testing_io
