// SPDX-License-Identifier: Apache-2.0
// Where the records of one part of a RecordIO file start.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mxnet::io {

// Without an index file (`idx` empty) parts are equal numbers of bytes, and a record belongs to the
// part in which it starts; with one they are equal numbers of its lines, in its order. Only heads
// are read. What is damaged is passed over with a warning. REQUIRES: part < parts.
std::vector<uint64_t> record_offsets(const std::string& rec, const std::string& idx, uint32_t part,
                                     uint32_t parts);

}  // namespace mxnet::io
