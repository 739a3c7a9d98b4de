// SPDX-License-Identifier: Apache-2.0
// The error text of the thread. These never fail and do not start the library: they report
// why it did not start.
#include "c_api/guard.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"

using namespace mxnet;

const char* MXGetLastError(void) { return c_api::last_error(); }
const char* NNGetLastError(void) { return c_api::last_error(); }
void NNAPISetLastError(const char* msg) { c_api::set_last_error(msg != nullptr ? msg : ""); }
const char* MXGetLastTypedError(void) { return c_api::last_typed_error(); }
