# SPDX-License-Identifier: Apache-2.0
# OpenBLAS with CBLAS and LAPACKE, as the target mx::openblas: the PyPI package scipy-openblas32 in the virtual
# environment or in that of a wheel's build (scikit-build-core puts its site-packages into CMAKE_PREFIX_PATH), or the system's. The PyPI one prefixes its symbols; its users see MXNET_BLAS_PREFIX=scipy_ and name them
# through one macro, so that NumPy's own OpenBLAS in the same process is never mixed up with ours.
foreach(prefix IN LISTS MXNET_PYTHON_PREFIXES)
  file(GLOB _wheel "${prefix}/lib/python3*/site-packages/scipy_openblas32")
  list(APPEND _wheels ${_wheel})
endforeach()

find_path(OpenBLAS_INCLUDE_DIR NAMES cblas.h openblas/cblas.h HINTS ${_wheels}
          PATH_SUFFIXES include openblas scipy_openblas32/include)
find_library(OpenBLAS_LIBRARY NAMES scipy_openblas openblas HINTS ${_wheels}
             PATH_SUFFIXES lib scipy_openblas32/lib)
mark_as_advanced(OpenBLAS_INCLUDE_DIR OpenBLAS_LIBRARY)

find_file(_config NAMES openblas_config.h HINTS ${OpenBLAS_INCLUDE_DIR} NO_CACHE)
if(_config)
  file(STRINGS "${_config}" _line REGEX "OPENBLAS_VERSION ")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" OpenBLAS_VERSION "${_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OpenBLAS_LIBRARY OpenBLAS_INCLUDE_DIR
                                  VERSION_VAR OpenBLAS_VERSION)
if(OpenBLAS_FOUND AND NOT TARGET mx::openblas)
  add_library(mx::openblas UNKNOWN IMPORTED)
  set_target_properties(mx::openblas PROPERTIES IMPORTED_LOCATION "${OpenBLAS_LIBRARY}"
                                                INTERFACE_INCLUDE_DIRECTORIES "${OpenBLAS_INCLUDE_DIR}")
  set(_prefix "")
  if(OpenBLAS_LIBRARY MATCHES "scipy_openblas")
    set(_prefix "scipy_")
  endif()
  set_property(TARGET mx::openblas PROPERTY INTERFACE_COMPILE_DEFINITIONS "MXNET_BLAS_PREFIX=${_prefix}")
  unset(_prefix)
endif()
unset(_wheels)
unset(_wheel)
unset(_config CACHE)
