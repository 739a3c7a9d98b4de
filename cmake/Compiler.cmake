# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, baseline instruction set, sanitizers, ccache and linker: the same for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_compile_options(-Wall -Wextra -Werror=return-type)
# Frame pointers: symbolised traces in errors and honest profiles, for about 1 % of speed.
add_compile_options(-fno-omit-frame-pointer)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-march=x86-64-v2>)  # wider paths are chosen at run time
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wthread-safety -Werror=thread-safety)
endif()
if(MXNET_SANITIZE)
  add_compile_options(-fsanitize=${MXNET_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MXNET_SANITIZE})
  if(MXNET_SANITIZE MATCHES "address")
    # Each check describes itself in data full of addresses: where those are known when linking, test programs are a quarter
    # shorter (they are gigabytes in all) and have nothing to relocate when they start.
    add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  endif()
endif()
if(MXNET_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)  # libFuzzer follows the branches of the library, not only of its own file
endif()

# What gcc collects garbage for: a tenth of the time of a large file, and another tenth of memory if it waits for half a
# gigabyte. What is compiled is the same to the bit.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(_collects_late --param=ggc-min-heapsize=524288)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:${_collects_late}>)
endif()

# ccache hashes the precompiled header rather than its text, which it does only when told that this is fine; the
# base folder makes a hit in one checkout a hit in the next. The hash is remembered by inode and times: made anew it took
# a tenth of a second of every compilation, twenty times of what else a hit takes.
find_program(CCACHE_PROGRAM ccache)
find_program(ENV_PROGRAM env)
if(CCACHE_PROGRAM AND ENV_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  if(MXNET_SANITIZE)
    set(_any_folder CCACHE_NOHASHDIR=1)  # their debug information names the folder of whoever compiled first
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/fresh_pch.sh ${ENV_PROGRAM}
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_INODECACHE=1 CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_IGNOREOPTIONS=${_collects_late} ${_any_folder} ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # ccache sees which header was used
  endif()
endif()

find_program(MXNET_LINKER NAMES mold ld.lld)
if(MXNET_LINKER)
  get_filename_component(_linker ${MXNET_LINKER} NAME)
  string(REPLACE "ld." "" _linker ${_linker})
  add_link_options(-fuse-ld=${_linker})
endif()
# mx_fold(target): functions whose instructions are the same are there once, 1.2 MB less of libmxnet.so. Nobody asks whether
# two addresses are those of one function (as std::any does): whoever adds such a question takes this away. A trace may
# name the other function, which is why the sanitizers' builds go without. GNU ld has no such option.
include(CheckLinkerFlag)
if(MXNET_LINKER AND NOT MXNET_SANITIZE)
  check_linker_flag(CXX "-fuse-ld=${_linker};LINKER:--icf=all" MXNET_LINKER_FOLDS)
endif()
function(mx_fold target)
  if(MXNET_LINKER_FOLDS AND NOT MXNET_SANITIZE)  # what was found without stays in the cache
    target_link_options(${target} PRIVATE LINKER:--icf=all)
  endif()
endfunction()
# mx_foldable(target): of what such a library consists of. The linker compares sections, and the compiler by itself gives
# one of its own to templates and inline functions alone.
function(mx_foldable target)
  if(MXNET_LINKER_FOLDS AND NOT MXNET_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffunction-sections>)
  endif()
endfunction()
# Labels that the compiler made up (.LC0): GNU ld leaves them out by itself, mold writes half a megabyte of them.
add_link_options(-Wl,--discard-locals)
