/* An op of its own, and a kernel for an op that no pack declares. */
#include "gallery.h"

static int32_t compute(const onedim_host_t* host, void* user, const onedim_call_t* call,
                       const onedim_execution_t* execution) {
  (void)host;
  (void)user;
  (void)call;
  (void)execution;
  return ONEDIM_OK;
}

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  onedim_kernel_t kernel;
  memset(&kernel, 0, sizeof(kernel));
  kernel.struct_size = sizeof(kernel);
  kernel.op = gallery_text("nobody.declares_this");
  kernel.device = ONEDIM_DEVICE_CUDA;
  kernel.dtypes = 1u << ONEDIM_DTYPE_F32;
  kernel.compute = compute;
  if (host->register_kernel(registrar, &kernel) != ONEDIM_OK) return ONEDIM_STATUS_INTERNAL;
  return gallery_register(host, registrar, "missing_dependency.copy(Tensor self) -> Tensor");
}

GALLERY_PACK("missing_dependency", init)
