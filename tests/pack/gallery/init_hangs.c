/* Its init never returns. */
#include <unistd.h>

#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  (void)host;
  (void)registrar;
  while (1) pause();
}

GALLERY_PACK("init_hangs", init)
