# SPDX-License-Identifier: Apache-2.0
# Looks for a CUDA toolkit; sets MXNET_CUDA_FOUND. Without one the core is built all the same, and using a GPU gives
# an error that says what to install. Included by the plug-in's own folder only, so that nothing else sees CUDA.
set(MXNET_CUDA_FOUND OFF)
set(MXNET_CUDA_ARCHITECTURES "80-real;90" CACHE STRING
    "GPU architectures of libmxnet_cuda.so; a number without -real adds PTX, from which newer GPUs compile")

# Not every installation puts nvcc on the PATH.
find_program(MXNET_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
if(NOT MXNET_NVCC)
  message(STATUS "CUDA: no nvcc found, libmxnet_cuda.so is not built (install a CUDA 12 or 13 toolkit, or set CUDA_HOME)")
elseif(MXNET_SANITIZE)
  message(STATUS "CUDA: libmxnet_cuda.so is not built with sanitizers")
else()
  set(CMAKE_CUDA_COMPILER ${MXNET_NVCC})
  set(CMAKE_CUDA_ARCHITECTURES ${MXNET_CUDA_ARCHITECTURES})  # before enable_language: its own default may be too old
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
  set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # older versions of CMake do not know that nvcc can
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)  # not before: enabling the language tries it out
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  find_package(CUDAToolkit REQUIRED)
  message(STATUS "CUDA: libmxnet_cuda.so is built with toolkit ${CUDAToolkit_VERSION} for ${MXNET_CUDA_ARCHITECTURES}")
  set(MXNET_CUDA_FOUND ON)
endif()
