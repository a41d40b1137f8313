# ASSAY_WITH_CUDA: nvcc, and a libtorch whose tensors can be on a GPU.
if(NOT ASSAY_WITH_TORCH)
  message(FATAL_ERROR "ASSAY_WITH_CUDA needs ASSAY_WITH_TORCH: the kernels work on libtorch's tensors")
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "ASSAY_WITH_CUDA needs nvcc: put it on the PATH or set CMAKE_CUDA_COMPILER")
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 90)
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_EXTENSIONS OFF)

find_library(TORCH_CUDA_LIBRARY torch_cuda HINTS ${torch_lib_dir})
find_library(C10_CUDA_LIBRARY c10_cuda HINTS ${torch_lib_dir})
if(NOT TORCH_CUDA_LIBRARY OR NOT C10_CUDA_LIBRARY)
  message(FATAL_ERROR "ASSAY_WITH_CUDA needs a libtorch for CUDA, and ${torch_lib_dir} has none: set ASSAY_TORCH_ROOT")
endif()
# Nothing refers to torch_cuda, which registers the operations on a GPU when it is loaded.
target_link_libraries(assay_torch INTERFACE
  -Wl,--no-as-needed ${TORCH_CUDA_LIBRARY} ${C10_CUDA_LIBRARY} -Wl,--as-needed)
target_include_directories(assay_torch SYSTEM INTERFACE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
target_compile_definitions(assay_torch INTERFACE ASSAY_WITH_CUDA)
