# SPDX-License-Identifier: Apache-2.0
# oneDNN with the GNU OpenMP runtime, as the target mx::onednn: a system package, or the PyPI packages onednn-cpu-gomp
# and onednn-devel-cpu-gomp in the virtual environment. Their newest, 2023.2.0, is oneDNN 3.2.0.
find_package(dnnl ${OneDNN_FIND_VERSION} CONFIG QUIET PATHS ${MXNET_PYTHON_PREFIXES})

set(OneDNN_VERSION "${dnnl_VERSION}")
if(dnnl_FOUND AND NOT DNNL_CPU_RUNTIME STREQUAL "OMP")
  set(_reason "the oneDNN in ${dnnl_DIR} runs on ${DNNL_CPU_RUNTIME}; one for OpenMP is needed (onednn-cpu-gomp)")
elseif(dnnl_FOUND AND NOT TARGET mx::onednn)
  add_library(mx::onednn INTERFACE IMPORTED)
  target_link_libraries(mx::onednn INTERFACE DNNL::dnnl)
elseif(dnnl_CONSIDERED_VERSIONS)
  set(_reason "found only oneDNN ${dnnl_CONSIDERED_VERSIONS}; at least ${OneDNN_FIND_VERSION} is needed")
endif()

include(FindPackageHandleStandardArgs)
if(_reason AND NOT OneDNN_FIND_QUIETLY)
  message(STATUS "${_reason}")
endif()
if(TARGET mx::onednn)
  set(_target mx::onednn)
endif()
find_package_handle_standard_args(OneDNN REQUIRED_VARS _target VERSION_VAR OneDNN_VERSION REASON_FAILURE_MESSAGE "${_reason}")
unset(_target)
unset(_reason)
