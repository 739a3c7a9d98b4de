// SPDX-License-Identifier: Apache-2.0
// The table of store names.
#include "kvstore/store_type.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/error.h"

namespace mxnet::kvstore {
namespace {

struct Row {
  std::string_view name;
  bool on_device, distributed, async, sliced, nccl;
};

constexpr std::array<Row, 18> kRows{{
    {"local", false, false, false, false, false},
    {"local_update_cpu", false, false, false, false, false},
    {"local_allreduce_cpu", false, false, false, false, false},
    {"local_allreduce_device", true, false, false, false, false},
    {"device", true, false, false, false, false},
    {"nccl", true, false, false, false, true},
    {"dist", false, true, false, false, false},
    {"dist_sync", false, true, false, false, false},
    {"dist_async", false, true, true, false, false},
    {"dist_device_sync", true, true, false, false, false},
    {"dist_sync_device", true, true, false, false, false},
    {"dist_device_async", true, true, true, false, false},
    {"dist_async_device", true, true, true, false, false},
    {"dist_sync_p3", false, true, false, true, false},
    {"dist_device_sync_p3", true, true, false, true, false},
    {"dist_sync_device_p3", true, true, false, true, false},
    {"dist_p3", false, true, false, true, false},
    {"p3", false, true, false, true, false},
}};

}  // namespace

StoreType parse_store_type(std::string_view given) {
  std::string name(given);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Row& row : kRows) {
    if (row.name == name)
      return {name, row.on_device, row.distributed, row.async, row.sliced, row.nccl};
  }
  std::string known;
  for (const Row& row : kRows) known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  throw Error(ErrorCode::kValue, "kvstore",
              fmt::format("given store type '{}', expected one of: {}", given, known));
}

}  // namespace mxnet::kvstore
