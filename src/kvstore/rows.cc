// SPDX-License-Identifier: Apache-2.0
// Unions and selections of sorted row numbers.
#include "kvstore/rows.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "ndarray/sparse_store.h"
#include "op/loops/convert.h"
#include "op/run/dispatch.h"

namespace mxnet::kvstore {
namespace {

// Of any numeric type, fractions cut off.
std::vector<int64_t> read_numbers(DType dtype, const void* data, int64_t count) {
  std::vector<int64_t> numbers(static_cast<std::size_t>(count));
  dispatch_dtype<kNumeric>(dtype, "kvstore", [&]<class T>(TypeTag<T>) {
    convert_array(static_cast<const T*>(data), numbers.data(), count);
  });
  return numbers;
}

std::vector<int64_t> stored_rows(const NDArray& array) {
  const SparseStore& store = array.sparse();
  return read_numbers(store.aux_dtype(SparseStore::kRows), store.aux_data(SparseStore::kRows),
                      store.stored());
}

void sort_unique(std::vector<int64_t>& rows) {
  if (!std::is_sorted(rows.begin(), rows.end())) std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
}

// Elements of one row.
int64_t row_size(const NDArray& array) {
  return array.shape()[0] == 0 ? 0 : array.size() / array.shape()[0];
}

}  // namespace

void set_rows(const NDArray& to, std::span<const int64_t> rows) {
  SparseStore& store = to.sparse();
  store.resize(static_cast<int64_t>(rows.size()), to.device());
  dispatch_dtype<DTypeSet::of(DType::kInt32, DType::kInt64)>(
      store.aux_dtype(SparseStore::kRows), "kvstore", [&]<class T>(TypeTag<T>) {
        auto* out = static_cast<T*>(store.own_aux(SparseStore::kRows));
        for (std::size_t i = 0; i < rows.size(); ++i) out[i] = static_cast<T>(rows[i]);
      });
}

void sum_rows(std::span<const NDArray> from, const NDArray& to) {
  std::vector<std::vector<int64_t>> stored;
  std::vector<int64_t> all;
  for (const NDArray& array : from) {
    stored.push_back(stored_rows(array));
    all.insert(all.end(), stored.back().begin(), stored.back().end());
  }
  sort_unique(all);
  set_rows(to, all);
  const int64_t width = row_size(to);
  dispatch_dtype<kNumeric>(to.dtype(), "kvstore", [&]<class T>(TypeTag<T>) {
    auto* sums = static_cast<T*>(to.sparse().values());
    std::vector<bool> begun(all.size());
    for (std::size_t k = 0; k < from.size(); ++k) {
      const auto* values = static_cast<const T*>(from[k].sparse().values());
      auto place = all.begin();
      for (std::size_t r = 0; r < stored[k].size(); ++r) {
        // Rows of one array ascend, but a caller of the C ABI may not have sorted them.
        if (place == all.end() || *place > stored[k][r]) place = all.begin();
        place = std::lower_bound(place, all.end(), stored[k][r]);
        const auto at = static_cast<std::size_t>(place - all.begin());
        T* sum = sums + static_cast<int64_t>(at) * width;
        const T* value = values + static_cast<int64_t>(r) * width;
        if (!begun[at]) {
          std::copy_n(value, width, sum);
          begun[at] = true;
        } else {
          for (int64_t i = 0; i < width; ++i)
            sum[i] = convert<T>(static_cast<ComputeType<T>>(convert<ComputeType<T>>(sum[i]) +
                                                            convert<ComputeType<T>>(value[i])));
        }
      }
    }
  });
}

std::vector<int64_t> wanted_rows(const NDArray& row_ids, int64_t rows) {
  std::vector<int64_t> wanted = read_numbers(row_ids.dtype(), row_ids.data(), row_ids.size());
  sort_unique(wanted);
  if (!wanted.empty() && (wanted.front() < 0 || wanted.back() >= rows)) {
    throw Error(ErrorCode::kIndex, "kvstore",
                fmt::format("row_sparse_pull: given row {}, expected a number from 0 to {}",
                            wanted.front() < 0 ? wanted.front() : wanted.back(), rows - 1));
  }
  return wanted;
}

int64_t row_bytes(const NDArray& array) {
  return row_size(array) * static_cast<int64_t>(dtype_size(array.dtype()));
}

void copy_rows(const NDArray& from, std::span<const int64_t> wanted, char* values) {
  const std::vector<int64_t> stored = stored_rows(from);
  const auto bytes = static_cast<std::size_t>(row_bytes(from));
  const auto* source = static_cast<const char*>(from.sparse().values());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto found = std::lower_bound(stored.begin(), stored.end(), wanted[i]);
    if (found != stored.end() && *found == wanted[i]) {
      std::memcpy(values + i * bytes,
                  source + static_cast<std::size_t>(found - stored.begin()) * bytes, bytes);
    } else {
      std::memset(values + i * bytes, 0, bytes);
    }
  }
}

