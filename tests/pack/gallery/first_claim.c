/* One of two packs that register the same op. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  const int32_t status =
      gallery_register(host, registrar, "first_claim.own(Tensor self) -> Tensor");
  if (status != ONEDIM_OK) return status;
  return gallery_register(host, registrar, "gallery.claimed(Tensor self) -> Tensor");
}

GALLERY_PACK("first_claim", init)
