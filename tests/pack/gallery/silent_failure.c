/* Its init fails and does not say why. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  (void)host;
  (void)registrar;
  return ONEDIM_STATUS_INTERNAL;
}

GALLERY_PACK("silent_failure", init)
