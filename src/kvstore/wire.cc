// SPDX-License-Identifier: Apache-2.0
// Heads of requests. What arrives is checked: it is from another process.
#include "kvstore/wire.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"

namespace mxnet::kvstore {
namespace {

struct Head {
  int32_t ask, command, sync, dtype, storage, compression, ndim, key_is_text;
  int64_t number;  // the key, or the length of its text
  float threshold;
  int32_t store;
};

// Whether arrays of that form can be: no size that is asked of one is beyond 63 bits.
bool countable(const std::vector<int64_t>& dims, std::size_t item) {
  auto most = static_cast<int64_t>(item);
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(most, std::max<int64_t>(dim, 1), &most)) return false;
  }
  return true;
}

}  // namespace

std::string to_bytes(const Request& request) {
  const std::string* text = std::get_if<std::string>(&request.key);
  Head head{};
  head.ask = static_cast<int32_t>(request.ask);
  head.store = request.store;
  head.command = request.command;
  head.sync = request.sync ? 1 : 0;
  head.dtype = static_cast<int32_t>(request.dtype);
  head.storage = static_cast<int32_t>(request.storage);
  head.compression = static_cast<int32_t>(request.compression.type);
  head.threshold = request.compression.threshold;
  head.ndim = request.shape.ndim();
  head.key_is_text = text != nullptr ? 1 : 0;
  head.number = text != nullptr ? static_cast<int64_t>(text->size()) : std::get<int>(request.key);
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof(head));
  for (const int64_t dim : request.shape)
    bytes.append(reinterpret_cast<const char*>(&dim), sizeof(dim));
  if (text != nullptr) bytes += *text;
  return bytes;
}

Request request_of(std::string_view bytes) {
  const auto require = [all = bytes.size()](bool good) {
    if (!good)
      throw Error(ErrorCode::kValue, "kvstore",
                  fmt::format("given {} bytes that are no request to a server, expected what a "
                              "worker of this version sends",
                              all));
  };
  Head head;
  require(bytes.size() >= sizeof(head));
  std::memcpy(&head, bytes.data(), sizeof(head));
  bytes.remove_prefix(sizeof(head));
  require(head.ask >= static_cast<int32_t>(Ask::kInit) &&
          head.ask <= static_cast<int32_t>(Ask::kCommand));
  const bool of_array = head.ask != static_cast<int32_t>(Ask::kCommand);
  const bool of_rows = head.storage == static_cast<int32_t>(StorageType::kRowSparse);
  require(head.ndim >= (of_rows ? 1 : of_array ? 0 : -1) && head.ndim <= Shape::kMaxDims);
  require(head.storage == static_cast<int32_t>(StorageType::kDense) || of_rows);
  require(head.compression >= 0 &&
          head.compression <= static_cast<int32_t>(CompressionType::kTwoBit));
  std::vector<int64_t> dims(static_cast<std::size_t>(std::max(head.ndim, 0)));
  require(bytes.size() >= dims.size() * sizeof(int64_t));
  if (!dims.empty()) std::memcpy(dims.data(), bytes.data(), dims.size() * sizeof(int64_t));
  bytes.remove_prefix(dims.size() * sizeof(int64_t));
  const std::optional<DType> dtype = dtype_from_number(head.dtype);
  require(dtype && countable(dims, dtype_size(*dtype)));
  Request request;
  request.ask = static_cast<Ask>(head.ask);
  request.store = head.store;
  request.command = head.command;
  request.sync = head.sync != 0;
  request.dtype = *dtype;
  request.storage = static_cast<StorageType>(head.storage);
  request.compression = {static_cast<CompressionType>(head.compression), head.threshold};
  if (head.ndim >= 0) request.shape = Shape(dims);
  if (head.key_is_text != 0) {
    require(head.number == static_cast<int64_t>(bytes.size()));
    request.key = std::string(bytes);
  } else {
    require(bytes.empty() && head.number >= std::numeric_limits<int>::min() &&
            head.number <= std::numeric_limits<int>::max());
    request.key = static_cast<int>(head.number);
  }
  return request;
}

}  // namespace mxnet::kvstore
