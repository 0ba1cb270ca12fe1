/* Opens, but finds no device and says so. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  (void)registrar;
  host->set_error(host, ONEDIM_STATUS_FAILED_PRECONDITION, gallery_text("no such device here"));
  return ONEDIM_STATUS_FAILED_PRECONDITION;
}

GALLERY_PACK("no_device", init)
