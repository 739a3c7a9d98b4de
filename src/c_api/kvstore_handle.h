// SPDX-License-Identifier: Apache-2.0
// Handles of key-value stores, for functions that are given one without using the store.
#pragma once
#include "mxnet/c_api_kvstore.h"

namespace mxnet::c_api {

// Throws Error(kValue) naming `function` unless the handle is null or that of a store.
void check_store(KVStoreHandle handle, const char* function);

}  // namespace mxnet::c_api
