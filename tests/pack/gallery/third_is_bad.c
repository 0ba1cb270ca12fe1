/* Two good registrations, then a bad one: nothing of it may stay. Its init even hides the refusal.
 */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  gallery_register(host, registrar, "third_is_bad.one(Tensor self) -> Tensor");
  gallery_register(host, registrar, "third_is_bad.two(Tensor self) -> Tensor");
  gallery_register(host, registrar, "third_is_bad.three(Tensor self) -> Banana");
  return ONEDIM_OK;
}

GALLERY_PACK("third_is_bad", init)
