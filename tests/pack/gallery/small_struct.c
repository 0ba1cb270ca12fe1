/* An op that is smaller, by its own word, than the first version of the struct. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  onedim_op_t op = gallery_op("small_struct.copy(Tensor self) -> Tensor");
  op.struct_size = 16;
  return host->register_op(registrar, &op);
}

GALLERY_PACK("small_struct", init)