void take_rows(const NDArray& from, const NDArray& row_ids, const NDArray& to) {
  std::vector<int64_t> wanted = wanted_rows(row_ids, from.shape()[0]);
  // Of what stores nothing nothing is stored, as retain() has it.
  if (stored_rows(from).empty()) wanted.clear();
  set_rows(to, wanted);
  copy_rows(from, wanted, static_cast<char*>(to.sparse().values()));
}

std::vector<char> pack_rows(const NDArray& array) {
  const std::vector<int64_t> rows = stored_rows(array);
  const auto count = static_cast<int64_t>(rows.size());
  const std::size_t numbers = rows.size() * sizeof(int64_t);
  const std::size_t values = rows.size() * static_cast<std::size_t>(row_bytes(array));
  std::vector<char> bytes(sizeof(count) + numbers + values);
  std::memcpy(bytes.data(), &count, sizeof(count));
  if (count == 0) return bytes;
  std::memcpy(bytes.data() + sizeof(count), rows.data(), numbers);
  std::memcpy(bytes.data() + sizeof(count) + numbers, array.sparse().values(), values);
  return bytes;
}

bool packs_into(const NDArray& array, int64_t bytes) {
  const uint64_t row = sizeof(int64_t) + static_cast<uint64_t>(row_bytes(array));
  const auto rows = bytes - static_cast<int64_t>(sizeof(int64_t));
  return rows >= 0 && static_cast<uint64_t>(rows) % row == 0 &&
         static_cast<uint64_t>(rows) / row <= static_cast<uint64_t>(array.shape()[0]);
}

std::vector<int64_t> packed_rows(std::string_view bytes, const NDArray& array) {
  constexpr std::size_t kWord = sizeof(int64_t);
  std::vector<int64_t> rows;
  // The size is looked at first: a number of rows may be anything.
  bool good = packs_into(array, static_cast<int64_t>(bytes.size()));
  if (good) {
    rows.resize((bytes.size() - kWord) / (kWord + static_cast<std::size_t>(row_bytes(array))));
    int64_t count = 0;
    std::memcpy(&count, bytes.data(), kWord);
    if (!rows.empty()) std::memcpy(rows.data(), bytes.data() + kWord, rows.size() * kWord);
    good = count == static_cast<int64_t>(rows.size()) && std::is_sorted(rows.begin(), rows.end()) &&
           (rows.empty() || (rows.front() >= 0 && rows.back() < array.shape()[0]));
  }
  if (!good) {
    throw Error(ErrorCode::kValue, "kvstore",
                fmt::format("given {} bytes that are no rows of an array of shape {}, expected "
                            "their number, their places and their values",
                            bytes.size(), to_string(array.shape())));
  }
  return rows;
}

void unpack_rows(std::string_view bytes, const NDArray& array) {
  const std::vector<int64_t> rows = packed_rows(bytes, array);
  set_rows(array, rows);
  bytes.remove_prefix((rows.size() + 1) * sizeof(int64_t));
  if (!bytes.empty()) std::memcpy(array.sparse().values(), bytes.data(), bytes.size());
}

}  // namespace mxnet::kvstore
