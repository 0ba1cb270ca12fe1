/* The note names another target than the file's machine. */
#include "gallery.h"

#undef GALLERY_TARGET
#define GALLERY_TARGET "mips64-linux-gnu"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  return gallery_register(host, registrar, "other_target.copy(Tensor self) -> Tensor");
}

GALLERY_PACK("other_target", init)
