// SPDX-License-Identifier: Apache-2.0
// Key-value stores behind handles.
#pragma once
#include "kvstore/kvstore.h"
#include "mxnet/c_api.h"

namespace mxnet::c_api {

// Throws Error(kValue) for what is no handle of a store; `function` was given it.
KVStore& store_of(KVStoreHandle handle, const char* function);

}  // namespace mxnet::c_api
