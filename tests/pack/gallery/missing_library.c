/* Links a library that is not there when it is opened, as a device pack on a machine without the
 * device. */
#include "gallery.h"

int32_t gallery_absent_device(void);

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  (void)host;
  (void)registrar;
  return gallery_absent_device();
}

GALLERY_PACK("missing_library", init)
