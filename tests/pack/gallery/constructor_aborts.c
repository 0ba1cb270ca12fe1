/* Its static constructor aborts, inside dlopen. */
#include "gallery.h"

__attribute__((constructor)) static void construct(void) { abort(); }

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  return gallery_register(host, registrar, "constructor_aborts.copy(Tensor self) -> Tensor");
}

GALLERY_PACK("constructor_aborts", init)
