# SPDX-License-Identifier: Apache-2.0
# mx_units(target): compiles its sources a few at a time where MXNET_UNITS says so. A third to a half of a compilation of tests,
# or under a sanitizer, is what the file before has compiled too: headers, and the templates of the standard library.
# cmake/units.py finds the files that go together; the others, and those with options of their own, stay by themselves.
set(MXNET_UNITS OFF CACHE STRING "Compile several sources of a folder at once: OFF, ON, or tests for those alone")

function(mx_units target)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT MXNET_UNITS OR (MXNET_UNITS STREQUAL "tests" AND NOT folder MATCHES "^tests(/|$)"))
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  get_target_property(sources ${target} SOURCES)
  set(paths "")
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE)
    list(APPEND paths ${path})
  endforeach()
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/units.py ${PROJECT_SOURCE_DIR} ${paths}
                  OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  # A new private name may part files that were together.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/cmake/units.py)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  string(REPLACE ";" "|" lines "${lines}")
  string(REPLACE "\n" ";" lines "${lines}")
  set(number 0)
  foreach(line IN LISTS lines)
    string(REPLACE "|" ";" unit "${line}")
    # A file of two targets of one folder is in the group of the last of them: those of one group go together in any.
    set_source_files_properties(${unit} PROPERTIES UNITY_GROUP ${target}_${number})
    math(EXPR number "${number} + 1")
  endforeach()
endfunction()
