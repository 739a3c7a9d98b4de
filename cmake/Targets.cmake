# SPDX-License-Identifier: Apache-2.0
# One OBJECT library a source folder (a static archive would drop self-registering files); tests link the objects
# they need, so that they reach what libmxnet.so hides.
add_library(mx_settings INTERFACE)
target_include_directories(mx_settings INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
                                                 ${PROJECT_BINARY_DIR}/generated)
# Made now: a folder that is not there yet when the first file is compiled has another name for ccache (./generated), and a
# fresh checkout would find nothing of what one has compiled that had it.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(mx_settings INTERFACE Threads::Threads OpenMP::OpenMP_CXX fmt::fmt
                                            nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})

# mx_precompiled(mx_pch HEADERS ... LINK ...): a precompiled header that is built once and reused by many targets.
function(mx_precompiled name)
  cmake_parse_arguments(P "" "" "HEADERS;LINK" ${ARGN})
  file(CONFIGURE OUTPUT ${name}.cc CONTENT "// Only carries the precompiled header.\n")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE mx_settings ${P_LINK})
  target_precompile_headers(${name} PRIVATE ${P_HEADERS})
endfunction()

mx_precompiled(mx_pch HEADERS ${PROJECT_SOURCE_DIR}/src/pch.h)
mx_foldable(mx_pch)
# The same for size, half of the code and two thirds of the time to compile it: gcc takes a precompiled header only from
# its own like.
if(NOT MXNET_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  mx_precompiled(mx_small_pch HEADERS ${PROJECT_SOURCE_DIR}/src/pch.h)
  target_compile_options(mx_small_pch PRIVATE -Os)
  mx_foldable(mx_small_pch)
  set(MXNET_SMALL_PCH ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/mx_small_pch.dir/cmake_pch.hxx)
endif()
if(MXNET_BUILD_TESTS)
  mx_precompiled(mx_test_pch HEADERS ${PROJECT_SOURCE_DIR}/src/pch.h <gtest/gtest.h> LINK GTest::gtest)
  # A program is compiled as the compiler does by default: gcc takes a precompiled header only from its own like.
  set_property(TARGET mx_test_pch PROPERTY POSITION_INDEPENDENT_CODE OFF)
  # What is wanted quick or looked at by the sanitizers is the library; optimising the tests as much would take a third
  # of the time of a build.
  if(MXNET_SANITIZE)
    set(MXNET_TEST_OPTIONS -O0)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    set(MXNET_TEST_OPTIONS -O1)
  endif()
  target_compile_options(mx_test_pch PRIVATE ${MXNET_TEST_OPTIONS})
endif()

# mx_small(cse.cc ...): of this folder's sources those that run once for a program, a graph or an operator. Those of a
# target have one precompiled header, the target's: theirs is given by hand.
function(mx_small)
  if(NOT TARGET mx_small_pch)
    return()
  endif()
  set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -Os)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-Os;-Winvalid-pch;-include;${MXNET_SMALL_PCH}"
                                OBJECT_DEPENDS ${MXNET_SMALL_PCH}.gch)
  endif()
endfunction()

# mx_folder(base error.cc log.cc ...): the OBJECT library mx_base, added to libmxnet.so.
function(mx_folder name)
  add_library(mx_${name} OBJECT ${ARGN})
  target_link_libraries(mx_${name} PUBLIC mx_settings)
  mx_foldable(mx_${name})
  target_precompile_headers(mx_${name} REUSE_FROM mx_pch)
  if(TARGET mx_small_pch)
    add_dependencies(mx_${name} mx_small_pch)  # make, unlike Ninja, does not know who makes a file
  endif()
  mx_units(mx_${name})
  set_property(GLOBAL APPEND PROPERTY MX_FOLDERS mx_${name})
endfunction()

# mx_complete(target): what a shared library does not find fails where it is linked, not at its first use.
function(mx_complete target)
  if(NOT MXNET_SANITIZE)  # sanitizers leave their runtime to the program
    target_link_options(${target} PRIVATE LINKER:--no-undefined)
  endif()
endfunction()

