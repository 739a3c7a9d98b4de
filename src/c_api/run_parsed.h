// SPDX-License-Identifier: Apache-2.0
// The common end of all operator calls through the C ABI: from handles to arrays, and back.
#pragma once
#include "c_api/ndarray_handle.h"
#include "op/op_def.h"
#include "op/params/parsed_attrs.h"

namespace mxnet::c_api {

// Runs a call. *outputs null: they are made, and *outputs lives until the next call on this thread;
// else *num_outputs given arrays are written. `device`: for operators without inputs.
void run_parsed(const ParsedAttrsRef& parsed, Device device, int num_inputs, NDArrayHandle* inputs,
                int* num_outputs, NDArrayHandle** outputs);

// The same for parameters as texts, where an attribute "ctx" may say the device.
void run_by_texts(const OpDef& op, int num_inputs, NDArrayHandle* inputs, int* num_outputs,
                  NDArrayHandle** outputs, int num_params, const char** keys, const char** values);

// Lives until the next call on this thread.
const int* storage_types_of(int count, const NDArrayHandle* handles);

}  // namespace mxnet::c_api
