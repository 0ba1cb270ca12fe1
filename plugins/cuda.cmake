# onedim_add_cuda_pack(NAME SOURCE...): a pack with CUDA sources, where there is a CUDA compiler; nothing elsewhere.
# The runtime is linked statically and finds the driver when a kernel first runs, so the pack loads on any machine.
set(ONEDIM_CUDA OFF)
if(ONEDIM_SANITIZE)
  message(STATUS "CUDA packs are left out: the sanitizers are not for device code")
else()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(ONEDIM_CUDA ON)
  else()
    message(STATUS "CUDA packs are left out: no nvcc")
  endif()
endif()
set_property(GLOBAL PROPERTY ONEDIM_CUDA ${ONEDIM_CUDA})

if(ccache_program AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${ccache_program})
endif()
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(ONEDIM_CUDA_ARCHITECTURES 80-real 90 CACHE STRING
    "GPUs to compile for: machine code for both, PTX for what comes after")
set(CMAKE_CUDA_ARCHITECTURES ${ONEDIM_CUDA_ARCHITECTURES})

function(onedim_add_cuda_pack name)
  if(NOT ONEDIM_CUDA)
    return()
  endif()
  onedim_add_pack(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE onedim_warnings CUDA::cudart_static)
  target_compile_options(${name} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Werror=all-warnings;-Xcompiler=-Wall,-Wextra,-Wshadow,-fvisibility=hidden>")
  set_target_properties(${name} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
endfunction()
