// SPDX-License-Identifier: Apache-2.0
// Rows that the Python package obeys. See config_rows.h.
#pragma once

// clang-format off
#define MX_CONFIG_PYTHON(STARTUP, LIVE) \
  STARTUP(library_path, std::string, "MXNET_LIBRARY_PATH", "", any(), active("test_library_path_chooses_the_library"), \
      "Absolute path of the libmxnet.so to load; a relative or missing one is ignored with a warning.") \
  STARTUP(include_path, std::string, "MXNET_INCLUDE_PATH", "", any(), active("test_headers_are_where_it_says"), \
      "Header directory that mx.libinfo reports. Empty: the package's own.") \
  STARTUP(ld_library_path, std::string, "LD_LIBRARY_PATH", "", any_bytes(), active("test_find_lib_path_searches_ld_library_path_first"), \
      "Directories in which mx.libinfo looks for libmxnet.so before the package's own.") \
  STARTUP(enable_cython, bool, "MXNET_ENABLE_CYTHON", "1", any(), active("test_each_binding_has_the_documented_classes"), \
      "Use the compiled binding; 0 calls the C ABI through ctypes.") \
  STARTUP(enforce_cython, bool, "MXNET_ENFORCE_CYTHON", "0", any(), active("test_it_stands_in_unless_that_is_forbidden"), \
      "Fail when the compiled binding cannot be loaded.") \
  LIVE(home, std::string, "MXNET_HOME", "~/.mxnet", any(), active("test_trained_parameters_come_from_the_repository"), \
      "Directory of downloaded data sets and models.") \
  STARTUP(appdata, std::string, "APPDATA", "", any_bytes(), inert("Windows is not supported"), \
      "Where MXNET_HOME lies by default on Windows.") \
  LIVE(gluon_repo, std::string, "MXNET_GLUON_REPO", "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/", any(), \
      active("test_trained_parameters_come_from_the_repository"), \
      "Base URL of data sets and trained models.") \
  LIVE(optimizer_aggregation_size, int, "MXNET_OPTIMIZER_AGGREGATION_SIZE", "4", between(1, 60), active("test_aggregation_size_comes_from_its_variable"), \
      "Weights that one call of a multi-tensor optimizer updates; LAMB takes 45 unless this is set.") \
  LIVE(update_aggregation_size, std::optional<int>, "MXNET_UPDATE_AGGREGATION_SIZE", "auto", at_least(1), \
      active("test_arrays_go_to_the_store_together_as_its_variable_says"), \
      "Arrays that Module pushes and pulls together; auto: as suits the store.") \
  STARTUP(conf_path, std::string, "MXNET_CONF_PATH", "", any(), inert("operators are not compiled by TVM"), \
      "Configuration file of operators that TVM compiled.")
// clang-format on
