/* Its static constructor never returns. */
#include <unistd.h>

#include "gallery.h"

__attribute__((constructor)) static void construct(void) {
  while (1) pause();
}

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  return gallery_register(host, registrar, "constructor_hangs.copy(Tensor self) -> Tensor");
}

GALLERY_PACK("constructor_hangs", init)
