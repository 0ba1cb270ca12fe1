/* An entry without a note: not built as a pack. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  return gallery_register(host, registrar, "no_note.copy(Tensor self) -> Tensor");
}

GALLERY_ENTRY("no_note", init, NULL)