# mx_compile(OPTIONS -O3 ... FILES a.cc ...): how some files of a folder are compiled. How much is optimised is a matter of
# what users get: a sanitizer's build has one level for all, and spends no minutes on the others.
function(mx_compile)
  cmake_parse_arguments(C "" "" "OPTIONS;FILES" ${ARGN})
  if(MXNET_SANITIZE)
    list(FILTER C_OPTIONS EXCLUDE REGEX "^-O|:-O|^-ftree-|^-fvect-|-funswitch-")
  endif()
  if(C_OPTIONS)
    set_source_files_properties(${C_FILES} PROPERTIES COMPILE_OPTIONS "${C_OPTIONS}" SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# Children of tests start threads too, which the thread sanitizer refuses unless it is told otherwise; what asks for more
# memory than there is gets none, as without it.
if(MXNET_SANITIZE MATCHES "thread")
  set(MXNET_TEST_ENVIRONMENT "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp:die_after_fork=0:allocator_may_return_null=1")
endif()

include(GoogleTest)  # here, not in a function: it sets variables that its own functions read

# mx_in_parts(engine 0 VARIABLE=value...): the program engine_test as a few processes, each of which runs its share of the
# tests. Under a sanitizer a process takes longer to start and end than most tests do: one for each of thousands took most
# of the time. That each test passes by itself is what other builds show.
function(mx_in_parts name cost)
  set(parts 3)
  math(EXPR last "${parts} - 1")
  foreach(part RANGE ${last})
    add_test(NAME ${name}.part${part} COMMAND ${name}_test)
    set(environment GTEST_TOTAL_SHARDS=${parts} GTEST_SHARD_INDEX=${part} ${MXNET_TEST_ENVIRONMENT} ${ARGN})
    set_tests_properties(${name}.part${part} PROPERTIES TIMEOUT 900 COST ${cost} LABELS ${name}
      ENVIRONMENT "${environment}"
      FAIL_REGULAR_EXPRESSION "Running 0 tests")
  endforeach()
endfunction()

# mx_test_paths(engine_test exit_helper $<TARGET_FILE:engine_exit_helper> ...): names and paths of which test_path of
# tests/paths.h knows in this program. More of them may be added.
function(mx_test_paths target)
  get_target_property(paths ${target} MX_TEST_PATHS)
  if(NOT paths)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_paths.cc)
    set(rows $<TARGET_GENEX_EVAL:${target},$<TARGET_PROPERTY:${target},MX_TEST_PATHS>>)
    file(GENERATE OUTPUT ${file} CONTENT "// Made by mx_test_paths of cmake/Targets.cmake.
#include \"paths.h\"

#include <stdexcept>

std::string mxnet::test_path(std::string_view name) {
  constexpr std::string_view kPaths[][2] = {
$<JOIN:${rows},\n>
  };
  for (const auto& [known, path] : kPaths)
    if (known == name) return std::string(path);
  throw std::out_of_range(std::string(name));
}
")
    target_sources(${target} PRIVATE ${file})
    set_source_files_properties(${file} PROPERTIES GENERATED ON SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  endif()
  while(ARGN)
    list(POP_FRONT ARGN name path)
    set_property(TARGET ${target} APPEND PROPERTY MX_TEST_PATHS "    {\"${name}\", \"${path}\"},")
  endwhile()
endfunction()

# mx_test(engine SOURCES a_test.cc ... LINK base device engine): one gtest program a folder. LINK all: every folder.
# LONG: some of its tests take seconds, and begin before others do, so that nobody waits for the last of them. IN_PARTS:
# under the thread sanitizer too, but for FORKING, a filter of tests: there a child's thread is taken for one of its
# parent's that has had the same address, and tests that fork are by themselves.
function(mx_test name)
  cmake_parse_arguments(T "LONG;IN_PARTS" "FORKING" "SOURCES;LINK" ${ARGN})
  if(T_LINK STREQUAL "all")
    get_property(T_LINK GLOBAL PROPERTY MX_FOLDERS)
  else()
    list(TRANSFORM T_LINK PREPEND mx_)
  endif()
  add_executable(${name}_test ${T_SOURCES})
  set_property(TARGET ${name}_test PROPERTY POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(${name}_test REUSE_FROM mx_test_pch)
  target_compile_options(${name}_test PRIVATE ${MXNET_TEST_OPTIONS})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  mx_test_paths(${name}_test data ${PROJECT_SOURCE_DIR}/tests/data)
  target_link_libraries(${name}_test PRIVATE mx_settings ${T_LINK} GTest::gtest GTest::gtest_main)
  mx_units(${name}_test)
  set(cost 0)
  if(T_LONG)
    set(cost 10)
  endif()
  if(MXNET_SANITIZE MATCHES "address")
    mx_in_parts(${name} ${cost})
    return()
  endif()
  set(filter "")
  if(T_IN_PARTS AND MXNET_SANITIZE MATCHES "thread")
    mx_in_parts(${name} ${cost} "GTEST_FILTER=-${T_FORKING}")
    if(NOT T_FORKING)
      return()
    endif()
    set(filter TEST_FILTER "${T_FORKING}")
  endif()
  gtest_discover_tests(${name}_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 ${filter}
                       PROPERTIES TIMEOUT 300 COST ${cost} LABELS ${name} ENVIRONMENT "${MXNET_TEST_ENVIRONMENT}")
endfunction()

# mx_benchmark(engine SOURCES ... LINK base engine): a program of its own, never run by the tests.
function(mx_benchmark name)
  cmake_parse_arguments(B "" "" "SOURCES;LINK" ${ARGN})
  list(TRANSFORM B_LINK PREPEND mx_)
  add_executable(bench_${name} ${B_SOURCES})
  target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(bench_${name} PRIVATE mx_settings ${B_LINK} benchmark::benchmark)
endfunction()

# mx_fuzzer(config SOURCES ... LINK base): a libFuzzer program; nothing without MXNET_BUILD_FUZZERS.
function(mx_fuzzer name)
  if(NOT MXNET_BUILD_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(F "" "" "SOURCES;LINK" ${ARGN})
  list(TRANSFORM F_LINK PREPEND mx_)
  add_executable(fuzz_${name} ${F_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE mx_settings ${F_LINK})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endfunction()

# mx_subfolders(base device ...): the lists of those that exist already, in this order.
macro(mx_subfolders)
  foreach(_folder ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${_folder}/CMakeLists.txt)
      add_subdirectory(${_folder})
    endif()
  endforeach()
endmacro()
