/* An entry that is smaller, by its own word, than the first version of the struct. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  return gallery_register(host, registrar, "small_entry.copy(Tensor self) -> Tensor");
}

GALLERY_NOTE(ONEDIM_ABI_MAJOR, ONEDIM_ABI_MINOR, ONEDIM_ABI_MINOR)
extern const onedim_pack_t onedim_pack_v1;
const onedim_pack_t onedim_pack_v1 = {8,
                                      ONEDIM_ABI_MAJOR,
                                      ONEDIM_ABI_MINOR,
                                      ONEDIM_ABI_MINOR,
                                      {"small_entry", 11},
                                      {"1.0", 3},
                                      init,
                                      NULL};
