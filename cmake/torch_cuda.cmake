# A libtorch whose tensors can be on a GPU, for ASSAY_WITH_CUDA and ASSAY_WITH_NCCL.
include_guard()
find_library(TORCH_CUDA_LIBRARY torch_cuda HINTS ${torch_lib_dir})
find_library(C10_CUDA_LIBRARY c10_cuda HINTS ${torch_lib_dir})
if(NOT TORCH_CUDA_LIBRARY OR NOT C10_CUDA_LIBRARY)
  message(FATAL_ERROR "ASSAY_WITH_CUDA and ASSAY_WITH_NCCL need a libtorch for CUDA, and that in ${torch_lib_dir} is for CPUs alone, as "
    "Debian's is: set ASSAY_TORCH_ROOT to another one, such as the torch folder of a wheel from PyPI")
endif()
# Nothing refers to torch_cuda, which registers the operations on a GPU when it is loaded.
target_link_libraries(assay_torch INTERFACE
  -Wl,--no-as-needed ${TORCH_CUDA_LIBRARY} ${C10_CUDA_LIBRARY} -Wl,--as-needed)
