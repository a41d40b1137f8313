# ASSAY_WITH_NCCL: a libtorch for CUDA, whose c10d has NCCL, and the headers of NCCL and CUDA. No nvcc.
if(NOT ASSAY_WITH_TORCH)
  message(FATAL_ERROR "ASSAY_WITH_NCCL needs ASSAY_WITH_TORCH: ranks are linked by libtorch's c10d")
endif()
include(torch_cuda)
# Wheels from PyPI have them beside libtorch's.
file(GLOB wheel_includes ${ASSAY_TORCH_ROOT}/../nvidia/*/include)
set(nccl_includes)
# CUDA's are those that libtorch's ask for, and these ask for in turn.
foreach(header IN ITEMS nccl.h cuda_runtime_api.h cublas_v2.h cusparse.h cusolverDn.h crt/host_defines.h nv/target)
  string(MAKE_C_IDENTIFIER "ASSAY_INCLUDE_${header}" variable)
  find_path(${variable} ${header} HINTS ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES} ${wheel_includes}
    PATHS /usr/local/cuda/include PATH_SUFFIXES cccl)
  if(NOT ${variable})
    message(FATAL_ERROR "ASSAY_WITH_NCCL needs ${header}, which was not found: install CUDA's toolkit and NCCL for the libtorch in "
      "${torch_lib_dir}, or the wheels that tools/nccl-links.sh installs")
  endif()
  list(APPEND nccl_includes ${${variable}})
endforeach()
list(REMOVE_DUPLICATES nccl_includes)
add_library(assay_nccl INTERFACE)
target_include_directories(assay_nccl SYSTEM INTERFACE ${nccl_includes})
# The header of c10d's NCCL is empty without the second one.
target_compile_definitions(assay_nccl INTERFACE ASSAY_WITH_NCCL USE_C10D_NCCL)
