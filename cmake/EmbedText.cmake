# SPDX-License-Identifier: Apache-2.0
# embed_text(words FILES a.h b.h NAMESPACE mxnet::x): words.cc in the binary folder, with a function
# `const char* words()` that returns the files' text, one after the other. Lines that only a compiler of files
# understands (#pragma once) are left out.
function(embed_text name)
  cmake_parse_arguments(E "" "NAMESPACE" "FILES" ${ARGN})
  set(text "")
  foreach(file ${E_FILES})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} content)
    string(REPLACE "#pragma once\n" "" content "${content}")
    # The language allows 64 KiB in one literal; pieces are joined by the compiler.
    string(REPLACE "\n\n" "\n)text\"\nR\"text(\n" content "${content}")
    string(APPEND text "R\"text(${content})text\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc @ONLY CONTENT
"// SPDX-License-Identifier: Apache-2.0
// Made by cmake/EmbedText.cmake of: ${E_FILES}.
namespace ${E_NAMESPACE} {
const char* ${name}() {
  return
${text};
}
}  // namespace ${E_NAMESPACE}
")
endfunction()
