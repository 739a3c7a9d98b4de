# SPDX-License-Identifier: Apache-2.0
# One OBJECT library a source folder (a static archive would drop self-registering files); tests link the objects
# they need, so that they reach what libmxnet.so hides.
add_library(mx_settings INTERFACE)
target_include_directories(mx_settings INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
                                                 ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(mx_settings INTERFACE Threads::Threads OpenMP::OpenMP_CXX fmt::fmt
                                            nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})

# mx_folder(base error.cc log.cc ...): the OBJECT library mx_base, added to libmxnet.so.
function(mx_folder name)
  add_library(mx_${name} OBJECT ${ARGN})
  target_link_libraries(mx_${name} PUBLIC mx_settings)
  target_precompile_headers(mx_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/pch.h)
  set_property(GLOBAL APPEND PROPERTY MX_FOLDERS mx_${name})
endfunction()

# mx_test(engine SOURCES a_test.cc ... LINK base device engine): one gtest program a folder.
function(mx_test name)
  cmake_parse_arguments(T "" "" "SOURCES;LINK" ${ARGN})
  list(TRANSFORM T_LINK PREPEND mx_)
  add_executable(${name}_test ${T_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${T_LINK} GTest::gtest GTest::gtest_main)
  include(GoogleTest)
  gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()

# mx_benchmark(engine SOURCES ... LINK base engine): a program of its own, never run by the tests.
function(mx_benchmark name)
  cmake_parse_arguments(B "" "" "SOURCES;LINK" ${ARGN})
  list(TRANSFORM B_LINK PREPEND mx_)
  add_executable(bench_${name} ${B_SOURCES})
  target_link_libraries(bench_${name} PRIVATE ${B_LINK} benchmark::benchmark)
endfunction()
