// SPDX-License-Identifier: Apache-2.0
// mxnet._core: a thin layer over c_api.h and c_api_ext.h, one file per subject. Conversions only;
// what needs a decision is in the package's Python or below the C ABI.
#include "registrations.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The binding of libmxnet.so. Use the mxnet package instead.";
  mxnet::python::register_check(module);
  mxnet::python::register_config(module);
  mxnet::python::register_library(module);
  mxnet::python::register_memory(module);
  mxnet::python::register_engine(module);
  mxnet::python::register_array(module);
  mxnet::python::register_array_values(module);
  mxnet::python::register_buffer(module);
  mxnet::python::register_indexing(module);
  mxnet::python::register_array_functions(module);
  mxnet::python::register_numpy_copy(module);
  mxnet::python::register_prepared_calls(module);
  mxnet::python::register_operator(module);
  mxnet::python::register_weight_updates(module);
  mxnet::python::register_update_rates(module);
  mxnet::python::register_arithmetic(module);
  mxnet::python::register_elementwise(module);
  mxnet::python::register_plain_calls(module);
  mxnet::python::register_answers(module);
  mxnet::python::register_autograd(module);
  mxnet::python::register_recording_scope(module);
  mxnet::python::register_scopes(module);
  mxnet::python::register_symbol(module);
  mxnet::python::register_recordio(module);
  mxnet::python::register_shared_array(module);
  mxnet::python::register_data_iter(module);
  mxnet::python::register_symbol_backend(module);
  mxnet::python::register_cached_op(module);
  mxnet::python::register_executor(module);
  mxnet::python::register_kvstore(module);
}
