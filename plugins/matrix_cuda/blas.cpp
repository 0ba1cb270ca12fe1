#include "blas.hpp"

#include <cublas_v2.h>
#include <dlfcn.h>

#include <map>
#include <memory>

#include <onedim/device_scope.cuh>

namespace matrix_cuda {
namespace {

using onedim::api::fail;

// The functions of cuBLAS, found when the first product runs.
struct Library {
  decltype(&cublasCreate_v2) create;
  decltype(&cublasDestroy_v2) destroy;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSetWorkspace_v2) set_workspace;
  decltype(&cublasGetStatusString) status_string;
  decltype(&cublasGemmStridedBatchedEx_64) multiply;

  void check(cublasStatus_t status, const char* what) const {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    fail(std::string("cuBLAS refuses ") + what + ": " + status_string(status),
         status == CUBLAS_STATUS_ALLOC_FAILED ? ONEDIM_STATUS_RESOURCE_EXHAUSTED
                                              : ONEDIM_STATUS_INTERNAL);
  }
};

template <typename Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr)
    fail(std::string(ONEDIM_CUBLAS) + " has no " + name, ONEDIM_STATUS_FAILED_PRECONDITION);
}

Library open_library() {
  void* handle = dlopen(ONEDIM_CUBLAS, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    fail("needs " ONEDIM_CUBLAS ", which is not on this machine",
         ONEDIM_STATUS_FAILED_PRECONDITION);
  Library found{};
  find(handle, "cublasCreate_v2", found.create);
  find(handle, "cublasDestroy_v2", found.destroy);
  find(handle, "cublasSetStream_v2", found.set_stream);
  find(handle, "cublasSetWorkspace_v2", found.set_workspace);
  find(handle, "cublasGetStatusString", found.status_string);
  find(handle, "cublasGemmStridedBatchedEx_64", found.multiply);
  return found;
}

const Library& library() {
  static const Library opened = open_library();
  return opened;
}

// One of this thread for the current device. Handles live as long as their thread.
cublasHandle_t handle_of(int device) {
  struct Destroy {
    void operator()(cublasHandle_t handle) const { library().destroy(handle); }
  };
  using Handle = std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, Destroy>;
  thread_local std::map<int, Handle> handles;
  Handle& handle = handles[device];
  if (handle == nullptr) {
    cublasHandle_t made = nullptr;
    library().check(library().create(&made), "a handle");
    handle.reset(made);
  }
  return handle.get();
}

// bf16 and f16 are summed in f32; f32 stays f32, without tensor-float rounding.
struct Types {
  cudaDataType_t elements;
  cublasComputeType_t sums;
};
Types types_of(int32_t dtype) {
  switch (dtype) {
    case ONEDIM_DTYPE_F64:
      return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case ONEDIM_DTYPE_BF16:
      return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case ONEDIM_DTYPE_F16:
      return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case ONEDIM_DTYPE_C64:
      return {CUDA_C_32F, CUBLAS_COMPUTE_32F};
    default:
      return {CUDA_R_32F, CUBLAS_COMPUTE_32F};
  }
}

// alpha or beta in the type of the sums.
union Factor {
  double wide;
  float narrow[2];
};
Factor factor_of(std::complex<double> value, int32_t dtype) {
  Factor factor{};
  if (dtype == ONEDIM_DTYPE_F64) {
    factor.wide = value.real();
  } else {
    factor.narrow[0] = static_cast<float>(value.real());
    factor.narrow[1] = static_cast<float>(value.imag());
  }
  return factor;
}

cublasOperation_t operation_of(const BlasMatrix& matrix) {
  return matrix.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

}  // namespace

void multiply(const BlasCall& call, const onedim_execution_t& execution) {
  const onedim::device::DeviceScope scope(execution);
  const Library& blas = library();
  cublasHandle_t handle = handle_of(execution.device_ordinal);
  blas.check(blas.set_stream(handle, static_cast<cudaStream_t>(execution.stream)), "the stream");
  blas.check(blas.set_workspace(handle, call.scratch, call.scratch_bytes), "its workspace");
  const Types types = types_of(call.dtype);
  const Factor alpha = factor_of(call.alpha, call.dtype), beta = factor_of(call.beta, call.dtype);
  blas.check(blas.multiply(handle, operation_of(call.a), operation_of(call.b), call.m, call.n,
                           call.k, &alpha, call.a.data, types.elements, call.a.leading,
                           call.a.batch_stride, call.b.data, types.elements, call.b.leading,
                           call.b.batch_stride, &beta, call.c, types.elements, call.c_leading,
                           call.c_batch_stride, call.batch, types.sums, CUBLAS_GEMM_DEFAULT),
             "the product");
}

}  // namespace matrix_cuda
