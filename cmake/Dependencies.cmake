# SPDX-License-Identifier: Apache-2.0
# What the library is built on. Required is only what today's sources use, each with a message that says what to
# install (`scripts/setup` installs all of it); the rest is looked for, reported, and used by the parts that come later.

# Rows of the table that mx_print_dependencies shows: "name|state".
function(mx_report name state)
  set_property(GLOBAL APPEND PROPERTY MX_DEPENDENCIES "${name}|${state}")
endfunction()

# mx_require(fmt libfmt-dev [find_package arguments...])
function(mx_require package debian)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} not found: apt-get install ${debian}, or run scripts/setup")
  endif()
  mx_report(${package} "${${package}_VERSION}")
endfunction()

# mx_detect(dmlc libdmlc-dev [find_package arguments...]): never fails. A macro: find modules set variables and
# targets for whoever uses them.
macro(mx_detect package install)
  find_package(${package} ${ARGN} QUIET)
  if(${package}_FOUND)
    mx_report(${package} "${${package}_VERSION}")
  else()
    mx_report(${package} "not found (${install})")
  endif()
endmacro()

function(mx_print_dependencies)
  get_property(rows GLOBAL PROPERTY MX_DEPENDENCIES)
  message(STATUS "mxnet ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
                 ", linker ${MXNET_LINKER}, ccache ${CCACHE_PROGRAM}, sanitizers '${MXNET_SANITIZE}'")
  foreach(row IN LISTS rows)
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 name)
    list(GET row 1 state)
    string(LENGTH "${name}" length)
    math(EXPR pad "16 - ${length}")
    string(REPEAT " " ${pad} pad)
    message(STATUS "  ${name}${pad}${state}")
  endforeach()
endfunction()

# Packages from PyPI lie in the repository's virtual environment (scripts/setup makes it) or in the active one.
foreach(prefix "$ENV{VIRTUAL_ENV}" "${PROJECT_SOURCE_DIR}/.venv")
  if(prefix AND EXISTS "${prefix}/lib")
    list(APPEND MXNET_PYTHON_PREFIXES "${prefix}")
  endif()
endforeach()
list(REMOVE_DUPLICATES MXNET_PYTHON_PREFIXES)

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
mx_report(OpenMP "${OpenMP_CXX_VERSION}")
mx_require(fmt libfmt-dev)
mx_require(nlohmann_json nlohmann-json3-dev)
if(MXNET_BUILD_TESTS)
  mx_require(GTest libgtest-dev)
endif()
if(MXNET_BUILD_BENCHMARKS)
  mx_require(benchmark libbenchmark-dev)
endif()

mx_detect(OneDNN "scripts/setup --all" 3.2)
mx_detect(OpenBLAS "scripts/setup --all" 0.3 MODULE)
mx_detect(dmlc libdmlc-dev CONFIG)
mx_detect(hwy libhwy-dev CONFIG)
mx_detect(JPEG libjpeg-dev)
mx_detect(PNG libpng-dev)
mx_detect(OpenCV "libopencv-core-dev libopencv-imgproc-dev" 4 CONFIG COMPONENTS core imgproc)
mx_detect(MPI libopenmpi-dev COMPONENTS CXX)
if(MXNET_BUILD_CUDA)
  mx_detect(CUDAToolkit "a CUDA toolkit, for libmxnet_cuda.so")
endif()
