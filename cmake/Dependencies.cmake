# SPDX-License-Identifier: Apache-2.0
# What the library is built on, each with a message that says what to install. `scripts/setup` installs all of it.
function(mx_require package debian)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} not found: apt-get install ${debian}, or run scripts/setup")
  endif()
endfunction()

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
mx_require(fmt libfmt-dev)
mx_require(nlohmann_json nlohmann-json3-dev)
if(MXNET_BUILD_TESTS)
  mx_require(GTest libgtest-dev)
endif()
if(MXNET_BUILD_BENCHMARKS)
  mx_require(benchmark libbenchmark-dev)
endif()
