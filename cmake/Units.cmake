# SPDX-License-Identifier: Apache-2.0
# mx_units(target): compiles its sources a few at a time where MXNET_UNITS says so. A third to a half of a compilation is what
# the file before has compiled too: headers, and the templates of the standard library. cmake/units.py finds the files that
# go together, of each kind of options; the others stay by themselves.
set(MXNET_UNITS OFF CACHE STRING "Compile several sources of a folder at once: OFF, ON, or tests for those alone, and CUDA's kernels")
if(MXNET_UNITS)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

# mx_merged(result NAME.cc files...): these files, but for those that are compiled together, and for each unit of them one that
# is written here, in a folder "units", and includes them.
# CMake's own units know neither CUDA nor files with options of their own.
function(mx_merged result name)
  set(${result} "${ARGN}" PARENT_SCOPE)
  if(ARGC LESS 4)  # nothing to merge
    return()
  endif()
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/units.py ${PROJECT_SOURCE_DIR} ${ARGN}
                  OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  # A new private name may part files that were together.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/units.py)
  set(files ${ARGN})
  cmake_path(GET name EXTENSION LAST_ONLY extension)
  cmake_path(GET name STEM LAST_ONLY stem)
  string(REPLACE ";" "|" lines "${lines}")
  string(REPLACE "\n" ";" lines "${lines}")
  set(number 0)
  foreach(line IN LISTS lines)
    string(REPLACE "|" ";" unit "${line}")
    list(REMOVE_ITEM files ${unit})
    list(TRANSFORM unit REPLACE "(.+)" "#include \"\\1\"\n")
    string(CONCAT text "// What is compiled together: see cmake/Units.cmake.\n" ${unit})
    set(path ${CMAKE_CURRENT_BINARY_DIR}/units/${stem}_${number}${extension})
    file(CONFIGURE OUTPUT ${path} CONTENT "${text}" @ONLY)
    list(APPEND files ${path})
    math(EXPR number "${number} + 1")
  endforeach()
  set(${result} "${files}" PARENT_SCOPE)
endfunction()

# mx_kernel_units(result a.cu ...): what to compile by nvcc for these files. More than half of that is reading their headers,
# four times: for the host's part, by the host's compiler, and for each of two architectures.
function(mx_kernel_units result)
  set(kernels ${ARGN})
  set(others ${ARGN})
  list(FILTER kernels INCLUDE REGEX "[.]cu$")
  list(FILTER others EXCLUDE REGEX "[.]cu$")
  if(MXNET_UNITS)
    list(TRANSFORM kernels PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    mx_merged(kernels kernels.cu ${kernels})
  endif()
  set(${result} ${kernels} ${others} PARENT_SCOPE)
endfunction()

# Looks at its folder's files when the folder's list has been read: their options stand behind the target.
function(mx_units target)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(MXNET_UNITS AND NOT (MXNET_UNITS STREQUAL "tests" AND NOT folder MATCHES "^tests(/|$)"))
    cmake_language(EVAL CODE "cmake_language(DEFER CALL mx_units_of_target ${target})")
  endif()
endfunction()

function(mx_units_of_target target)
  get_target_property(sources ${target} SOURCES)
  set(result "")
  set(kinds "")
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE)
    get_source_file_property(alone "${path}" SKIP_UNITY_BUILD_INCLUSION)
    if(alone OR NOT EXISTS "${path}" OR NOT path MATCHES "[.](cc|cu)$")
      list(APPEND result "${source}")  # objects, or made by the build
      continue()
    endif()
    get_source_file_property(options ${path} COMPILE_OPTIONS)
    string(MD5 kind "${options}")
    list(APPEND kinds ${kind})
    list(APPEND files_${kind} ${path})
  endforeach()
  list(REMOVE_DUPLICATES kinds)
  foreach(kind IN LISTS kinds)
    list(FIND kinds ${kind} number)
    mx_merged(files ${target}_${number}.cc ${files_${kind}})
    list(GET files_${kind} 0 like)
    foreach(property COMPILE_OPTIONS SKIP_PRECOMPILE_HEADERS OBJECT_DEPENDS)
      get_source_file_property(value ${like} ${property})
      if(value)
        set_source_files_properties(${files} PROPERTIES ${property} "${value}")
      endif()
    endforeach()
    list(APPEND result ${files})
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${result})
endfunction()
