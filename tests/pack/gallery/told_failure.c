/* Its init fails and says why. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  (void)registrar;
  host->set_error(host, ONEDIM_STATUS_INTERNAL, gallery_text("the table has no row 7"));
  return ONEDIM_STATUS_INTERNAL;
}

GALLERY_PACK("told_failure", init)
