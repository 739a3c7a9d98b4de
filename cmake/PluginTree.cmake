# SPDX-License-Identifier: Apache-2.0
# plugin_tree.h: a number that is another one for each state of the headers that libmxnet.so and its CUDA plug-in share,
# without their comments and blanks. Included, it declares the target that writes it; run by itself, it writes it.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.22)
  set(text "")
  file(GLOB_RECURSE headers ${ROOT}/src/base/*.h ${ROOT}/src/device/*.h ${ROOT}/src/op/*.h ${ROOT}/src/op/*.inc)
  foreach(header IN LISTS headers)  # GLOB sorts them
    file(RELATIVE_PATH name ${ROOT} ${header})
    file(READ ${header} body)
    string(REGEX REPLACE "//[^\n]*" "" body "${body}")
    string(REGEX REPLACE "[ \t\n]+" " " body "${body}")
    string(SHA256 hash "${body}")
    string(APPEND text "${name} ${hash}\n")
  endforeach()
  string(SHA256 hash "${text}")
  string(SUBSTRING ${hash} 0 16 number)
  # Left alone where it is the same: who includes it is not compiled again.
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// Of the tree that this was built from: see cmake/PluginTree.cmake.
#pragma once
#include <cstdint>
namespace mxnet {
inline constexpr uint64_t kPluginTree = 0x${number}u;
}
" @ONLY)
  return()
endif()

set(plugin_tree ${PROJECT_BINARY_DIR}/generated/plugin_tree.h)
file(GLOB_RECURSE shared_headers CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/src/base/*.h ${PROJECT_SOURCE_DIR}/src/device/*.h ${PROJECT_SOURCE_DIR}/src/op/*.h
     ${PROJECT_SOURCE_DIR}/src/op/*.inc)
add_custom_command(OUTPUT ${plugin_tree}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUTPUT=${plugin_tree} -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${shared_headers} ${CMAKE_CURRENT_LIST_FILE} VERBATIM COMMENT "Numbering the headers that plug-ins share")
add_custom_target(mx_plugin_tree DEPENDS ${plugin_tree})
# mx_knows_plugin_tree(target source): which of its sources includes it. Others are compiled as if there were none.
function(mx_knows_plugin_tree target source)
  add_dependencies(${target} mx_plugin_tree)
  set_source_files_properties(${source} PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated)
endfunction()
