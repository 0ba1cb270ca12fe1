/* Calls what nobody defines. */
#include "gallery.h"

int32_t gallery_nobody_defines_this(void);

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  (void)host;
  (void)registrar;
  return gallery_nobody_defines_this();
}

GALLERY_PACK("unresolved", init)
