# SPDX-License-Identifier: Apache-2.0
# Where things go. An ordinary install has lib/, include/ and lib/cmake/mxnet under the prefix; in a wheel the prefix is
# the Python package itself and libmxnet.so lies at its top, where the reference's front end looks for it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(SKBUILD)
  set(MXNET_INSTALL_LIBDIR ".")
  set(MXNET_INSTALL_CMAKEDIR "lib/cmake/mxnet")
  # What PyPI has is a requirement of the wheel, found from here: <prefix>/lib for oneDNN (`pip install --target` puts
  # that beside the package), its own package for OpenBLAS. What only Debian has lies beside us.
  set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../../..;$ORIGIN/../lib;$ORIGIN/../scipy_openblas32/lib")
else()
  set(MXNET_INSTALL_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
  set(MXNET_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/mxnet")
  set(CMAKE_INSTALL_RPATH "$ORIGIN")
  # OpenBLAS and oneDNN of the virtual environment. CMAKE_INSTALL_RPATH_USE_LINK_PATH would leave them out when that
  # environment lies in the source tree, as .venv does.
  get_target_property(_onednn_library DNNL::dnnl LOCATION)
  foreach(_library "${OpenBLAS_LIBRARY}" "${_onednn_library}")
    cmake_path(GET _library PARENT_PATH _folder)
    if(NOT _folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      list(APPEND CMAKE_INSTALL_RPATH "${_folder}")
    endif()
  endforeach()
endif()

# mx_install(mxnet): the library with its headers and what find_package(mxnet) reads.
function(mx_install target)
  install(TARGETS ${target} EXPORT mxnet LIBRARY DESTINATION ${MXNET_INSTALL_LIBDIR} COMPONENT mxnet)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION include COMPONENT mxnet)
  install(EXPORT mxnet NAMESPACE mxnet:: FILE mxnet-targets.cmake DESTINATION ${MXNET_INSTALL_CMAKEDIR} COMPONENT mxnet)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/mxnet-config.cmake.in ${PROJECT_BINARY_DIR}/mxnet-config.cmake
                                INSTALL_DESTINATION ${MXNET_INSTALL_CMAKEDIR})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/mxnet-config-version.cmake COMPATIBILITY SameMajorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/mxnet-config.cmake ${PROJECT_BINARY_DIR}/mxnet-config-version.cmake
          DESTINATION ${MXNET_INSTALL_CMAKEDIR} COMPONENT mxnet)
  # For programs built without CMake; found from its own place, so that the prefix may move.
  cmake_path(SET folder NORMALIZE "${MXNET_INSTALL_LIBDIR}/pkgconfig")
  cmake_path(SET from NORMALIZE "/prefix/${folder}")
  file(RELATIVE_PATH MXNET_PC_PREFIX "${from}" "/prefix")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/mxnet.pc.in ${PROJECT_BINARY_DIR}/mxnet.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/mxnet.pc DESTINATION ${folder} COMPONENT mxnet)
  if(SKBUILD)
    get_target_property(type fmt::fmt TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
      install(FILES $<TARGET_FILE:fmt::fmt> DESTINATION . RENAME $<TARGET_SONAME_FILE_NAME:fmt::fmt> COMPONENT mxnet)
    endif()
    # Found by path, not as targets that know their names: libjpeg.so.62.3.0 is looked for as libjpeg.so.62.
    foreach(codec JPEG PNG)
      if(${codec}_FOUND)
        get_target_property(library ${codec}::${codec} LOCATION)
        file(REAL_PATH "${library}" library)
        cmake_path(GET library FILENAME name)
        string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" name "${name}")
        if(name MATCHES "\\.so")
          install(FILES "${library}" DESTINATION . RENAME "${name}" COMPONENT mxnet)
        endif()
      endif()
    endforeach()
  endif()
endfunction()
