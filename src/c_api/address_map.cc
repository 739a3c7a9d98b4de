// SPDX-License-Identifier: Apache-2.0
// Reads the kernel's list of mappings.
#include "c_api/address_map.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace mxnet::c_api {

// Lines begin as "7f0c5a000000-7f0c5a021000 rw-p".
AddressMap::AddressMap() {
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    Range range{};
    const char* const last = line.data() + line.size();
    const char* at = std::from_chars(line.data(), last, range.begin, 16).ptr;
    if (at == last) continue;
    at = std::from_chars(at + 1, last, range.end, 16).ptr;
    if (last - at < 4) continue;
    range.readable = at[1] == 'r';
    range.runs = at[3] == 'x';
    ranges_.push_back(range);
  }
}

// What is asked for may lie across neighbouring ranges.
bool AddressMap::readable(uintptr_t address, std::size_t bytes) const {
  if (ranges_.empty()) return true;
  if (address > UINTPTR_MAX - bytes) return false;
  const uintptr_t end = address + bytes;
  for (const Range& range : ranges_) {
    if (range.end <= address || !range.readable) continue;
    if (range.begin > address) return false;
    address = range.end;
    if (address >= end) return true;
  }
  return false;
}

bool AddressMap::runs(uintptr_t address) const {
  return ranges_.empty() || std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
           return range.runs && range.begin <= address && address < range.end;
         });
}

}  // namespace mxnet::c_api
