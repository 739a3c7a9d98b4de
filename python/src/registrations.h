// SPDX-License-Identifier: Apache-2.0
// What each file of this folder adds to the module; module.cc calls them in this order.
#pragma once
#include <pybind11/pybind11.h>

namespace mxnet::python {

void register_buffer(pybind11::module_& module);
void register_check(pybind11::module_& module);
void register_config(pybind11::module_& module);
void register_library(pybind11::module_& module);
void register_memory(pybind11::module_& module);
void register_engine(pybind11::module_& module);
void register_array(pybind11::module_& module);
void register_array_values(pybind11::module_& module);
void register_indexing(pybind11::module_& module);
void register_array_functions(pybind11::module_& module);
void register_numpy_copy(pybind11::module_& module);
void register_prepared_calls(pybind11::module_& module);
void register_operator(pybind11::module_& module);
void register_arithmetic(pybind11::module_& module);
void register_weight_updates(pybind11::module_& module);
void register_update_rates(pybind11::module_& module);
void register_symbol_backend(pybind11::module_& module);
void register_cached_op(pybind11::module_& module);
void register_executor(pybind11::module_& module);
void register_elementwise(pybind11::module_& module);
void register_plain_calls(pybind11::module_& module);
void register_answers(pybind11::module_& module);
void register_autograd(pybind11::module_& module);
void register_recording_scope(pybind11::module_& module);
void register_scopes(pybind11::module_& module);
void register_symbol(pybind11::module_& module);
void register_recordio(pybind11::module_& module);
void register_shared_array(pybind11::module_& module);
void register_data_iter(pybind11::module_& module);
void register_kvstore(pybind11::module_& module);

}  // namespace mxnet::python
