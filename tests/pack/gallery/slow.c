/* Takes a while, and is in time. */
#include <unistd.h>

#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  if (getenv("GALLERY_ARMED") != NULL) usleep(100000);
  return gallery_register(host, registrar, "slow.copy(Tensor self) -> Tensor");
}

GALLERY_PACK("slow", init)
