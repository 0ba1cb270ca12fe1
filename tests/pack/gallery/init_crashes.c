/* Its init writes through a null pointer. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  volatile int* nowhere = (volatile int*)(uintptr_t)8;
  *nowhere = 1;
  return gallery_register(host, registrar, "init_crashes.copy(Tensor self) -> Tensor");
}

GALLERY_PACK("init_crashes", init)
