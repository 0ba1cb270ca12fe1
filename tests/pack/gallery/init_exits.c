/* Its init ends the process. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  (void)host;
  (void)registrar;
  exit(7);
}

GALLERY_PACK("init_exits", init)
