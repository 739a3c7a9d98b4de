// SPDX-License-Identifier: Apache-2.0
// The names that users give to stores ("device", "dist_sync"), taken apart.
#pragma once
#include <string>
#include <string_view>

namespace mxnet::kvstore {

struct StoreType {
  std::string name;          // as given, in small letters
  bool on_device = false;    // values are summed on the devices they lie on, else on the CPU
  bool distributed = false;  // between processes
  bool async = false;        // workers do not wait for each other
  bool sliced = false;       // p3: big arrays travel in slices, the urgent ones first
  bool nccl = false;
};

// Letter case does not matter. Throws Error(kValue) for unknown names, which lists the known ones.
StoreType parse_store_type(std::string_view name);

}  // namespace mxnet::kvstore
